#include "backends/cpu/row_chain.h"

#include <algorithm>
#include <type_traits>
#include <variant>

namespace hwtv::cpu {
namespace {

template <typename Op>
constexpr bool kIsRowWise =
    std::is_same_v<Op, ops::Embed> || std::is_same_v<Op, ops::RmsNorm> ||
    std::is_same_v<Op, ops::LayerNorm> || std::is_same_v<Op, ops::Activate> ||
    std::is_same_v<Op, ops::Rope> || std::is_same_v<Op, ops::KvWrite> ||
    std::is_same_v<Op, ops::Glu> || std::is_same_v<Op, ops::Add> ||
    std::is_same_v<Op, ops::Softcap> || std::is_same_v<Op, ops::SigmoidGate> ||
    std::is_same_v<Op, ops::Pick> || std::is_same_v<Op, ops::L2Norm> ||
    std::is_same_v<Op, ops::DeltaGates> || std::is_same_v<Op, ops::Route> ||
    std::is_same_v<Op, ops::ExpertSum>;

// A value with the rows of a row-wise op, as wide as what the op does for each.
ops::ValueId rows_of(const ops::Op& op) {
  const auto* write = std::get_if<ops::KvWrite>(&op);
  return write ? write->k : ops::op_output(op);
}

void run_op(size_t at, RowRange rows, const Step& step) {
  std::visit(
      [&](const auto& op) {
        using Op = std::decay_t<decltype(op)>;
        if constexpr (std::is_same_v<Op, ops::Rope>)
          run_rows(op, step.executable.staging_layout().rope_uses[at], rows, step);
        else if constexpr (kIsRowWise<Op>)
          run_rows(op, rows, step);
      },
      step.executable.program().ops[at].op);
}

}  // namespace

bool is_row_wise(const ops::Op& op) {
  return std::visit([](const auto& o) { return kIsRowWise<std::decay_t<decltype(o)>>; }, op);
}

std::vector<int32_t> plan_stages(const ops::Program& program) {
  std::vector<int32_t> stages;
  const auto rows = [&](const ops::Op& op) { return program.value(rows_of(op)).rows; };
  for (size_t at = 0; at < program.ops.size(); ++at) {
    const ops::Op& op = program.ops[at].op;
    const bool joins = at > 0 && is_row_wise(op) && is_row_wise(program.ops[at - 1].op) &&
                       rows(op) == rows(program.ops[at - 1].op);
    stages.push_back(at == 0 ? 0 : stages.back() + (joins ? 0 : 1));
  }
  return stages;
}

void run_row_chain(size_t begin, size_t end, ops::ValueId quantized, const Step& step) {
  const ops::Program& program = step.executable.program();
  const int64_t n_rows = step.n_rows(rows_of(program.ops[begin].op));
  int64_t width = quantized < 0 ? 0 : step.width(quantized);
  for (size_t at = begin; at < end; ++at)
    width = std::max(width, step.width(rows_of(program.ops[at].op)));
  step.share(n_rows, width, [&](int64_t first, int64_t last) {
    for (size_t at = begin; at < end; ++at) run_op(at, {first, last}, step);
    if (quantized >= 0) quantize_rows(quantized, n_rows, {first, last}, step);
  });
}

}  // namespace hwtv::cpu
