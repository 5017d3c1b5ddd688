// Guesses that the text goes on as it did the last time: finds the longest end of the tokens that
// occurred before and proposes what followed it there (prompt lookup decoding [Saxena 2023]).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/proposer.h"

namespace hwtv::engine {

class PromptLookup final : public Proposer {
 public:
  // Allocates for all of them.
  explicit PromptLookup(int64_t capacity_tokens);
  static int64_t predict_bytes(int64_t capacity_tokens);

  // Indexes the new tokens; microseconds for each, whatever the length.
  std::optional<Evidence> look(std::span<const int32_t> tokens, double budget_s) override;
  // Always n_tokens of them: a guess that reaches the end of the text goes on with itself, so that
  // a repetition is continued.
  Result<void> propose(std::span<const int32_t> tokens, int64_t n_tokens,
                       std::vector<int32_t>& out) override;
  bool is_free() const override { return true; }

 private:
  // A place where the last `n_tokens` tokens occurred before.
  struct Match {
    int64_t end = 0;  // the position of the token that followed
    int64_t n_tokens = 0;
  };

  size_t slot(std::span<const int32_t> tokens, int64_t end) const;
  void index(std::span<const int32_t> tokens, int64_t end);
  void follow(std::span<const int32_t> tokens);
  void search(std::span<const int32_t> tokens);

  // Chains of the positions after equal pairs of tokens, the latest first; -1 ends a chain.
  std::vector<int32_t> latest_;    // (a power of two) by the pair's hash
  std::vector<int32_t> previous_;  // (capacity_tokens)
  int64_t n_seen_ = 0;             // tokens of the last look()
  Match match_;                    // of the last look()
};

}  // namespace hwtv::engine
