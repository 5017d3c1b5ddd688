#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

namespace hwtv::engine {
namespace {

const std::vector<float> kLogits = {1.0f, 3.0f, 2.0f, 0.0f, -1.0f};

std::vector<double> softmax(const std::vector<float>& logits, double temperature) {
  std::vector<double> p;
  double sum = 0;
  for (float logit : logits) p.push_back(std::exp(logit / temperature)), sum += p.back();
  for (double& value : p) value /= sum;
  return p;
}

// The share of each token over many sequences with different seeds.
std::vector<double> shares(SamplingParams params, const std::vector<float>& logits, int n = 40000) {
  std::vector<double> share(logits.size());
  for (int i = 0; i < n; ++i) {
    params.seed = static_cast<uint64_t>(i);
    Sampler sampler(params, static_cast<int64_t>(logits.size()), {});
    share[static_cast<size_t>(sampler.sample(logits, nullptr))] += 1.0 / n;
  }
  return share;
}

// Five standard deviations of a binomial share: a right sampler fails once in two million.
void expect_shares(const std::vector<double>& share, const std::vector<double>& p, int n = 40000) {
  for (size_t i = 0; i < p.size(); ++i)
    EXPECT_NEAR(share[i], p[i], 5 * std::sqrt(p[i] * (1 - p[i]) / n) + 1e-9) << "token " << i;
}

std::vector<double> renormalized(std::vector<double> p, std::vector<size_t> kept) {
  double sum = 0;
  for (size_t i : kept) sum += p[i];
  std::vector<double> out(p.size());
  for (size_t i : kept) out[i] = p[i] / sum;
  return out;
}

TEST(Sampler, GreedyTakesTheBestAndTheLowestOfEquals) {
  Sampler sampler({}, 5, {});
  EXPECT_EQ(sampler.sample(kLogits, nullptr), 1);
  EXPECT_EQ(sampler.sample(std::vector<float>{1, 2, 2, 2, 0}, nullptr), 1);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(sampler.sample(std::vector<float>{nan, -5, nan, -7, -9}, nullptr), 1);
}

TEST(Sampler, TemperatureFollowsTheSoftmax) {
  for (double temperature : {0.5, 1.0, 2.0})
    expect_shares(shares({.temperature = temperature}, kLogits), softmax(kLogits, temperature));
}

TEST(Sampler, TopKKeepsTheKBest) {
  expect_shares(shares({.temperature = 1, .top_k = 2}, kLogits),
                renormalized(softmax(kLogits, 1), {1, 2}));
}

TEST(Sampler, TopPKeepsTheFewestThatReachP) {
  const auto p = softmax(kLogits, 1);  // 0.636 0.234 0.086 0.032 0.012, best first
  expect_shares(shares({.temperature = 1, .top_p = 0.6}, kLogits), renormalized(p, {1}));
  expect_shares(shares({.temperature = 1, .top_p = 0.7}, kLogits), renormalized(p, {1, 2}));
}

TEST(Sampler, MinPDropsTheUnlikely) {
  const auto p = softmax(kLogits, 1);
  expect_shares(shares({.temperature = 1, .min_p = 0.1}, kLogits), renormalized(p, {0, 1, 2}));
}

TEST(Sampler, TypicalKeepsTheTokensNearestToTheEntropy) {
  const std::vector<float> logits = {std::log(0.6f), std::log(0.3f), std::log(0.1f)};
  // entropy 0.898; surprises 0.511 (0.387 away), 1.204 (0.306), 2.303 (1.404): token 1 comes first.
  expect_shares(shares({.temperature = 1, .typical_p = 0.2}, logits), {0, 1, 0});
  expect_shares(shares({.temperature = 1, .typical_p = 0.85}, logits),
                renormalized({0.6, 0.3, 0.1}, {0, 1}));
}

TEST(Sampler, PenaltiesAndBias) {
  const std::vector<int32_t> prompt = {1};
  Sampler repetition({.repetition_penalty = 2.0}, 5, prompt);
  EXPECT_EQ(repetition.sample(kLogits, nullptr), 2);  // 3.0 / 2 < 2.0
  Sampler presence({.presence_penalty = 1.5}, 5, prompt);
  EXPECT_EQ(presence.sample(kLogits, nullptr), 1);  // the prompt does not count
  EXPECT_EQ(presence.sample(kLogits, nullptr), 2);  // 3.0 - 1.5 < 2.0
  Sampler frequency({.frequency_penalty = 0.6}, 5, {});
  EXPECT_EQ(frequency.sample(kLogits, nullptr), 1);
  EXPECT_EQ(frequency.sample(kLogits, nullptr), 1);  // 3.0 - 0.6 > 2.0
  EXPECT_EQ(frequency.sample(kLogits, nullptr), 2);  // 3.0 - 1.2 < 2.0
  Sampler bias({.logit_bias = {{4, 100.0f}}}, 5, {});
  EXPECT_EQ(bias.sample(kLogits, nullptr), 4);
}

TEST(Sampler, TheSeedAloneDecides) {
  std::vector<int32_t> first, second, other;
  Sampler a({.temperature = 1, .seed = 9}, 5, {}), b({.temperature = 1, .seed = 9}, 5, {}),
      c({.temperature = 1, .seed = 10}, 5, {});
  for (int i = 0; i < 64; ++i) {
    first.push_back(a.sample(kLogits, nullptr));
    second.push_back(b.sample(kLogits, nullptr));
    other.push_back(c.sample(kLogits, nullptr));
  }
  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
}

class OnlyToken final : public TokenMask {
 public:
  explicit OnlyToken(int32_t token) : token_(token) {}
  void apply(std::span<float> logits) override {
    for (size_t i = 0; i < logits.size(); ++i)
      if (static_cast<int32_t>(i) != token_) logits[i] = -std::numeric_limits<float>::infinity();
  }
  void accept(int32_t token) override { accepted = token; }
  int32_t accepted = -1;

 private:
  int32_t token_;
};

TEST(Sampler, AMaskForbids) {
  OnlyToken mask(3);
  Sampler greedy({}, 5, {});
  EXPECT_EQ(greedy.sample(kLogits, &mask), 3);
  EXPECT_EQ(mask.accepted, 3);
  Sampler random({.temperature = 2}, 5, {});
  EXPECT_EQ(random.sample(kLogits, &mask), 3);
}

TEST(Sampler, LogprobsAreTheModelsOwn) {
  Sampler sampler({.temperature = 0.3}, 5, {});
  std::vector<TokenLogprob> top(2);
  const float chosen = sampler.logprobs(kLogits, 2, top);
  const auto p = softmax(kLogits, 1);
  EXPECT_NEAR(chosen, std::log(p[2]), 1e-6);
  EXPECT_EQ(top[0].token, 1);
  EXPECT_NEAR(top[0].logprob, std::log(p[1]), 1e-6);
  EXPECT_EQ(top[1].token, 2);
}

TEST(SamplingParams, RangesAreNamed) {
  const auto checked = check_sampling_params({.top_p = 1.5}, 5);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().what.find("top_p is 1.5"), std::string::npos);
  EXPECT_FALSE(check_sampling_params({.logit_bias = {{5, 1.0f}}}, 5));
  EXPECT_FALSE(check_sampling_params({.temperature = NAN}, 5));
  EXPECT_TRUE(check_sampling_params({}, 5));
}

}  // namespace
}  // namespace hwtv::engine
