// Guesses what one sequence's next tokens will be, so that one step can check several of them.  A
// wrong guess costs time and never changes the text: every token is still sampled from its own row.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"

namespace hwtv::engine {

// What a guess rests on, from 0 (least) to kEvidenceLevels - 1; how often guesses come true is
// learnt for each level.
using Evidence = int;
inline constexpr Evidence kMatchLevels = 6;               // a place in the text like this one
inline constexpr Evidence kDraftEvidence = kMatchLevels;  // a draft model says so
inline constexpr Evidence kEvidenceLevels = kMatchLevels + 1;

class Proposer {
 public:
  virtual ~Proposer() = default;

  // What a guess at the tokens after `tokens` would rest on; nullopt: there is none, or to get
  // ready for it takes more than budget_s.  Requires: `tokens` begins with those of the call
  // before.
  virtual std::optional<Evidence> look(std::span<const int32_t> tokens, double budget_s) = 0;

  // Appends at most n_tokens guesses to `out`.  Requires: look() has just given evidence for
  // `tokens`.  Errors: device_lost, out_of_memory.
  virtual Result<void> propose(std::span<const int32_t> tokens, int64_t n_tokens,
                               std::vector<int32_t>& out) = 0;

  // Whether the guesses of the last look() cost next to nothing, so that they may be made only to
  // learn how they fare.
  virtual bool is_free() const = 0;

  // What one guess takes once all is ready for it; 0: next to nothing.
  virtual double guess_s() const { return 0; }
};

// Makes the proposer of a sequence that will have at most `capacity_tokens`, prompt and answer.
using ProposerFactory = std::function<std::unique_ptr<Proposer>(int64_t capacity_tokens)>;

}  // namespace hwtv::engine
