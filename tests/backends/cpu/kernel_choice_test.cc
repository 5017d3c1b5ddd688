#include "backends/cpu/kernel_choice.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "backends/cpu/isa.h"
#include "tests/backends/cpu/one_product.h"

namespace hwtv::cpu {
namespace {

// A trial in which candidates gained so much; they are told apart by their addresses alone.
KernelTrial trial_with(std::span<const double> gains) {
  static const std::array<Kernels, 4> tables = {};
  KernelTrial trial{one_product_key(RowsClass::one), 1, "2026-12-02", {}};
  for (size_t i = 0; i < gains.size(); ++i) trial.times.push_back({&tables[i], 1, gains[i]});
  return trial;
}

size_t best_of(std::vector<double> gains) {
  const KernelTrial trial = trial_with(gains);
  return static_cast<size_t>(&trial.best() - trial.times.data());
}

TEST(KernelChoice, TheRuleHoldsUnlessAnotherGainsEnough) {
  EXPECT_EQ(best_of({1}), 0u);
  EXPECT_EQ(best_of({1, 0.5, 1.029}), 0u);
  EXPECT_EQ(best_of({1, 1.03}), 1u);
  EXPECT_EQ(best_of({1, 1.04, 1.5, 1.2}), 2u);
}

TEST(KernelChoice, OnlyWhatTheRuleLosesIsAChoice) {
  std::vector<KernelTrial> trials = {trial_with(std::vector<double>{1, 1.5}),
                                     trial_with(std::vector<double>{1, 1.01})};
  trials[1].key.rows = RowsClass::many;
  const KernelChoices choices = choices_of(trials);
  ASSERT_EQ(choices.size(), 1u);
  EXPECT_EQ(choices.begin()->first, trials[0].key);
  EXPECT_EQ(choices.begin()->second, trials[0].times[1].kernels);
}

TEST(KernelChoice, CandidatesRunHereAndScalarIsNoneOfTheOthers) {
  for (const Isa& isa : isas()) {
    if (!isa.can_run()) continue;
    const std::vector<const Kernels*> tables = candidates(*isa.kernels);
    EXPECT_EQ(tables[0], isa.kernels);
    for (const Isa& other : isas()) {
      const auto n = std::count(tables.begin(), tables.end(), other.kernels);
      const bool is_scalar = other.name() == "scalar" || isa.name() == "scalar";
      EXPECT_EQ(n, &other == &isa || (!is_scalar && other.can_run())) << other.name();
    }
  }
}

// The tables that are told apart below; they need not be fast.
TEST(KernelChoice, EachRowsClassHasItsOwnKernel) {
  ThreadTeam team(1);
  hw::Ledger ledger("cpu:0", int64_t{1} << 30);
  const OneProduct model;
  const Kernels& rule = *isas().back().kernels;
  for (const Isa& isa : isas()) {
    if (!isa.can_run()) continue;
    CpuBackend backend(team, ledger, rule, Packing::tiles,
                       {{one_product_key(RowsClass::many), isa.kernels}});
    const auto executable = model.prepare(backend);
    ASSERT_TRUE(executable) << executable.error().what;
    EXPECT_EQ((*executable)->kernels()[1], isa.kernels == &rule
                                               ? "q8_0_packed_scalar"
                                               : fmt::format("q8_0_packed_scalar/{}", isa.name()));
    for (const int64_t n_tokens : {1, 3}) {
      const std::vector<int32_t> tokens(static_cast<size_t>(n_tokens), 2), rows = {0};
      const ops::SliceInput slice = {.n_tokens = n_tokens, .block_tables = {}};
      const ops::StepInput input = {tokens, {&slice, 1}, rows, /*profile=*/true};
      const auto result = backend.wait(**executable, backend.submit(**executable, input));
      EXPECT_EQ(result->spans[1].kernel,
                fmt::format("q8_0_packed_{}", n_tokens == 1 ? "scalar" : isa.name()));
    }
  }
}

// A key that is another's in one part only is another key.
TEST(KernelChoice, AChoiceIsForItsKeyAlone) {
  ThreadTeam team(1);
  hw::Ledger ledger("cpu:0", int64_t{1} << 30);
  const OneProduct model;
  const Kernels &rule = *isas().back().kernels, &other = *isas().front().kernels;
  KernelChoices choices;
  for (const RowsClass rows : {RowsClass::one, RowsClass::many}) {
    const ProductKey key = one_product_key(rows);
    choices[{DType::Q4_0, key.is_packed, key.n_out, key.n_in, rows}] = &other;
    choices[{key.dtype, false, key.n_out, key.n_in, rows}] = &other;
    choices[{key.dtype, key.is_packed, key.n_out + 1, key.n_in, rows}] = &other;
    choices[{key.dtype, key.is_packed, key.n_out, key.n_in + 32, rows}] = &other;
  }
  CpuBackend backend(team, ledger, rule, Packing::tiles, choices);
  const auto executable = model.prepare(backend);
  ASSERT_TRUE(executable);
  EXPECT_EQ((*executable)->kernels()[1], "q8_0_packed_scalar");
}

}  // namespace
}  // namespace hwtv::cpu
