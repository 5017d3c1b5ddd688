// Times one op of a backend as a step runs it, over weights or a cache that do not stay in a core's
// own caches.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "hw/work.h"
#include "ops/backend.h"
#include "ops/program.h"

namespace hwtv::bench {

// A Program in which one op is repeated, each time on other weights or another layer's cache.
struct OpBench {
  std::string name;  // "smollm2 ffn_up Q4_1 x 1"
  ops::Program program;
  ops::Limits limits;
  std::vector<std::vector<std::byte>> weights;  // by WeightId
  std::string op;                               // the ops timed: those with this name
  int64_t n_tokens = 1;
  int64_t first_position = 0;  // tokens already in the cache
};

struct Measured {
  std::string kernel;
  double median_s = 0;  // of one op
  double spread = 0;    // (90th - 10th percentile) / median
  hw::Work work;        // of one op
  double working_set_bytes = 0;  // of all repeated ops
};

// n_out x n_in weights, repeated until about `working_set_bytes` are read.
OpBench mat_mul_bench(const std::string& name, DType dtype, int64_t n_out, int64_t n_in,
                      int64_t n_tokens, int64_t working_set_bytes);

// n_tokens more after `first_position` tokens.
OpBench attention_bench(const std::string& name, DType kv_dtype, int64_t n_heads, int64_t n_kv_heads,
                        int64_t head_dim, int64_t n_tokens, int64_t first_position,
                        int64_t n_layers);

// Errors: those of import() and prepare().
Result<Measured> measure(const OpBench& bench, ops::Backend& backend, int n_steps);

}  // namespace hwtv::bench
