#include "backends/ref/ref_backend.h"

#include <fmt/format.h>

#include <utility>

#include "backends/ref/executable.h"
#include "backends/ref/kernels.h"
#include "base/check.h"

namespace hwtv::ref {
namespace {

void check_input(const ops::StepInput& input, const ops::Limits& limits, size_t n_groups) {
  CHECK(static_cast<int64_t>(input.tokens.size()) <= limits.n_tokens_max);
  CHECK(static_cast<int64_t>(input.slices.size()) <= limits.n_seqs_max);
  CHECK(static_cast<int64_t>(input.output_rows.size()) <= limits.n_outputs_max);
  int64_t row = 0;
  for (const ops::SliceInput& slice : input.slices) {
    CHECK(slice.first_row == row && slice.n_tokens >= 1);
    CHECK(slice.first_position + slice.n_tokens <= limits.context_tokens_max);
    CHECK(slice.block_tables.size() == n_groups);
    row += slice.n_tokens;
  }
  CHECK(row == static_cast<int64_t>(input.tokens.size()));
}

// Shows the observer what `op` is about to read.
void observe(const WeightObserver& observer, const ops::Program& program, const ops::Op& op,
             const Step& step) {
  const auto show = [&](ops::ValueId x, ops::WeightId weight) {
    const auto n = static_cast<size_t>(step.n_rows(x) * step.width(x));
    observer(program.weight(weight), {step.value(x), n});
  };
  if (const auto* matmul = std::get_if<ops::MatMul>(&op)) show(matmul->x, matmul->weight);
  if (const auto* norm = std::get_if<ops::RmsNorm>(&op)) show(norm->x, norm->weight);
}

}  // namespace

RefBackend::RefBackend(ThreadTeam& team, hw::Ledger& ledger, WeightObserver observer)
    : team_(team), ledger_(ledger), observer_(std::move(observer)), spec_(team.n_threads()) {}

Result<ops::WeightHandle> RefBackend::import(const ops::WeightDecl& weight,
                                             const ops::WeightSource& source, ops::Shard shard) {
  if (shard.n != 1)
    return fail(ErrorCode::unsupported,
                fmt::format("ref cannot take part {} of {} of a weight", shard.rank, shard.n),
                "run the model on one device");
  HWTV_TRY(Weight loaded, load_weight(weight, source.bytes, team_, ledger_));
  if (source.release) source.release(source.bytes);
  weights_.push_back(std::make_unique<Weight>(std::move(loaded)));
  return static_cast<ops::WeightHandle>(weights_.size() - 1);
}

Result<std::unique_ptr<ops::Executable>> RefBackend::prepare(
    const ops::Program& program, const ops::Limits& limits,
    std::span<const ops::WeightHandle> weights) {
  ops::check_program(program);
  CHECK(weights.size() == program.weights.size());
  CHECK(limits.n_kv_blocks.size() == program.kv_groups.size());
  HWTV_TRY_VOID(spec_.supports(program, limits));
  std::vector<const Weight*> chosen;
  for (const ops::WeightHandle handle : weights)
    chosen.push_back(weights_[static_cast<size_t>(handle)].get());
  HWTV_TRY(std::unique_ptr<ops::Executable> made,
           RefExecutable::make(program, limits, std::move(chosen), team_.n_threads(), ledger_));
  return made;
}

ops::Ticket RefBackend::submit(ops::Executable& executable, const ops::StepInput& input) {
  auto& self = static_cast<RefExecutable&>(executable);
  const ops::Program& program = self.program();
  check_input(input, self.limits(), program.kv_groups.size());
  self.spans.clear();
  const Step step{team_, self, input};
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const double start_s = input.profile ? clock_.now_s() : 0;
    if (observer_) observe(observer_, program, program.ops[i].op, step);
    std::visit([&](const auto& op) { run(op, step); }, program.ops[i].op);
    if (input.profile)
      self.spans.push_back({static_cast<int32_t>(i), "ref", clock_.now_s() - start_s});
  }
  self.result.outputs.clear();
  for (const ops::Output& output : program.outputs)
    self.result.outputs.emplace_back(
        self.value(output.value),
        static_cast<size_t>(step.n_rows(output.value) * step.width(output.value)));
  self.result.spans = self.spans;
  return {++self.n_steps};
}

Result<ops::StepResult> RefBackend::wait(ops::Executable& executable, ops::Ticket ticket) {
  auto& self = static_cast<RefExecutable&>(executable);
  CHECK(ticket.step == self.n_steps);
  return self.result;
}

void RefBackend::copy_block(ops::Executable& executable, int32_t kv_group, int32_t from,
                            int32_t to) {
  static_cast<RefExecutable&>(executable).cache(kv_group).copy_block(from, to);
}

}  // namespace hwtv::ref
