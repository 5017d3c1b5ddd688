#include "engine/prompt_lookup.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace hwtv::engine {
namespace {

constexpr int64_t kPair = 2;           // the shortest match
constexpr int kCandidates = 32;        // places that one search compares
constexpr int64_t kLongestMatch = 64;  // a longer one is no better evidence

// How many tokens before `end` agree with the last ones.
int64_t match_length(std::span<const int32_t> tokens, int64_t end) {
  const int64_t n = static_cast<int64_t>(tokens.size());
  const int64_t longest = std::min(end, kLongestMatch);
  int64_t length = 0;
  while (length < longest && tokens[static_cast<size_t>(end - 1 - length)] ==
                                 tokens[static_cast<size_t>(n - 1 - length)])
    ++length;
  return length;
}

// 2, 3, 4 to 5, 6 to 8, 9 to 16, 17 and more tokens.
Evidence evidence_of(int64_t match_tokens) {
  constexpr int64_t kLeast[kMatchLevels] = {2, 3, 4, 6, 9, 17};
  Evidence level = 0;
  while (level + 1 < kMatchLevels && match_tokens >= kLeast[level + 1]) ++level;
  return level;
}

size_t n_slots(int64_t capacity_tokens) {
  return std::bit_ceil(static_cast<size_t>(2 * std::max<int64_t>(1, capacity_tokens)));
}

}  // namespace

int64_t PromptLookup::predict_bytes(int64_t capacity_tokens) {
  return static_cast<int64_t>(sizeof(int32_t)) *
         (static_cast<int64_t>(n_slots(capacity_tokens)) + capacity_tokens);
}

PromptLookup::PromptLookup(int64_t capacity_tokens)
    : latest_(n_slots(capacity_tokens), -1), previous_(static_cast<size_t>(capacity_tokens), -1) {}

size_t PromptLookup::slot(std::span<const int32_t> tokens, int64_t end) const {
  const uint64_t first = static_cast<uint32_t>(tokens[static_cast<size_t>(end - 2)]);
  const uint64_t second = static_cast<uint32_t>(tokens[static_cast<size_t>(end - 1)]);
  const uint64_t hash = ((first << 32) | second) * 0x9e3779b97f4a7c15ull;
  return static_cast<size_t>(hash >> 32) & (latest_.size() - 1);
}

// Enters the pair before position `end`, where the text has a token by now.
void PromptLookup::index(std::span<const int32_t> tokens, int64_t end) {
  if (end < kPair) return;
  int32_t& latest = latest_[slot(tokens, end)];
  previous_[static_cast<size_t>(end)] = latest;
  latest = static_cast<int32_t>(end);
}

// Moves the last match on by the new tokens; ends it where they differ.
void PromptLookup::follow(std::span<const int32_t> tokens) {
  for (size_t i = static_cast<size_t>(n_seen_); i < tokens.size() && match_.n_tokens > 0; ++i) {
    if (tokens[static_cast<size_t>(match_.end)] == tokens[i])
      match_ = {match_.end + 1, std::min(match_.n_tokens + 1, kLongestMatch)};
    else
      match_ = {};
  }
}

// A longer match than the one that is followed, if the latest places have one.
void PromptLookup::search(std::span<const int32_t> tokens) {
  if (static_cast<int64_t>(tokens.size()) < kPair) return;
  int32_t end = latest_[slot(tokens, static_cast<int64_t>(tokens.size()))];
  for (int i = 0; i < kCandidates && end >= 0 && match_.n_tokens < kLongestMatch; ++i) {
    const int64_t n_tokens = match_length(tokens, end);
    if (n_tokens >= kPair && n_tokens > match_.n_tokens) match_ = {end, n_tokens};
    end = previous_[static_cast<size_t>(end)];
  }
}

std::optional<Evidence> PromptLookup::look(std::span<const int32_t> tokens, double) {
  const int64_t n = static_cast<int64_t>(tokens.size());
  CHECK(n >= n_seen_ && n <= static_cast<int64_t>(previous_.size()));
  follow(tokens);
  // The pair before the end of the text has no token after it yet.
  for (int64_t end = n_seen_; end < n; ++end) index(tokens, end);
  n_seen_ = n;
  search(tokens);
  if (match_.n_tokens < kPair) return std::nullopt;
  return evidence_of(match_.n_tokens);
}

Result<void> PromptLookup::propose(std::span<const int32_t> tokens, int64_t n_tokens,
                                   std::vector<int32_t>& out) {
  const size_t n_known = tokens.size() - static_cast<size_t>(match_.end);
  const size_t first = out.size();
  for (size_t i = 0; i < static_cast<size_t>(n_tokens); ++i)
    out.push_back(i < n_known ? tokens[static_cast<size_t>(match_.end) + i]
                              : out[first + i - n_known]);
  return {};
}

}  // namespace hwtv::engine
