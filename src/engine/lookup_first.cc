#include "engine/lookup_first.h"

#include <utility>

namespace hwtv::engine {
namespace {

constexpr Evidence kLongMatch = 2;  // four tokens or more

}  // namespace

LookupFirst::LookupFirst(int64_t capacity_tokens, std::unique_ptr<Proposer> other)
    : lookup_(capacity_tokens), other_(std::move(other)) {}

std::optional<Evidence> LookupFirst::look(std::span<const int32_t> tokens, double budget_s) {
  chosen_ = &lookup_;
  const std::optional<Evidence> match = lookup_.look(tokens, budget_s);
  if (match && *match >= kLongMatch) return match;
  const std::optional<Evidence> other = other_->look(tokens, budget_s);
  if (!other) return match;
  chosen_ = other_.get();
  return other;
}

Result<void> LookupFirst::propose(std::span<const int32_t> tokens, int64_t n_tokens,
                                  std::vector<int32_t>& out) {
  return chosen_->propose(tokens, n_tokens, out);
}

}  // namespace hwtv::engine
