#include "engine/speculation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/acceptance.h"
#include "engine/step_costs.h"

namespace hwtv::engine {
namespace {

constexpr int64_t kMost = 15;

TEST(StepCosts, LearnsAndInterpolates) {
  StepCosts costs(16);
  EXPECT_EQ(costs.seconds(4), 0);
  costs.observe(1, 2);
  EXPECT_TRUE(costs.knows(1));
  EXPECT_FALSE(costs.knows(2));
  EXPECT_DOUBLE_EQ(costs.seconds(11), 4);  // a guess: ten rows more cost as much again
  costs.observe_prefill(21, 12);
  EXPECT_DOUBLE_EQ(costs.seconds(11), 7);
  costs.observe(5, 6);
  EXPECT_DOUBLE_EQ(costs.seconds(3), 4);
  EXPECT_DOUBLE_EQ(costs.seconds(13), 9);
  costs.observe(1, 1000);  // a step that was held up counts little
  EXPECT_DOUBLE_EQ(costs.seconds(1), 2.2);
  costs.observe(1, 1.2);  // one that was faster counts more
  EXPECT_DOUBLE_EQ(costs.seconds(1), 1.7);
}

TEST(Acceptance, IsLearntForEachLevel) {
  Acceptance acceptance;
  const double before = acceptance.rate(1);
  for (int i = 0; i < 50; ++i) acceptance.observe(0, i % 10 == 0), acceptance.observe(5, true);
  EXPECT_NEAR(acceptance.rate(0), 0.08, 0.05);
  EXPECT_GT(acceptance.rate(5), 0.97);
  EXPECT_EQ(acceptance.rate(1), before);
  for (int i = 0; i < 40; ++i) acceptance.observe(5, false);
  EXPECT_LT(acceptance.rate(5), 0.5);
}

TEST(Acceptance, WhatFailedIsTriedAgainAfterAWhile) {
  Acceptance acceptance;
  const double before = acceptance.rate(kDraftEvidence);
  for (int i = 0; i < 10; ++i) acceptance.observe(kDraftEvidence, false);
  EXPECT_LT(acceptance.rate(kDraftEvidence), 0.2);
  for (int i = 0; i < 20; ++i) acceptance.fade(kDraftEvidence);
  EXPECT_LT(acceptance.rate(kDraftEvidence), 0.3);
  for (int i = 0; i < 300; ++i) acceptance.fade(kDraftEvidence);
  EXPECT_NEAR(acceptance.rate(kDraftEvidence), before, 0.05);
}

// What a match has shown says nothing about a draft model.
TEST(Acceptance, ADraftSpeaksForItself) {
  Acceptance acceptance;
  for (int i = 0; i < 50; ++i) acceptance.observe(0, true);
  acceptance.observe(kDraftEvidence, false);
  EXPECT_LT(acceptance.rate(kDraftEvidence), 0.6);
}

// An answer whose guesses come true with `rate`, on a machine whose step of n rows takes
// seconds(n).
struct Simulation {
  double rate = 0;
  double seconds_per_row = 0;  // beside the first row's, which is 1
  int n_tokens = 400;
  double guess_s = 0;

