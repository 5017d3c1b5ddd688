#include "backends/cpu/kernel_trial.h"

#include <gtest/gtest.h>

#include "backends/cpu/isa.h"
#include "tests/backends/cpu/one_product.h"

namespace hwtv::cpu {
namespace {

TEST(KernelTrial, GroupsAreKeysWithTheirWeights) {
  ThreadTeam team(1);
  hw::Ledger ledger("cpu:0", int64_t{1} << 30);
  CpuBackend backend(team, ledger, *isas().back().kernels);
  OneProduct model;
  const ops::Program& program = model.program;
  const auto chosen = program.outputs[0].value;
  const auto narrow = model.program.add_value("narrow", ops::Rows::n_outputs, 64);
  const auto last = model.program.add_weight(
      {"s", DType::F16, 64, OneProduct::kOutputs, ops::WeightRole::matrix});
  model.bytes.emplace_back(static_cast<size_t>(program.weights.back().n_bytes()));
  model.program.add_op("output", ops::MatMul{chosen, last, ops::kNoWeight, narrow});
  const auto executable = model.prepare(backend);
  ASSERT_TRUE(executable) << executable.error().what;
  const auto groups = product_groups(static_cast<const CpuExecutable&>(**executable));
  ASSERT_EQ(groups.size(), 4u);
  EXPECT_EQ(groups[0].key, one_product_key(RowsClass::one));
  EXPECT_EQ(groups[1].key, one_product_key(RowsClass::many));
  EXPECT_EQ(groups[1].weights.size(), 1u);
  EXPECT_EQ(groups[0].n_rows, 1);
  EXPECT_EQ(groups[1].n_rows, kPromptRows);
  EXPECT_EQ(groups[2].n_rows, 1);
  EXPECT_EQ(groups[3].n_rows, kBatchRows);  // of output rows there are few
  EXPECT_EQ(groups[3].key, (ProductKey{DType::F16, false, 64, 40, RowsClass::many}));
}

TEST(KernelTrial, TimesEveryCandidateAndHoldsNothingAfterwards) {
  ThreadTeam team(2);
  hw::Ledger ledger("cpu:0", int64_t{1} << 30);
  SteadyClock clock;
  const auto rule = chosen_kernels();
  ASSERT_TRUE(rule);
  CpuBackend backend(team, ledger, **rule);
  const OneProduct model;
  const auto executable = model.prepare(backend);
  ASSERT_TRUE(executable);
  const TrialSetup setup = {team, ledger, clock, candidates(**rule), "2026-12-02"};
  const int64_t before = ledger.reserved_bytes();
  for (const ProductGroup& group :
       product_groups(static_cast<const CpuExecutable&>(**executable))) {
    const auto trial = try_kernels(group, setup);
    ASSERT_TRUE(trial) << trial.error().what;
    EXPECT_EQ(trial->key, group.key);
    EXPECT_EQ(trial->date, "2026-12-02");
    ASSERT_EQ(trial->times.size(), setup.candidates.size());
    EXPECT_EQ(trial->times[0].gain, 1);
    for (size_t i = 0; i < trial->times.size(); ++i) {
      EXPECT_EQ(trial->times[i].kernels, setup.candidates[i]);
      EXPECT_GT(trial->times[i].seconds, 0);
      EXPECT_LT(trial->times[i].seconds, 1);
      EXPECT_GT(trial->times[i].gain, 0);
    }
  }
  EXPECT_EQ(ledger.reserved_bytes(), before);
}

// A slow table must lose: the scalar one, far behind any other, against the best.
TEST(KernelTrial, TheFasterTableIsFound) {
  const Kernels& best = **chosen_kernels();
  const Kernels& scalar = *isas().back().kernels;
  if (&best == &scalar) GTEST_SKIP() << "only scalar runs here";
  ThreadTeam team(1);
  hw::Ledger ledger("cpu:0", int64_t{1} << 30);
  SteadyClock clock;
  CpuBackend backend(team, ledger, scalar);
  const OneProduct model;
  const auto executable = model.prepare(backend);
  ASSERT_TRUE(executable);
  const auto groups = product_groups(static_cast<const CpuExecutable&>(**executable));
  const auto slow_rule = try_kernels(groups[1], {team, ledger, clock, {&scalar, &best}, ""});
  ASSERT_TRUE(slow_rule);
  EXPECT_EQ(slow_rule->best().kernels, &best);
  const auto fast_rule = try_kernels(groups[1], {team, ledger, clock, {&best, &scalar}, ""});
  ASSERT_TRUE(fast_rule);
  EXPECT_TRUE(fast_rule->rule_holds());
}

TEST(KernelTrial, WhatDoesNotFitIsAnError) {
  ThreadTeam team(1);
  SteadyClock clock;
  const OneProduct model;
  hw::Ledger ledger("cpu:0", CpuSpec().memory(model.program, {.n_tokens_max = 8}).total());
  CpuBackend backend(team, ledger, *isas().back().kernels);
  const auto executable = model.prepare(backend);
  ASSERT_TRUE(executable) << executable.error().what;
  const auto groups = product_groups(static_cast<const CpuExecutable&>(**executable));
  const auto trial =
      try_kernels(groups[1], {team, ledger, clock, {isas().back().kernels}, "2026-12-02"});
  ASSERT_FALSE(trial);
  EXPECT_EQ(trial.error().code, ErrorCode::out_of_memory);
}

}  // namespace
}  // namespace hwtv::cpu
