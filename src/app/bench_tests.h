// What `hwtv bench` measures: one test for each row of its report, made from the flags, and what
// each asks of a session.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace hwtv::app {

// Lists are "128,512", or "none".  Where any part is chosen, the others are left out.
struct BenchFlags {
  std::optional<std::string> prefill = {}, depth = {}, batch = {};
  int64_t n_decode = 0;  // tokens that one repetition decodes; 0: the default
};

struct BenchTest {
  enum class Kind { prefill, decode, batch };
  Kind kind = Kind::prefill;
  int64_t n_prompt = 1;  // tokens of each sequence before decode begins; at least 1
  int64_t n_decode = 0;  // steps of one repetition; 0 for a prefill
  int64_t n_seqs = 1;    // that decode together

  std::string name() const;        // "prefill 512", "decode 64 at 2048", "batch 16 x 32 at 32"
  int64_t context_tokens() const;  // of one sequence
  int64_t pool_tokens() const;     // of all, in whole kv_blocks
  friend bool operator==(const BenchTest&, const BenchTest&) = default;
};

// Errors: invalid_request, naming the flag, the word and what it may be.
Result<std::vector<BenchTest>> bench_tests(const BenchFlags& flags);

}  // namespace hwtv::app
