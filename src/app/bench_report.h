// What `hwtv bench` prints and the journal keeps.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/bench_result.h"

namespace hwtv::app {

struct BenchReport {
  std::string version, fingerprint, cpu;  // this program, the machine, its processor
  std::string model, kernel, kv_type;     // the file's name; main_kernel
  int64_t model_bytes = 0;
  int64_t n_threads = 0;
  int64_t chunk_tokens = 0;    // of a prefill step
  std::vector<double> load_s;  // of each load
  std::vector<BenchResult> results;
};

std::string bench_markdown(const BenchReport& report);
std::string bench_csv(const BenchReport& report);
// One object; "prefill" and "decode" are laid out as in the account of a run, so that
// `hwtv history` shows them.
std::string bench_json(const BenchReport& report);

}  // namespace hwtv::app
