// One step of an engine as it happened, and the spans of its ops when profiling is on.  Filled by
// engine and backends; read by the account, the exporters and the dashboards.
#pragma once
#include <cstdint>

#include "hw/work.h"

namespace hwtv::observe {

struct StepRecord {
  int64_t index = 0;   // 0 for the engine's first step
  double start_s = 0;  // of the engine's clock
  double seconds = 0;
  int n_prefill_tokens = 0;
  int n_decode_tokens = 0;    // without guesses that failed
  int n_proposed_tokens = 0;  // guessed ones that were computed
  int n_accepted_tokens = 0;  // of them, those that came true; among n_decode_tokens
  int n_seqs = 0;
  hw::Work work = {};

  int n_tokens() const { return n_prefill_tokens + n_decode_tokens; }
};

// The time of one op of one step.  The names outlive the log: string literals, or strings owned by
// the program that was run.
struct OpSpan {
  const char* op = "";      // "mat_mul ffn_down.3"
  const char* kernel = "";  // "q4_1_x16.avx512vnni"
  double start_s = 0;
  double seconds = 0;
  hw::Work work = {};
};

}  // namespace hwtv::observe
