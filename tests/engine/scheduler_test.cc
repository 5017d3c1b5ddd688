#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include <random>

namespace hwtv::engine {
namespace {

TEST(Scheduler, DecodesGoFirstAndPrefillsShareTheRest) {
  const Scheduler scheduler({.n_tokens_max = 16, .n_seqs_max = 4, .n_outputs_max = 4});
  const Demand demands[] = {{0, 100, 1}, {50, 1, 1}, {0, 5, 1}};
  BatchPlan plan;
  scheduler.plan(demands, plan);
  ASSERT_EQ(plan.slices.size(), 2u);
  EXPECT_EQ(plan.slices[0].sequence, 1);
  EXPECT_EQ(plan.slices[0].n_outputs, 1);
  EXPECT_EQ(plan.slices[1].sequence, 0);
  EXPECT_EQ(plan.slices[1].n_tokens, 15);
  EXPECT_EQ(plan.slices[1].n_outputs, 0);
}

TEST(Scheduler, RowsOfTheLastTokensOnly) {
  const Scheduler scheduler({.n_tokens_max = 64, .n_seqs_max = 4, .n_outputs_max = 6});
  const Demand demands[] = {{0, 40, 10}};
  BatchPlan plan;
  scheduler.plan(demands, plan);
  ASSERT_EQ(plan.slices.size(), 1u);
  EXPECT_EQ(plan.slices[0].n_tokens, 36);
  EXPECT_EQ(plan.slices[0].n_outputs, 6);
}

TEST(Scheduler, AllRowsAreBoundByTheOutputRoom) {
  const Scheduler scheduler({.n_tokens_max = 16, .n_seqs_max = 4, .n_outputs_max = 6});
  const Demand demands[] = {{0, 100, 100}};
  BatchPlan plan;
  scheduler.plan(demands, plan);
  ASSERT_EQ(plan.slices.size(), 1u);
  EXPECT_EQ(plan.slices[0].n_tokens, 6);
  EXPECT_EQ(plan.slices[0].n_outputs, 6);
}

TEST(Scheduler, GuessesTakeTheRoomThatNobodyElseNeedsInTurn) {
  const Scheduler scheduler({.n_tokens_max = 16, .n_seqs_max = 4, .n_outputs_max = 9});
  const Demand demands[] = {{.n_cached = 9, .n_to_compute = 1, .n_proposed = 8},
                            {.n_to_compute = 5},
                            {.n_cached = 9, .n_to_compute = 1, .n_proposed = 2},
                            {.n_cached = 9, .n_to_compute = 1}};
  BatchPlan plan;
  scheduler.plan(demands, plan);
  ASSERT_EQ(plan.slices.size(), 4u);
  const int64_t n_tokens[] = {4, 3, 1, 5}, n_outputs[] = {4, 3, 1, 1};
  const int32_t sequences[] = {0, 2, 3, 1};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(plan.slices[i].sequence, sequences[i]);
    EXPECT_EQ(plan.slices[i].n_tokens, n_tokens[i]);
    EXPECT_EQ(plan.slices[i].n_outputs, n_outputs[i]);
  }
  EXPECT_EQ(plan.n_tokens, 13);
  EXPECT_EQ(plan.n_outputs, 9);
}

TEST(Scheduler, GuessesWaitWhileAPromptFillsTheStep) {
  const Scheduler scheduler({.n_tokens_max = 16, .n_seqs_max = 4, .n_outputs_max = 9});
  const Demand demands[] = {{.n_cached = 9, .n_to_compute = 1, .n_proposed = 8},
                            {.n_to_compute = 50}};
  BatchPlan plan;
  scheduler.plan(demands, plan);
  ASSERT_EQ(plan.slices.size(), 2u);
  EXPECT_EQ(plan.slices[0].n_tokens, 1);
  EXPECT_EQ(plan.slices[1].n_tokens, 15);
}

// Thousands of random mixes: limits hold after every plan, and whoever has work gets it in the end.
TEST(Scheduler, RandomMixesKeepTheLimitsAndStarveNobody) {
  std::mt19937 random(11);
  BatchPlan plan;
  for (int round = 0; round < 2000; ++round) {
    const StepLimits limits{1 + static_cast<int64_t>(random() % 64),
                            1 + static_cast<int64_t>(random() % 8),
                            1 + static_cast<int64_t>(random() % 8)};
    const Scheduler scheduler(limits);
    std::vector<Demand> demands(1 + random() % static_cast<uint32_t>(limits.n_seqs_max));
    for (Demand& demand : demands) {
      demand.n_to_compute = 1 + static_cast<int64_t>(random() % 200);
      demand.n_proposed = static_cast<int64_t>(random() % 8);
      if (random() % 4 == 0)
        demand.n_rows = 1 + static_cast<int64_t>(random()) % demand.n_to_compute;
    }
    int64_t left = 0;
    for (const Demand& demand : demands) left += demand.n_to_compute;
    for (int step = 0; left > 0; ++step) {
      ASSERT_LT(step, 3000) << "no progress";
      scheduler.plan(demands, plan);
      ASSERT_FALSE(plan.slices.empty());
      ASSERT_LE(plan.n_tokens, limits.n_tokens_max);
      ASSERT_LE(plan.n_outputs, limits.n_outputs_max);
      ASSERT_LE(static_cast<int64_t>(plan.slices.size()), limits.n_seqs_max);
      for (const SlicePlan& slice : plan.slices) {
        Demand& demand = demands[static_cast<size_t>(slice.sequence)];
        const int64_t n_known = std::min(slice.n_tokens, demand.n_to_compute);
        ASSERT_LE(slice.n_tokens - n_known, demand.n_to_compute == 1 ? demand.n_proposed : 0);
        ASSERT_LE(slice.n_outputs, slice.n_tokens);
        demand.n_to_compute -= n_known;
        if (demand.n_to_compute > 0) demand.n_rows = std::min(demand.n_rows, demand.n_to_compute);
        if (demand.n_to_compute == 0) {
          ASSERT_GE(slice.n_outputs, 1);
        }
        left -= n_known;
      }
    }
  }
}

}  // namespace
}  // namespace hwtv::engine
