#include "tests/ops/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/check.h"

namespace hwtv::test {
namespace {

int64_t step_tokens(const CaseStep& step) {
  int64_t n = 0;
  for (const CaseSlice& slice : step) n += slice.n_tokens;
  return n;
}

int64_t blocks_for(int64_t n_tokens, const ops::Limits& limits) {
  return (n_tokens + limits.kv_block_tokens - 1) / limits.kv_block_tokens;
}

std::map<int32_t, int64_t> sequence_lengths(const std::vector<CaseStep>& steps) {
  std::map<int32_t, int64_t> lengths;
  for (const CaseStep& step : steps)
    for (const CaseSlice& slice : step) lengths[slice.sequence] += slice.n_tokens;
  return lengths;
}

}  // namespace

CaseInputs::CaseInputs(const OpCase& op_case) : adapters_(op_case.adapters) {
  const size_t n_groups = op_case.program.kv_groups.size();
  const auto lengths = sequence_lengths(op_case.steps);
  block_tables_.resize(lengths.empty() ? 0 : static_cast<size_t>(lengths.rbegin()->first) + 1);
  for (auto& tables : block_tables_) tables.resize(n_groups);
  for (size_t group = 0; group < n_groups; ++group) {
    std::vector<int32_t> pool(static_cast<size_t>(op_case.limits.n_kv_blocks[group]));
    std::iota(pool.begin(), pool.end(), 0);
    std::shuffle(pool.begin(), pool.end(), Random(group + 1));
    for (const auto& [sequence, n_tokens] : lengths) {
      auto& table = block_tables_[static_cast<size_t>(sequence)][group];
      for (int64_t i = blocks_for(n_tokens, op_case.limits); i > 0; --i) {
        table.push_back(pool.back());
        pool.pop_back();
      }
    }
  }
  int32_t token = 0;
  std::map<int32_t, int64_t> positions;
  for (const CaseStep& step : op_case.steps) {
    CaseInput& input = steps_.emplace_back();
    for (const CaseSlice& slice : step) {
      ops::SliceInput& out = input.slices.emplace_back();
      out.first_row = static_cast<int64_t>(input.tokens.size());
      out.n_tokens = slice.n_tokens;
      out.first_position =
          std::exchange(positions[slice.sequence], positions[slice.sequence] + slice.n_tokens);
      for (const auto& table : block_tables_[static_cast<size_t>(slice.sequence)])
        out.block_tables.emplace_back(table);
      if (const auto sequence = static_cast<size_t>(slice.sequence); sequence < adapters_.size())
        out.adapters = adapters_[sequence];
      for (int64_t i = 0; i < slice.n_tokens; ++i) input.tokens.push_back(token++);
    }
    for (size_t row = 0; row < input.tokens.size();
         row += static_cast<size_t>(op_case.output_stride))
      input.output_rows.push_back(static_cast<int32_t>(row));
  }
}

CaseBuilder::CaseBuilder(std::vector<CaseStep> steps, uint64_t seed) : random_(seed) {
  ops::Limits& limits = case_.limits;
  limits.n_tokens_max = limits.n_seqs_max = 0;
  for (const CaseStep& step : steps) {
    n_tokens_ += step_tokens(step);
    limits.n_tokens_max = std::max(limits.n_tokens_max, step_tokens(step));
    limits.n_seqs_max = std::max(limits.n_seqs_max, static_cast<int64_t>(step.size()));
  }
  limits.n_outputs_max = limits.n_tokens_max;
  limits.context_tokens_max = 0;
  for (const auto& [sequence, n] : sequence_lengths(steps))
    limits.context_tokens_max = std::max(limits.context_tokens_max, n);
  case_.steps = std::move(steps);
}

ops::WeightId CaseBuilder::weight(DType dtype, int64_t n_rows, int64_t width,
                                  ops::WeightRole role) {
  case_.weights.push_back(random_weight(dtype, n_rows, width, random_));
  const size_t id = case_.program.weights.size();
  return case_.program.add_weight({fmt::format("weight {}", id), dtype, n_rows, width, role});
}

ops::WeightId CaseBuilder::weight(std::vector<float> values, int64_t n_rows, ops::WeightRole role) {
  const int64_t width = static_cast<int64_t>(values.size()) / n_rows;
  case_.weights.push_back(bytes_of(values));
  const size_t id = case_.program.weights.size();
  return case_.program.add_weight({fmt::format("weight {}", id), DType::F32, n_rows, width, role});
}

ops::WeightId CaseBuilder::experts(DType dtype, int64_t n_experts, int64_t n_rows, int64_t width) {
  const ops::WeightId id = weight(dtype, n_experts * n_rows, width, ops::WeightRole::matrix);
  ops::WeightDecl& decl = case_.program.weights[static_cast<size_t>(id)];
  decl.n_experts = n_experts;
  decl.n_rows = n_rows;
  return id;
}

ops::ValueId CaseBuilder::input(int64_t width, float spread) {
  std::vector<float> rows(static_cast<size_t>(n_tokens_ * width));
  for (float& x : rows) x = spread * random_normal(random_);
  return input(std::move(rows));
}

ops::ValueId CaseBuilder::input(std::vector<float> rows) {
  const int64_t width = static_cast<int64_t>(rows.size()) / n_tokens_;
  const ops::WeightId embedding = weight(std::move(rows), n_tokens_, ops::WeightRole::embedding);
  const ops::ValueId out = value(width);
  op(ops::Embed{embedding, out});
  return out;
}

ops::ValueId CaseBuilder::value(int64_t width, ops::Rows rows) {
  return case_.program.add_value(fmt::format("value {}", case_.program.values.size()), rows, width);
}

void CaseBuilder::op(ops::Op op) {
  std::string name(ops::op_name(op));
  case_.program.add_op(std::move(name), std::move(op));
}

ops::ValueId CaseBuilder::select(ops::ValueId x) {
  const ops::ValueId out = value(case_.program.value(x).width, ops::Rows::n_outputs);
  op(ops::SelectOutputs{x, out});
  return out;
}

void CaseBuilder::output(ops::ValueId selected) {
  case_.program.outputs.push_back({ops::OutputKind::logits, selected});
}

OpCase CaseBuilder::finish(ops::ValueId x, double tolerance) {
  output(select(x));
  return finish(tolerance);
}

OpCase CaseBuilder::finish(double tolerance) {
  case_.tolerance = tolerance;
  // A few blocks more than the sequences need, so that a table is never the whole pool in order.
  int64_t n_blocks = 5;
  for (const auto& [sequence, n] : sequence_lengths(case_.steps))
    n_blocks += blocks_for(n, case_.limits);
  case_.limits.n_kv_blocks.assign(case_.program.kv_groups.size(), n_blocks);
  ops::check_program(case_.program);
  return std::move(case_);
}

}  // namespace hwtv::test
