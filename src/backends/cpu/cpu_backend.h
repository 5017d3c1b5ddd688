// The CPU backend: weights re-laid for one kernel table of one instruction set, work handed out to
// the device's thread team in small pieces.
#pragma once
#include <memory>
#include <vector>

#include "backends/cpu/kernel_choice.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/weight.h"
#include "base/clock.h"
#include "base/thread_team.h"
#include "hw/device_context.h"
#include "hw/ledger.h"
#include "ops/backend.h"

namespace hwtv::cpu {

class CpuSpec final : public ops::BackendSpec {
 public:
  explicit CpuSpec(Packing packing = Packing::tiles) : packing_(packing) {}
  std::string_view name() const override { return "cpu"; }
  Result<void> supports(const ops::Program& program, const ops::Limits& limits) const override;
  ops::BytesByUse memory(const ops::Program& program, const ops::Limits& limits) const override;
  Packing packing() const { return packing_; }

 private:
  Packing packing_;
};

class CpuBackend final : public ops::Backend {
 public:
  // With the kernels that HWTV_ISA names, or the best ones and what trials kept for this device
  // chose in their place.  Errors: as chosen_kernels() (isa.h).  Requires: the device outlives the
  // backend.
  static Result<std::unique_ptr<CpuBackend>> make(hw::DeviceContext& device,
                                                  Packing packing = Packing::tiles);
  // Requires: this machine runs `kernels` and all of `choices`; team and ledger outlive the
  // backend, and it its Executables.
  CpuBackend(ThreadTeam& team, hw::Ledger& ledger, const Kernels& kernels,
             Packing packing = Packing::tiles, KernelChoices choices = {});

  const ops::BackendSpec& spec() const override { return spec_; }
  std::string_view isa() const { return kernels_.name; }

  Result<ops::WeightHandle> import(const ops::WeightDecl& weight, const ops::WeightSource& source,
                                   ops::Shard shard) override;
  Result<std::unique_ptr<ops::Executable>> prepare(
      const ops::Program& program, const ops::Limits& limits,
      std::span<const ops::WeightHandle> weights) override;
  ops::Ticket submit(ops::Executable& executable, const ops::StepInput& input) override;
  Result<ops::StepResult> wait(ops::Executable& executable, ops::Ticket ticket) override;
  void copy_block(ops::Executable& executable, int32_t kv_group, int32_t from, int32_t to) override;

 private:
  ThreadTeam& team_;
  hw::Ledger& ledger_;
  const Kernels& kernels_;
  const KernelChoices choices_;
  CpuSpec spec_;
  SteadyClock clock_;
  std::vector<std::unique_ptr<Weight>> weights_;  // by WeightHandle
  std::vector<ops::WeightSource> copied_;         // let go of once more when all are read
};

}  // namespace hwtv::cpu
