#include "backends/cpu/cpu_backend.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "backends/cpu/executable.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/kernel_trials_file.h"
#include "backends/cpu/row_chain.h"
#include "backends/cpu/step.h"
#include "base/check.h"

namespace hwtv::cpu {
namespace {

// Checks the input against what was prepared, and notes the slice of each row.
void begin_step(CpuExecutable& executable, const ops::StepInput& input) {
  const ops::Limits& limits = executable.limits();
  const size_t n_groups = executable.program().kv_groups.size();
  CHECK(static_cast<int64_t>(input.tokens.size()) <= limits.n_tokens_max);
  CHECK(static_cast<int64_t>(input.slices.size()) <= limits.n_seqs_max);
  CHECK(static_cast<int64_t>(input.output_rows.size()) <= limits.n_outputs_max);
  auto* const slice_of_row = executable.staging<int32_t>(executable.staging_layout().slices);
  int64_t row = 0;
  for (size_t i = 0; i < input.slices.size(); ++i) {
    const ops::SliceInput& slice = input.slices[i];
    const int64_t end = slice.first_position + slice.n_tokens;
    CHECK(slice.first_row == row && slice.n_tokens >= 1);
    CHECK(end <= limits.context_tokens_max && slice.block_tables.size() == n_groups);
    for (const auto& table : slice.block_tables)
      CHECK(static_cast<int64_t>(table.size()) * limits.kv_block_tokens >= end);
    CHECK(row + slice.n_tokens <= static_cast<int64_t>(input.tokens.size()));
    for (int64_t n = 0; n < slice.n_tokens; ++n) slice_of_row[row++] = static_cast<int32_t>(i);
  }
  CHECK(row == static_cast<int64_t>(input.tokens.size()));
}

// Which of a product's two kernels this step takes.
RowsClass rows_class_of(const ops::Op& op, const Step& step) {
  return ops::product_weight(op) == ops::kNoWeight ? RowsClass::one
                                                   : rows_class(step.n_rows(ops::op_output(op)));
}

// Runs the ops in order, remembering what the staging buffer holds.
class Run {
 public:
  explicit Run(const Step& step) : step_(step), program_(step.executable.program()) {}

  // Runs the op at `at`, with those after it that are one piece of work with it, and gives the
  // next.
  size_t next(size_t at) {
    const ops::Op& op = program_.ops[at].op;
    if (std::holds_alternative<ops::MatMul>(op)) return mat_muls(at);
    if (std::holds_alternative<ops::ExpertMatMul>(op)) return expert_mat_muls(at);
    if (is_row_wise(op)) return row_chain(at);
    if (const auto* attention = std::get_if<ops::Attention>(&op)) run(*attention, step_);
    if (const auto* conv = std::get_if<ops::CausalConv>(&op)) run(*conv, step_);
    if (const auto* net = std::get_if<ops::DeltaNet>(&op)) run(*net, step_);
    if (const auto* lora = std::get_if<ops::Lora>(&op)) run(*lora, step_);
    if (const auto* select = std::get_if<ops::SelectOutputs>(&op)) run(*select, step_);
    return at + 1;
  }

 private:
  // The stage of row-wise ops, and the quantization of what the MatMul after them reads of it.
  size_t row_chain(size_t at) {
    size_t end = at + 1;
    if (!step_.input.profile) end = step_.executable.stage_end(at);
    ops::ValueId quantized = -1;
    if (!step_.input.profile && end < program_.ops.size())
      if (const auto* product = std::get_if<ops::MatMul>(&program_.ops[end].op))
        for (size_t i = at; i < end; ++i)
          if (ops::op_output(program_.ops[i].op) == product->x &&
              is_quantized(program_.weight(product->weight).dtype))
            quantized = product->x;
    run_row_chain(at, end, quantized, step_);
    if (quantized >= 0) quantized_ = quantized;
    return end;
  }

  size_t mat_muls(size_t at) {
    std::array<const ops::MatMul*, kMostMatMuls> group;
    const ops::ValueId x = std::get<ops::MatMul>(program_.ops[at].op).x;
    const size_t most = step_.input.profile ? 1 : kMostMatMuls;
    bool reads_quantized = false;
    size_t n = 0;
    for (; n < most && at + n < program_.ops.size(); ++n) {
      const auto* mat_mul = std::get_if<ops::MatMul>(&program_.ops[at + n].op);
      if (!mat_mul || mat_mul->x != x) break;
      group[n] = mat_mul;
      reads_quantized |= is_quantized(program_.weight(mat_mul->weight).dtype);
    }
    const bool quantize = reads_quantized && quantized_ != x;
    if (quantize) quantized_ = x;
    run_mat_muls({group.data(), n}, quantize, step_);
    return at + n;
  }

