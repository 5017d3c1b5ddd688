// One op (or a few) as a small Program with its weights, sequences and steps, ready to be run by
// any backend.  A Program takes only tokens, so an op's inputs are the rows of F32 Embed weights.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ops/backend.h"
#include "ops/program.h"
#include "tests/ops/random_blocks.h"

namespace hwtv::test {

// n_tokens more of a sequence.
struct CaseSlice {
  int32_t sequence;
  int64_t n_tokens;
};
using CaseStep = std::vector<CaseSlice>;

struct OpCase {
  ops::Program program;
  ops::Limits limits;
  std::vector<std::vector<std::byte>> weights;  // by WeightId
  std::vector<CaseStep> steps;
  std::vector<std::vector<int32_t>> adapters;  // by sequence; those beyond its end name none
  int64_t output_stride = 1;  // outputs are asked for rows 0, stride, 2 stride ... of each step
  double tolerance = 0;       // a share of the oracle's root mean square; 0: equal bits
};

// What a backend is fed in one step of a case.  Owns what StepInput points to.
struct CaseInput {
  std::vector<int32_t> tokens;
  std::vector<int32_t> output_rows;
  std::vector<ops::SliceInput> slices;

  ops::StepInput step_input() const { return {tokens, slices, output_rows}; }
};

// The inputs of all steps: every row of every step is a token of its own, so that Embed gives it a
// row of its own; a sequence's kv_blocks are scattered over the pool.
class CaseInputs {
 public:
  explicit CaseInputs(const OpCase& op_case);
  const std::vector<CaseInput>& steps() const { return steps_; }

 private:
  std::vector<std::vector<int32_t>> adapters_;                   // by sequence
  std::vector<std::vector<std::vector<int32_t>>> block_tables_;  // by sequence, by kv_group
  std::vector<CaseInput> steps_;
};

class CaseBuilder {
 public:
  CaseBuilder(std::vector<CaseStep> steps, uint64_t seed);

  Random& random() { return random_; }
  ops::Program& program() { return case_.program; }
  ops::Limits& limits() { return case_.limits; }
  int64_t n_tokens() const { return n_tokens_; }  // of all steps

  ops::WeightId weight(DType dtype, int64_t n_rows, int64_t width, ops::WeightRole role);
  ops::WeightId weight(std::vector<float> values, int64_t n_rows, ops::WeightRole role);
  // n_experts matrices of (n_rows, width)
  ops::WeightId experts(DType dtype, int64_t n_experts, int64_t n_rows, int64_t width);
  // (n_tokens, width), normal with the standard deviation `spread`
  ops::ValueId input(int64_t width, float spread = 1);
  ops::ValueId input(std::vector<float> rows);
  ops::ValueId value(int64_t width, ops::Rows rows = ops::Rows::n_tokens);
  void op(ops::Op op);
  ops::ValueId select(ops::ValueId x);
  void output(ops::ValueId selected);

  // Selects `x`'s rows as the output and gives the case.
  OpCase finish(ops::ValueId x, double tolerance);
  // For a case whose outputs are set.
  OpCase finish(double tolerance);

 private:
  OpCase case_;
  Random random_;
  int64_t n_tokens_ = 0;
};

}  // namespace hwtv::test
