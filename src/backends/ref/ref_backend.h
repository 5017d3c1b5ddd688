// The plain backend: every op as loops over F32, the oracle that other backends are held against.
// Made for being right; still fast enough to run a small model over a book's chapter.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backends/ref/weight.h"
#include "base/clock.h"
#include "base/thread_team.h"
#include "hw/device_context.h"
#include "hw/ledger.h"
#include "ops/backend.h"

namespace hwtv::ref {

class RefSpec final : public ops::BackendSpec {
 public:
  // Requires: n_threads >= 1: that of the team.
  explicit RefSpec(int n_threads) : n_threads_(n_threads) {}
  std::string_view name() const override { return "ref"; }
  Result<void> supports(const ops::Program& program, const ops::Limits& limits) const override;
  ops::BytesByUse memory(const ops::Program& program, const ops::Limits& limits) const override;

 private:
  int n_threads_;
};

// Told of what each MatMul and each RmsNorm reads with its weight: x (n_rows, width).
using WeightObserver = std::function<void(const ops::WeightDecl& weight, std::span<const float> x)>;

// Requires: team and ledger outlive it; it outlives its Executables.
class RefBackend final : public ops::Backend {
 public:
  explicit RefBackend(hw::DeviceContext& device, WeightObserver observer = {})
      : RefBackend(device.team(), device.ledger(), std::move(observer)) {}
  RefBackend(ThreadTeam& team, hw::Ledger& ledger, WeightObserver observer = {});

  const ops::BackendSpec& spec() const override { return spec_; }
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
  const WeightObserver observer_;
  RefSpec spec_;
  SteadyClock clock_;
  std::vector<std::unique_ptr<Weight>> weights_;  // by WeightHandle
};

}  // namespace hwtv::ref
