#include "engine/acceptance.h"

#include <algorithm>
#include <cmath>

namespace hwtv::engine {
namespace {

// Before anything is seen of a sequence.  Ordinary answers repeat two or three tokens by chance;
// who repeats a line goes on with the next one.  Last, a draft model of the same family.
constexpr std::array<double, kEvidenceLevels> kExpected = {0.3, 0.4, 0.5, 0.7, 0.85, 0.93, 0.85};
constexpr double kExpectedGuesses = 2;  // what the expectation counts as
constexpr double kDeviations = 0.5;
constexpr double kEnough = 6;  // guesses of a level that speak for themselves
// How much a guess counts after one more: the latest 50 or so decide.
constexpr double kMemory = 0.98;

}  // namespace

void Acceptance::observe(Evidence evidence, bool came_true) {
  Tally& tally = tallies_[static_cast<size_t>(evidence)];
  tally.n_guesses = kMemory * tally.n_guesses + 1;
  tally.n_true = kMemory * tally.n_true + (came_true ? 1 : 0);
}

void Acceptance::fade(Evidence evidence) {
  Tally& tally = tallies_[static_cast<size_t>(evidence)];
  tally.n_guesses *= kMemory;
  tally.n_true *= kMemory;
}

double Acceptance::cautious_rate(const Tally& tally, Evidence evidence) {
  const double expected = kExpected[static_cast<size_t>(evidence)];
  const double n = tally.n_guesses + kExpectedGuesses;
  const double rate = (tally.n_true + kExpectedGuesses * expected) / n;
  return std::max(0.0, rate - kDeviations * std::sqrt(rate * (1 - rate) / n));
}

// Until a match has shown enough of itself, it is worth no less than shorter ones.
double Acceptance::rate(Evidence evidence) const {
  const Tally& own = tallies_[static_cast<size_t>(evidence)];
  double rate = cautious_rate(own, evidence);
  if (own.n_guesses >= kEnough || evidence == kDraftEvidence) return rate;
  for (Evidence level = 0; level < evidence; ++level)
    if (const Tally& below = tallies_[static_cast<size_t>(level)]; below.n_guesses >= kEnough)
      rate = std::max(rate, cautious_rate(below, level));
  return rate;
}

}  // namespace hwtv::engine
