#include "engine/step_costs.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace hwtv::engine {
namespace {

// What else the machine does makes steps longer, never shorter: a shorter step than expected says
// more.
constexpr double kWeightOfShorter = 0.5, kWeightOfLonger = 0.1;
constexpr double kOutlier = 2;  // a step that was held up counts as so many expected ones
// A step of so many rows more is taken to cost twice, unless what is known is cheaper: kernels are
// made for some numbers of rows, so that dear ones say little about more.
constexpr double kRowsToDouble = 10;

}  // namespace

StepCosts::StepCosts(int64_t n_rows_max) : seconds_(static_cast<size_t>(n_rows_max) + 1) {
  CHECK(n_rows_max >= 1);
}

void StepCosts::observe(int64_t n_rows, double seconds) {
  if (n_rows < 1 || n_rows >= static_cast<int64_t>(seconds_.size())) return;
  double& cost = seconds_[static_cast<size_t>(n_rows)];
  if (cost == 0)
    cost = seconds;
  else if (seconds < cost)
    cost += kWeightOfShorter * (seconds - cost);
  else
    cost += kWeightOfLonger * (std::min(seconds, kOutlier * cost) - cost);
}

void StepCosts::observe_prefill(int64_t n_tokens, double seconds) {
  if (n_tokens >= static_cast<int64_t>(seconds_.size()))
    prefill_ = {static_cast<double>(n_tokens), seconds};
}

// The nearest known number of rows up to n_rows; the zero point: none is.
StepCosts::Point StepCosts::below(int64_t n_rows) const {
  for (int64_t n = n_rows; n >= 1; --n)
    if (const double known = seconds_[static_cast<size_t>(n)]; known > 0)
      return {static_cast<double>(n), known};
  return {};
}

int64_t StepCosts::n_rows_known() const {
  const int64_t n_most = static_cast<int64_t>(seconds_.size()) - 1;
  return prefill_.seconds > 0 ? n_most : static_cast<int64_t>(below(n_most).n_rows);
}

StepCosts::Point StepCosts::above(int64_t n_rows) const {
  for (size_t n = static_cast<size_t>(n_rows) + 1; n < seconds_.size(); ++n)
    if (seconds_[n] > 0) return {static_cast<double>(n), seconds_[n]};
  return prefill_;
}

// Seconds of one row more, from the fewest rows that are known to `point`; infinite: no others are.
double StepCosts::rise_below(const Point& point) const {
  const Point fewest = above(0);
  if (fewest.n_rows >= point.n_rows) return std::numeric_limits<double>::infinity();
  return std::max(0.0, (point.seconds - fewest.seconds) / (point.n_rows - fewest.n_rows));
}

double StepCosts::seconds(int64_t n_rows) const {
  CHECK(n_rows >= 1 && n_rows < static_cast<int64_t>(seconds_.size()));
  const Point low = below(n_rows), high = above(n_rows);
  if (low.seconds == 0) return high.seconds;
  const double n_more = static_cast<double>(n_rows) - low.n_rows;
  if (high.seconds == 0)
    return low.seconds + n_more * std::min(low.seconds / kRowsToDouble, rise_below(low));
  const double rise = std::max(0.0, high.seconds - low.seconds);
  return low.seconds + rise * n_more / (high.n_rows - low.n_rows);
}

}  // namespace hwtv::engine
