// The CPU backend's kernels for one instruction set, the one that HWTV_ISA names, against ref.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <utility>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/kernel_trial.h"
#include "base/thread_team.h"
#include "hw/ledger.h"
#include "tests/ops/backend_contract.h"
#include "tests/ops/ref_backend_maker.h"
#include "tests/ops/run_cases.h"
#include "tests/ops/tiny_model.h"

namespace hwtv::test {
namespace {

struct CpuDevice {
  CpuDevice(int n_threads, const cpu::Kernels& kernels, cpu::Packing packing = cpu::Packing::tiles,
            cpu::KernelChoices choices = {})
      : team(n_threads), backend(team, ledger, kernels, packing, std::move(choices)) {}
  ThreadTeam team;
  hw::Ledger ledger{"cpu:0", int64_t{1} << 40};
  cpu::CpuBackend backend;
};

MakeBackend make_cpu(const cpu::Kernels& kernels) {
  return [&kernels](int n_threads) -> std::shared_ptr<ops::Backend> {
    const auto device = std::make_shared<CpuDevice>(n_threads, kernels);
    return {device, &device->backend};
  };
}

// Whatever tables are chosen for the products, of one row and of many: the bits are the rule's.
TEST(KernelChoices, NoneChangesABit) {
  const cpu::Kernels& rule = **cpu::chosen_kernels();
  const std::vector<const cpu::Kernels*> tables = cpu::candidates(rule);
  OpCase model = tiny_model(DType::F16, DType::F16);
  model.steps = {{{0, 40}}, {{0, 1}}, {{0, 1}, {1, 7}}, {{1, 1}}};
  std::mt19937 random(11);
  for (const cpu::Packing packing : {cpu::Packing::tiles, cpu::Packing::none}) {
    CpuDevice by_rule(2, rule, packing);
    const Outputs expected = run_case(model, by_rule.backend);
    ASSERT_FALSE(expected.empty());
    const auto executable = prepare_case(model, by_rule.backend);
    ASSERT_TRUE(executable);
    const auto groups =
        cpu::product_groups(static_cast<const cpu::CpuExecutable&>(*executable));
    for (int i = 0; i < 8; ++i) {
      cpu::KernelChoices choices;
      for (const cpu::ProductGroup& group : groups)
        choices[group.key] = tables[random() % tables.size()];
      CpuDevice chosen(2, rule, packing, choices);
      EXPECT_EQ(run_case(model, chosen.backend), expected);
    }
  }
}

}  // namespace
}  // namespace hwtv::test

int main(int argc, char** argv) {
  const auto kernels = hwtv::cpu::chosen_kernels();
  if (!kernels) {
    std::printf("skipped: %s\n", kernels.error().what.c_str());
    return kernels.error().code == hwtv::ErrorCode::unsupported ? 77 : 1;
  }
  const auto make = hwtv::test::make_cpu(**kernels);
  hwtv::test::register_op_cases("cpu", make, hwtv::test::make_ref);
  hwtv::test::register_backend_contract("cpu", make);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
