#include "observe/histogram.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace hwtv::observe {
namespace {

constexpr int kPerDoubling = 64;

}  // namespace

Histogram::Histogram(double lowest, double highest) : lowest_(lowest) {
  CHECK(lowest > 0 && highest > lowest && highest / lowest <= std::ldexp(1.0, 60));
  const int n_doublings = std::ilogb(highest / lowest) + 1;
  counts_.resize(static_cast<size_t>(n_doublings * kPerDoubling));
}

// Within one doubling the buckets are equally wide: value / lowest = 2^e (1 + i / 64).
size_t Histogram::bucket_of(double value) const {
  const double scaled = value / lowest_;
  if (!(scaled > 1)) return 0;
  if (std::isinf(scaled)) return counts_.size() - 1;
  const int exponent = std::ilogb(scaled);
  const double within = std::ldexp(scaled, -exponent) - 1;
  const size_t bucket =
      static_cast<size_t>(exponent) * kPerDoubling + static_cast<size_t>(within * kPerDoubling);
  return std::min(bucket, counts_.size() - 1);
}

double Histogram::middle_of(size_t bucket) const {
  const int exponent = static_cast<int>(bucket / kPerDoubling);
  const double within = (static_cast<double>(bucket % kPerDoubling) + 0.5) / kPerDoubling;
  return lowest_ * std::ldexp(1 + within, exponent);
}

void Histogram::add(double value) {
  CHECK(!std::isnan(value));
  counts_[bucket_of(value)] += 1;
  min_ = n_ == 0 ? value : std::min(min_, value);
  max_ = n_ == 0 ? value : std::max(max_, value);
  n_ += 1;
  sum_ += value;
}

void Histogram::merge(const Histogram& other) {
  CHECK(lowest_ == other.lowest_ && counts_.size() == other.counts_.size());
  if (other.n_ == 0) return;
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  min_ = n_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = n_ == 0 ? other.max_ : std::max(max_, other.max_);
  n_ += other.n_;
  sum_ += other.sum_;
}

double Histogram::quantile(double q) const {
  CHECK(q >= 0 && q <= 1);
  if (n_ == 0) return 0;
  const auto rank =
      std::max<int64_t>(1, static_cast<int64_t>(std::ceil(q * static_cast<double>(n_))));
  int64_t below = 0;
  size_t bucket = 0;
  while (below + counts_[bucket] < rank) below += counts_[bucket++];
  return std::clamp(middle_of(bucket), min_, max_);
}

}  // namespace hwtv::observe
