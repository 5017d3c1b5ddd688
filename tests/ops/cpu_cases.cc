// The CPU backend's kernels for one instruction set, the one that HWTV_ISA names, against ref.
#include <gtest/gtest.h>

#include <cstdio>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/isa.h"
#include "base/thread_team.h"
#include "hw/ledger.h"
#include "tests/ops/backend_contract.h"
#include "tests/ops/ref_backend_maker.h"
#include "tests/ops/run_cases.h"

namespace hwtv::test {
namespace {

struct CpuDevice {
  CpuDevice(int n_threads, const cpu::Kernels& kernels)
      : team(n_threads), backend(team, ledger, kernels) {}
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
