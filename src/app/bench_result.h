// What one test of `hwtv bench` found.  Filled by bench_measure, printed by bench_report.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/bench_tests.h"
#include "app/measured_limits.h"
#include "hw/work.h"

namespace hwtv::app {

struct BenchResult {
  BenchTest test;
  std::string skipped;          // why it was not measured; empty: it was
  std::vector<double> seconds;  // of each repetition, in the order in which they ran
  int64_t n_tokens = 0;         // of one repetition
  hw::Work work = {};           // of one repetition
  double step_bytes = 0;        // of a decode step: file bytes, and the mean of the cache bytes
  double compute_limit_ops_per_s = 0;  // measured after the repetitions; 0: not asked
  // The middle of what was measured after each repetition, so that share and limit saw one machine.
  double read_limit_bytes_per_s = 0;  // 0: not asked, or there is no memory left to measure it with
  std::string read_level;             // "L3", "L3+DRAM"
  std::optional<double> joules_per_token = {};  // median; nullopt: not observable here
  std::string not_observed;                     // why

  double median_s() const;  // of a repetition; 0: none ran
  double tokens_per_s() const;
  double spread() const;           // of the repetitions: (longest - shortest) / median
  double compute_share() const;    // of its limit; 0: unknown
  double bandwidth_share() const;  // of its limit; 0: unknown
  // Which of the two limits is nearer.
  bool bound_by_compute() const { return compute_share() > bandwidth_share(); }
  double share() const { return bound_by_compute() ? compute_share() : bandwidth_share(); }
};

// Requires: values is not empty.
double median(std::vector<double> values);
double spread(const std::vector<double>& values);  // (most - least) / median

}  // namespace hwtv::app
