// A distribution of positive quantities (seconds, bytes) in fixed memory: log-linear buckets, 64
// for each doubling, so that a quantile is within 0.8 % of a value that was recorded.  Histograms
// add up.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hwtv::observe {

class Histogram {
 public:
  // Values outside [lowest, highest] are counted in the nearest end bucket; min and max stay exact.
  // Requires: 0 < lowest < highest, and highest / lowest <= 2^60.
  Histogram(double lowest, double highest);
  // From a microsecond to about three hours.
  static Histogram of_seconds() { return Histogram(1e-6, 1e4); }

  void add(double value);              // O(1), allocates nothing.  Requires: not a NaN.
  void merge(const Histogram& other);  // Requires: made with the same bounds.

  int64_t n() const { return n_; }
  double sum() const { return sum_; }
  double mean() const { return n_ > 0 ? sum_ / static_cast<double>(n_) : 0; }
  double min() const { return min_; }  // 0 when empty
  double max() const { return max_; }
  // The value below which a share `q` of all values lies (nearest rank): quantile(0.99).
  // 0 when empty.  Requires: 0 <= q <= 1.
  double quantile(double q) const;

 private:
  size_t bucket_of(double value) const;
  double middle_of(size_t bucket) const;

  double lowest_;
  std::vector<int64_t> counts_;
  int64_t n_ = 0;
  double sum_ = 0, min_ = 0, max_ = 0;
};

}  // namespace hwtv::observe