  // How much faster than without speculation.
  double speedup(Speculation& speculation, uint32_t seed = 1) const {
    std::mt19937 random(seed);
    std::bernoulli_distribution comes_true(rate);
    Acceptance acceptance;
    double seconds = 0;
    int done = 0;
    while (done < n_tokens) {
      speculation.begin(1);
      const int64_t n = speculation.n_proposed(acceptance.rate(2), guess_s, n_tokens - done - 1);
      EXPECT_LE(n, std::min<int64_t>(kMost, std::max(0, n_tokens - done - 1)));
      int64_t n_accepted = 0;
      while (true) {
        const bool hit = comes_true(random);
        acceptance.observe(2, hit);
        if (!hit || n_accepted == n) break;
        ++n_accepted;
      }
      const double step_s = 1 + seconds_per_row * static_cast<double>(n);
      speculation.spend(static_cast<double>(n) * guess_s);
      speculation.observe_step(1 + n, n_accepted, step_s);
      seconds += step_s + static_cast<double>(n) * guess_s;
      done += static_cast<int>(1 + n_accepted);
    }
    return static_cast<double>(done) / seconds;
  }
};

TEST(Speculation, NeverCostsMuchWhateverTheMachineAndTheText) {
  for (const double rate : {0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0})
    for (const double seconds_per_row : {0.01, 0.1, 0.3, 0.6, 1.0, 2.0})
      for (const int n_tokens : {100, 400, 2000})
        for (uint32_t seed = 0; seed < 5; ++seed) {
          Speculation speculation(SpeculationMode::automatic, kMost, 16);
          const Simulation text{rate, seconds_per_row, n_tokens};
          EXPECT_GT(text.speedup(speculation, seed), n_tokens == 100 ? 0.92 : 0.97)
              << rate << " " << seconds_per_row << " " << n_tokens;
        }
}

TEST(Speculation, GainsWhatThereIsToGain) {
  // The best number of guesses, known beforehand, would give these.
  const auto best = [](double rate, double seconds_per_row) {
    double most = 1;
    for (int n = 1; n <= kMost; ++n) {
      const double tokens = (1 - std::pow(rate, n + 1)) / (1 - rate);
      most = std::max(most, tokens / (1 + seconds_per_row * n));
    }
    return most;
  };
  for (const double rate : {0.7, 0.9, 0.97})
    for (const double seconds_per_row : {0.02, 0.1, 0.35}) {
      Speculation speculation(SpeculationMode::automatic, kMost, 16);
      const double speedup = Simulation{rate, seconds_per_row, 4000}.speedup(speculation);
      EXPECT_GT(speedup, 0.85 * best(rate, seconds_per_row)) << rate << " " << seconds_per_row;
    }
}

TEST(Speculation, LossesEndWhateverTheRateSays) {
  Speculation speculation(SpeculationMode::automatic, kMost, 16);
  double seconds = 0;
  for (int i = 0; i < 400; ++i) {
    speculation.begin(1);
    const int64_t n = speculation.n_proposed(0.95, 0, 1000);
    const double step_s = 1 + 0.3 * static_cast<double>(n);
    speculation.observe_step(1 + n, 0, step_s);
    seconds += step_s;
  }
  EXPECT_LT(seconds, 400 * 1.05);
}

TEST(Speculation, GuessesThatCostTimeAreCounted) {
  Speculation cheap(SpeculationMode::automatic, kMost, 16);
  EXPECT_GT((Simulation{0.8, 0.05, 1000, 0.05}.speedup(cheap)), 1.5);
  Speculation dear(SpeculationMode::automatic, kMost, 16);
  EXPECT_GT((Simulation{0.8, 0.05, 1000, 2.0}.speedup(dear)), 0.97);
  dear.begin(1);
  EXPECT_EQ(dear.n_proposed(0.8, 2.0, 10), 0);
  EXPECT_GT(dear.n_proposed(0.8, 0.05, 10), 0);
}

TEST(Speculation, RoomOfTheStepIsShared) {
  Speculation speculation(SpeculationMode::always, kMost, 20);
  speculation.begin(4);
  EXPECT_EQ(speculation.n_proposed(0.5, 0, 10), 10);
  EXPECT_EQ(speculation.n_proposed(0.5, 0, 10), 5);  // of all sequences together
  EXPECT_EQ(speculation.n_proposed(0.5, 0, 10), 0);
  speculation.begin(4);
  EXPECT_EQ(speculation.n_proposed(0.5, 0, 100), kMost);
  EXPECT_EQ(speculation.n_proposed(0.5, 0, 0), 0);
}

TEST(Speculation, OffIsOff) {
  Speculation speculation(SpeculationMode::off, kMost, 16);
  EXPECT_FALSE(speculation.is_on());
  speculation.begin(1);
  EXPECT_EQ(speculation.n_proposed(1, 0, 10), 0);
  EXPECT_FALSE(Speculation(SpeculationMode::always, 0, 16).is_on());
}

}  // namespace
}  // namespace hwtv::engine