  size_t expert_mat_muls(size_t at) {
    std::array<const ops::ExpertMatMul*, kMostMatMuls> group;
    const auto& first = std::get<ops::ExpertMatMul>(program_.ops[at].op);
    const size_t most = step_.input.profile ? 1 : kMostMatMuls;
    size_t n = 0;
    for (; n < most && at + n < program_.ops.size(); ++n) {
      const auto* product = std::get_if<ops::ExpertMatMul>(&program_.ops[at + n].op);
      if (!product || product->x != first.x || product->shares != first.shares) break;
      group[n] = product;
    }
    if (ordered_ != first.shares) order_ = order_by_expert(first.shares, first.n_used, step_);
    ordered_ = first.shares;
    quantized_ = -1;
    run_expert_mat_muls({group.data(), n}, order_, step_);
    return at + n;
  }

  const Step& step_;
  const ops::Program& program_;
  ops::ValueId quantized_ = -1;  // the value whose QuantizedRows are in staging
  ops::ValueId ordered_ = -1;    // the shares that order_ is of
  ExpertOrder order_;
};

}  // namespace

Result<std::unique_ptr<CpuBackend>> CpuBackend::make(hw::DeviceContext& device, Packing packing) {
  HWTV_TRY(const Kernels* kernels, chosen_kernels());
  KernelChoices choices;
  if (!is_isa_forced() && !device.rates_folder().empty())
    if (const auto kept = read_trials(device.rates_folder(), trials_key(device, *kernels)))
      choices = choices_of(*kept);
  return std::make_unique<CpuBackend>(device.team(), device.ledger(), *kernels, packing,
                                      std::move(choices));
}

CpuBackend::CpuBackend(ThreadTeam& team, hw::Ledger& ledger, const Kernels& kernels,
                       Packing packing, KernelChoices choices)
    : team_(team),
      ledger_(ledger),
      kernels_(kernels),
      choices_(std::move(choices)),
      spec_(packing) {}

Result<ops::WeightHandle> CpuBackend::import(const ops::WeightDecl& weight,
                                             const ops::WeightSource& source, ops::Shard shard) {
  if (shard.n != 1)
    return fail(ErrorCode::unsupported,
                fmt::format("cpu cannot take part {} of {} of a weight", shard.rank, shard.n),
                "run the model on one device");
  CHECK(static_cast<int64_t>(source.bytes.size()) == weight.n_bytes());
  HWTV_TRY(Weight taken, take_weight(weight, source, spec_.packing(), team_, ledger_));
  if (!taken.in_file && source.release) copied_.push_back(source);
  weights_.push_back(std::make_unique<Weight>(std::move(taken)));
  return static_cast<ops::WeightHandle>(weights_.size() - 1);
}

Result<std::unique_ptr<ops::Executable>> CpuBackend::prepare(
    const ops::Program& program, const ops::Limits& limits,
    std::span<const ops::WeightHandle> weights) {
  ops::check_program(program);
  CHECK(weights.size() == program.weights.size());
  CHECK(limits.n_kv_blocks.size() == program.kv_groups.size());
  HWTV_TRY_VOID(spec_.supports(program, limits));
  // Reading a source maps pages around those that are read, and some that were let go of before.
  for (const ops::WeightSource& source : copied_) source.release(source.bytes);
  copied_.clear();
  std::vector<const Weight*> chosen;
  for (const ops::WeightHandle handle : weights)
    chosen.push_back(weights_[static_cast<size_t>(handle)].get());
  HWTV_TRY(auto made, CpuExecutable::make(program, limits, std::move(chosen), kernels_,
                                          spec_.packing(), ledger_));
  made->choose_kernels(choices_);
  return std::unique_ptr<ops::Executable>(std::move(made));
}

ops::Ticket CpuBackend::submit(ops::Executable& executable, const ops::StepInput& input) {
  auto& self = static_cast<CpuExecutable&>(executable);
  begin_step(self, input);
  const ops::Program& program = self.program();
  const Step step{team_, self, input};
  Run run(step);
  self.spans.clear();
  for (size_t at = 0; at < program.ops.size();) {
    const double start_s = input.profile ? clock_.now_s() : 0;
    const size_t next = run.next(at);
    if (input.profile)
      self.spans.push_back({static_cast<int32_t>(at),
                            self.kernel_name(at, rows_class_of(program.ops[at].op, step)),
                            clock_.now_s() - start_s});
    at = next;
  }
  self.result.outputs.clear();
  for (const ops::Output& output : program.outputs)
    self.result.outputs.emplace_back(
        self.value(output.value),
        static_cast<size_t>(step.n_rows(output.value) * step.width(output.value)));
  self.result.spans = self.spans;
  return {++self.n_steps};
}

Result<ops::StepResult> CpuBackend::wait(ops::Executable& executable, ops::Ticket ticket) {
  auto& self = static_cast<CpuExecutable&>(executable);
  CHECK(ticket.step == self.n_steps);
  return self.result;
}

void CpuBackend::copy_block(ops::Executable& executable, int32_t kv_group, int32_t from,
                            int32_t to) {
  static_cast<CpuExecutable&>(executable).copy_block(kv_group, from, to);
}

}  // namespace hwtv::cpu
