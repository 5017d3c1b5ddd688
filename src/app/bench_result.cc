#include "app/bench_result.h"

#include <algorithm>

namespace hwtv::app {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double spread(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double middle = median(values);
  return middle > 0 ? (*most - *least) / middle : 0;
}

double BenchResult::median_s() const { return seconds.empty() ? 0 : median(seconds); }

double BenchResult::tokens_per_s() const {
  return median_s() > 0 ? static_cast<double>(n_tokens) / median_s() : 0;
}

double BenchResult::spread() const { return seconds.empty() ? 0 : app::spread(seconds); }

double BenchResult::compute_share() const {
  if (compute_limit_ops_per_s <= 0 || median_s() <= 0) return 0;
  return work.n_ops() / median_s() / compute_limit_ops_per_s;
}

double BenchResult::bandwidth_share() const {
  if (read_limit_bytes_per_s <= 0 || median_s() <= 0) return 0;
  return step_bytes * static_cast<double>(test.n_decode) / median_s() / read_limit_bytes_per_s;
}

}  // namespace hwtv::app
