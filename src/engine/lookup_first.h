// Guesses by prompt lookup where a long piece of the text comes again, and else asks another
// proposer; a short piece is taken where the other one has nothing.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/prompt_lookup.h"
#include "engine/proposer.h"

namespace hwtv::engine {

class LookupFirst final : public Proposer {
 public:
  // Requires: `other` is not null.
  LookupFirst(int64_t capacity_tokens, std::unique_ptr<Proposer> other);

  std::optional<Evidence> look(std::span<const int32_t> tokens, double budget_s) override;
  Result<void> propose(std::span<const int32_t> tokens, int64_t n_tokens,
                       std::vector<int32_t>& out) override;
  bool is_free() const override { return chosen_->is_free(); }
  double guess_s() const override { return chosen_->guess_s(); }

 private:
  PromptLookup lookup_;
  const std::unique_ptr<Proposer> other_;
  Proposer* chosen_ = &lookup_;  // by the last look()
};

}  // namespace hwtv::engine
