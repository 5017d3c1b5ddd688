#include "engine/prompt_lookup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace hwtv::engine {
namespace {

std::vector<int32_t> proposed(PromptLookup& lookup, std::span<const int32_t> tokens, int64_t n) {
  std::vector<int32_t> out;
  EXPECT_TRUE(lookup.propose(tokens, n, out));
  return out;
}

// The longest end of `tokens` that occurred before, by comparing every place.
int64_t longest_match(std::span<const int32_t> tokens) {
  int64_t longest = 0;
  const int64_t n = static_cast<int64_t>(tokens.size());
  for (int64_t end = 1; end < n; ++end) {
    int64_t length = 0;
    while (length < end && tokens[static_cast<size_t>(end - 1 - length)] ==
                               tokens[static_cast<size_t>(n - 1 - length)])
      ++length;
    longest = std::max(longest, length);
  }
  return longest;
}

// The least match of each evidence level, as the header of PromptLookup::look's levels has them.
Evidence level(int64_t match_tokens) {
  return match_tokens >= 17  ? 5
         : match_tokens >= 9 ? 4
         : match_tokens >= 6 ? 3
         : match_tokens >= 4 ? 2
         : match_tokens >= 3 ? 1
                             : 0;
}

TEST(PromptLookup, ProposesWhatFollowedTheLongestMatch) {
  //                                    v this place agrees in 3 tokens, the later one in 2
  const std::vector<int32_t> tokens = {1, 2, 3, 40, 41, 9, 2, 3, 50, 51, 1, 2, 3};
  PromptLookup lookup(100);
  EXPECT_EQ(lookup.look(tokens, 0), level(3));
  EXPECT_EQ(proposed(lookup, tokens, 3), (std::vector<int32_t>{40, 41, 9}));
}

TEST(PromptLookup, NothingBeforeAPairRepeats) {
  PromptLookup lookup(100);
  EXPECT_FALSE(lookup.look(std::vector<int32_t>{7}, 0));
  EXPECT_FALSE(lookup.look(std::vector<int32_t>{7, 8, 9, 7}, 0));
  EXPECT_TRUE(lookup.look(std::vector<int32_t>{7, 8, 9, 7, 8}, 0));
}

TEST(PromptLookup, ARepetitionGoesOnBeyondTheEndOfTheText) {
  const std::vector<int32_t> tokens = {5, 1, 2, 3, 1, 2, 3};
  PromptLookup lookup(100);
  ASSERT_TRUE(lookup.look(tokens, 0));
  EXPECT_EQ(proposed(lookup, tokens, 7), (std::vector<int32_t>{1, 2, 3, 1, 2, 3, 1}));
}

TEST(PromptLookup, FollowsACopyThatAFewRecentPlacesWouldHide) {
  std::vector<int32_t> tokens;
  for (int i = 0; i < 30; ++i) tokens.insert(tokens.end(), {1, 2, 100 + i});
  const std::vector<int32_t> source = tokens;
  for (int i = 0; i < 40; ++i) tokens.insert(tokens.end(), {1, 2, 200 + i});
  PromptLookup lookup(1000);
  for (size_t i = 0; i + 1 < source.size(); ++i) {
    tokens.push_back(source[i]);
    const auto evidence = lookup.look(tokens, 0);
    if (i < 3) continue;
    ASSERT_TRUE(evidence);
    EXPECT_EQ(proposed(lookup, tokens, 1)[0], source[i + 1]) << i;
  }
}

// Random texts with copied pieces: what is proposed followed an equal piece, and where few places
// compete the evidence is that of the longest match.
TEST(PromptLookup, AgreesWithComparingEveryPlace) {
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    PromptLookup lookup(400);
    std::vector<int32_t> tokens;
    int n_matches = 0;
    while (tokens.size() < 350) {
      const bool copies = tokens.size() > 60 && random() % 2 == 0;
      size_t from = copies ? random() % (tokens.size() - 30) : 0;
      for (uint32_t i = 0, n = 1 + random() % 25; i < n; ++i)
        tokens.push_back(copies ? tokens[from++] : static_cast<int32_t>(random() % 200));
      const auto evidence = lookup.look(tokens, 0);
      const int64_t longest = longest_match(tokens);
      ASSERT_EQ(evidence.has_value(), longest >= 2);
      if (!evidence) continue;
      ++n_matches;
      ASSERT_EQ(*evidence, level(longest));
      const std::vector<int32_t> guess = proposed(lookup, tokens, 1);
      const std::vector<int32_t> piece = {tokens[tokens.size() - 2], tokens.back(), guess[0]};
      ASSERT_NE(std::search(tokens.begin(), tokens.end(), piece.begin(), piece.end()),
                tokens.end());
    }
    EXPECT_GT(n_matches, 5);
  }
}

}  // namespace
}  // namespace hwtv::engine
