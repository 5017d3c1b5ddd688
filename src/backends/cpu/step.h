// One step in progress: what every op's run() is given, and how it shares rows among the threads.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "backends/cpu/executable.h"
#include "base/thread_team.h"
#include "ops/backend.h"
#include "ops/program.h"

namespace hwtv::cpu {

// Work below this many elements is done by the caller alone: waking the team costs about as much.
inline constexpr int64_t kAloneElements = 16384;

struct RowRange {
  int64_t begin, end;
  int64_t n() const { return end - begin; }
};

struct Step {
  ThreadTeam& team;
  CpuExecutable& executable;
  const ops::StepInput& input;

  float* value(ops::ValueId id) const { return executable.value(id); }
  int64_t width(ops::ValueId id) const { return executable.program().value(id).width; }
  int64_t n_rows(ops::ValueId id) const {
    return static_cast<int64_t>(executable.program().value(id).rows == ops::Rows::n_tokens
                                    ? input.tokens.size()
                                    : input.output_rows.size());
  }
  int64_t n_tokens() const { return static_cast<int64_t>(input.tokens.size()); }

  // The slice that each row of the step belongs to; filled once per step.
  const int32_t* slice_of_row() const {
    return executable.staging<int32_t>(executable.staging_layout().slices);
  }
  const ops::SliceInput& slice(int64_t row) const {
    return input.slices[static_cast<size_t>(slice_of_row()[row])];
  }
  int64_t position(int64_t row) const {
    const ops::SliceInput& s = slice(row);
    return s.first_position + row - s.first_row;
  }
  const int32_t* block_table(int64_t row, int32_t kv_group) const {
    return slice(row).block_tables[static_cast<size_t>(kv_group)].data();
  }

  // work(begin, end) over [0, n) things of `width` elements each.
  template <typename Work>
  void share(int64_t n, int64_t width, const Work& work) const {
    if (n * width <= kAloneElements || team.n_threads() == 1) {
      if (n > 0) work(int64_t{0}, n);
      return;
    }
    const int64_t grain = std::max<int64_t>(1, kAloneElements / 4 / width);
    team.for_each_chunk(n, grain, [&](int64_t begin, int64_t end, int) { work(begin, end); });
  }
};

// A piece of work reads about this many weight bytes: long against taking it, short against a core
// that is taken away.
inline constexpr int64_t kPieceBytes = 64 * 1024;

// How a product with `weight` is computed: its kernel, and what the kernel reads beside x.
struct Product {
  void (*kernel)(const MatMulArgs&, const MatMulPart&);
  MatMulArgs args;  // without x, quantized and out; of expert 0 where there are several
};
// bias: or kNoWeight.
Product product_with(ops::WeightId weight, ops::WeightId bias, RowsClass rows, const Step& step);

// The products of consecutive MatMuls that read one input, as one piece of work.
// Requires: all read the same x, n <= kMostMatMuls.
inline constexpr size_t kMostMatMuls = 4;
void run_mat_muls(std::span<const ops::MatMul* const> ops, bool quantize, const Step& step);

// Rows [begin, end) of the QuantizedRows of x, of which the step has n_rows.
void quantize_rows(ops::ValueId x, int64_t n_rows, RowRange rows, const Step& step);

// The rows of a step by the experts they go to.  A slot is one of a row's n_used experts:
// row * n_used + its place among them.
struct ExpertOrder {
  std::span<const ExpertRows> groups;  // by expert
  const int32_t* slots = nullptr;      // of all groups, one after the other
};
ExpertOrder order_by_expert(ops::ValueId shares, int64_t n_used, const Step& step);

// The products of consecutive ExpertMatMuls that read one input and the same shares, likewise. Each
// expert's matrix is read once for all rows of the step that use it.  Leaves the QuantizedRows of
// no value behind.
void run_expert_mat_muls(std::span<const ops::ExpertMatMul* const> ops, const ExpertOrder& order,
                         const Step& step);

void run(const ops::Attention& op, const Step& step);
void run(const ops::CausalConv& op, const Step& step);
void run(const ops::DeltaNet& op, const Step& step);
void run(const ops::Lora& op, const Step& step);
void run(const ops::SelectOutputs& op, const Step& step);

// Some rows of the row-wise ops (row_chain.h).
void run_rows(const ops::Embed& op, RowRange rows, const Step& step);
void run_rows(const ops::RmsNorm& op, RowRange rows, const Step& step);
void run_rows(const ops::LayerNorm& op, RowRange rows, const Step& step);
void run_rows(const ops::Rope& op, const RopeUse& use, RowRange rows, const Step& step);
void run_rows(const ops::KvWrite& op, RowRange rows, const Step& step);
void run_rows(const ops::Glu& op, RowRange rows, const Step& step);
void run_rows(const ops::Activate& op, RowRange rows, const Step& step);
void run_rows(const ops::Add& op, RowRange rows, const Step& step);
void run_rows(const ops::Softcap& op, RowRange rows, const Step& step);
void run_rows(const ops::SigmoidGate& op, RowRange rows, const Step& step);
void run_rows(const ops::Pick& op, RowRange rows, const Step& step);
void run_rows(const ops::L2Norm& op, RowRange rows, const Step& step);
void run_rows(const ops::DeltaGates& op, RowRange rows, const Step& step);
void run_rows(const ops::Route& op, RowRange rows, const Step& step);
void run_rows(const ops::ExpertSum& op, RowRange rows, const Step& step);

}  // namespace hwtv::cpu
