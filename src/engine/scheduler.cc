#include "engine/scheduler.h"

#include <algorithm>

#include "base/check.h"

namespace hwtv::engine {

void BatchPlan::clear() {
  slices.clear();
  n_tokens = 0;
  n_outputs = 0;
}

Scheduler::Scheduler(StepLimits limits) : limits_(limits) {
  CHECK(limits.n_tokens_max >= 1 && limits.n_seqs_max >= 1 && limits.n_outputs_max >= 1);
}

void Scheduler::plan(std::span<const Demand> demands, BatchPlan& plan) const {
  plan.clear();
  for (size_t i = 0; i < demands.size(); ++i)
    if (demands[i].n_to_compute == 1) add_slice(demands, i, plan);
  for (size_t i = 0; i < demands.size(); ++i)
    if (demands[i].n_to_compute > 1) add_slice(demands, i, plan);
  add_proposed(demands, plan);
}

void Scheduler::add_proposed(std::span<const Demand> demands, BatchPlan& plan) const {
  for (bool any_left = true; any_left;) {
    any_left = false;
    for (SlicePlan& slice : plan.slices) {
      const Demand& demand = demands[static_cast<size_t>(slice.sequence)];
      if (demand.n_to_compute != 1 || slice.n_tokens > demand.n_proposed) continue;
      if (plan.n_tokens == limits_.n_tokens_max || plan.n_outputs == limits_.n_outputs_max) return;
      ++slice.n_tokens, ++slice.n_outputs;
      ++plan.n_tokens, ++plan.n_outputs;
      any_left = true;
    }
  }
}

void Scheduler::add_slice(std::span<const Demand> demands, size_t index, BatchPlan& plan) const {
  const Demand& demand = demands[index];
  if (static_cast<int64_t>(plan.slices.size()) == limits_.n_seqs_max) return;
  int64_t n_tokens = std::min(demand.n_to_compute, limits_.n_tokens_max - plan.n_tokens);
  // Tokens without a row come first; a token whose row has no room waits for the next step.
  const int64_t n_silent = demand.n_to_compute - demand.n_rows;
  n_tokens = std::min(n_tokens, n_silent + limits_.n_outputs_max - plan.n_outputs);
  if (n_tokens <= 0) return;
  const int64_t n_outputs = std::max<int64_t>(0, n_tokens - n_silent);
  plan.slices.push_back({static_cast<int32_t>(index), n_tokens, n_outputs});
  plan.n_tokens += n_tokens;
  plan.n_outputs += n_outputs;
}

}  // namespace hwtv::engine
