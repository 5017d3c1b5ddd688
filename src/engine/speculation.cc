#include "engine/speculation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hwtv::engine {
namespace {

constexpr double kMargin = 1.05;   // a gain below it may be an error of the estimate
constexpr double kStake = 0.02;    // of all decode time may be lost on guesses that fail,
constexpr double kFirstSteps = 2;  // beside so many steps in the beginning;
constexpr double kMostSteps = 20;  // what was gained before is not put at stake beyond that

// Tokens that come of n guesses when each is right with `rate` as long as the ones before are.
double expected_tokens(double rate, int64_t n) {
  if (rate >= 1) return static_cast<double>(n);
  return rate * (1 - std::pow(rate, static_cast<double>(n))) / (1 - rate);
}

}  // namespace

Speculation::Speculation(SpeculationMode mode, int64_t n_proposed_max, int64_t n_rows_max)
    : mode_(n_proposed_max > 0 ? mode : SpeculationMode::off),
      n_proposed_max_(n_proposed_max),
      n_rows_max_(n_rows_max),
      costs_(n_rows_max) {}

void Speculation::begin(int64_t n_decodes) {
  n_decodes_ = n_rows_ = n_decodes;
  n_expected_ = static_cast<double>(n_decodes);
  guesses_s_ = 0;
}

double Speculation::tokens_per_s(int64_t n_more, double rate, double guess_s) const {
  const double seconds =
      costs_.seconds(n_rows_ + n_more) + guesses_s_ + guess_s * static_cast<double>(n_more);
  return seconds > 0 ? (n_expected_ + expected_tokens(rate, n_more)) / seconds : 0;
}

// The number of guesses at which tokens come fastest.
int64_t Speculation::fastest(double rate, double guess_s, int64_t n_most) const {
  // Twice as many rows as were ever tried are a step into the unknown that is small enough.
  n_most = std::min(n_most, 2 * costs_.n_rows_known() - n_rows_);
  int64_t n_best = 0;
  double best = kMargin * tokens_per_s(0, rate, guess_s);
  // Few numbers of rows, so that the cost of each is soon known: 2, 4, 8, ... of one sequence.
  for (int64_t n = 1, n_tried = 0; n_tried < n_most; n = 2 * n + 1) {
    n_tried = std::min(n, n_most);
    if (const double speed = tokens_per_s(n_tried, rate, guess_s); speed > best)
      best = speed, n_best = n_tried;
  }
  return n_best;
}

double Speculation::budget_s() const {
  if (mode_ == SpeculationMode::always) return std::numeric_limits<double>::infinity();
  return costs_.knows(n_decodes_) ? std::max(0.0, credit_s_) : 0;
}

int64_t Speculation::n_proposed(double rate, double guess_s, int64_t n_room) {
  const int64_t n_left = n_proposed_max_ - (n_rows_ - n_decodes_);
  const int64_t n_most = std::min({n_room, n_left, n_rows_max_ - n_rows_});
  if (n_most <= 0 || mode_ == SpeculationMode::off) return 0;
  int64_t n_best = 0;
  if (mode_ == SpeculationMode::always)
    n_best = n_most;
  else if (costs_.knows(n_decodes_) && credit_s_ >= 0)
    n_best = fastest(rate, guess_s, n_most);
  n_rows_ += n_best;
  n_expected_ += expected_tokens(rate, n_best);
  guesses_s_ += guess_s * static_cast<double>(n_best);
  return n_best;
}

void Speculation::observe_step(int64_t n_rows, int64_t n_accepted, double seconds) {
  costs_.observe(n_rows, seconds);
  const double plain_s = costs_.seconds(n_decodes_);
  if (n_steps_++ == 0) credit_s_ = kFirstSteps * plain_s;
  credit_s_ += kStake * seconds;
  if (n_rows > n_decodes_) {
    const double gained = static_cast<double>(n_accepted) / static_cast<double>(n_decodes_);
    credit_s_ += (1 + gained) * plain_s - seconds;
  }
  credit_s_ = std::min(credit_s_, kMostSteps * plain_s);
}

}  // namespace hwtv::engine
