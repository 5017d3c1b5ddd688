// What a model's steps need at least, and what this machine can do at best for them: measured now,
// by the session's own threads.  Account and bench divide the one by the other.
#pragma once
#include <cstdint>
#include <string>

#include "app/session.h"
#include "hw/work.h"

namespace hwtv::app {

// File bytes that one step of one token reads, with all adapters: each weight whole, but of an
// embedding one row only.
double step_weight_bytes(const ops::Program& program);

// Cache bytes of one token of one sequence, keys and values of all layers.
double kv_token_bytes(const ops::Program& program, const engine::EngineConfig& config);
double kv_token_bytes(const Session& session);

// Tokens of the cache that a decoded token reads, mean over n_decoded of them after n_prompt: the
// one at position p reads p + 1.
double mean_context_tokens(int64_t n_prompt, int64_t n_decoded);

// Cache bytes that a decode step of one sequence moves, mean over n_decoded of them after n_prompt:
// it reads keys and values, and reads and writes states.
double cache_step_bytes(const Session& session, int64_t n_prompt, int64_t n_decoded);

// The kernel that the most weight bytes go through.
std::string main_kernel(const Session& session);

// "int8" or "f32": which peak this work is held against.
const char* compute_kind(const hw::Work& work);

// Operations per second, of the kind that compute_kind names.
double measure_compute_limit(Session& session, std::string_view kind);

struct BandwidthLimit {
  double bytes_per_s = 0;  // of the best pass; 0: there is no memory left to measure it with
  double median_bytes_per_s = 0;
  std::string level;  // where those bytes come from: "L3", "L3+DRAM"
};
// Of a cyclic read of so many bytes.
BandwidthLimit measure_bandwidth_limit(Session& session, double n_bytes);

}  // namespace hwtv::app
