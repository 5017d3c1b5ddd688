#include <algorithm>
#include <array>

#include "backends/cpu/step.h"
#include "backends/cpu/types.h"

namespace hwtv::cpu {
namespace {

// The QuantizedRows that begin n_rows rows further, at the start of a block.
QuantizedRows from_row(const QuantizedRows& rows, int64_t n_in, int64_t n_rows) {
  return {rows.quants + n_rows * n_in, rows.scales + n_rows * n_in / 32,
          rows.sums + n_rows * n_in / 16, rows.block_rows};
}

// The QuantizedRows whose row 0 is row `row` of these.
QuantizedRows at_row(const QuantizedRows& rows, int64_t n_in, int64_t row) {
  const int64_t lane = row % rows.block_rows;
  const QuantizedRows block = from_row(rows, n_in, row - lane);
  return {block.quants + 32 * lane, block.scales + lane, block.sums + lane, block.block_rows};
}

// One ExpertMatMul, cut into parts of part_outputs outputs of one group of rows.
struct Member {
  Product product;
  int64_t matrix_bytes;
  int64_t part_outputs;
  int64_t n_out_parts;
  int64_t first_part;
};

class ExpertProducts {
 public:
  ExpertProducts(std::span<const ops::ExpertMatMul* const> ops, const ExpertOrder& order,
                 const Step& step)
      : ops_(ops), order_(order), step_(step), n_used_(ops[0]->n_used) {
    const Weight& weight = step.executable.weight(ops[0]->weight);
    n_in_ = weight.decl.width;
    n_rows_ = step.n_rows(ops[0]->x);
    slots_share_x_ = step.width(ops[0]->x) == n_in_;
  }

  void run() {
    bool reads_quantized = false;
    for (size_t i = 0; i < ops_.size(); ++i) {
      members_[i] = make_member(*ops_[i]);
      members_[i].first_part = n_parts_;
      n_parts_ += members_[i].n_out_parts * n_groups();
      const Weight& weight = step_.executable.weight(ops_[i]->weight);
      reads_quantized |= is_quantized(weight.decl.dtype);
    }
    if (reads_quantized) gathers() ? quantize_by_expert() : quantize_in_place();
    multiply();
  }

 private:
  int64_t n_groups() const { return static_cast<int64_t>(order_.groups.size()); }
  int64_t x_row(int32_t slot) const { return slots_share_x_ ? slot / n_used_ : slot; }
  const float* x() const { return step_.value(ops_[0]->x); }

  // Whether a group's rows are put side by side in blocks, so that each piece of its matrix is
  // taken apart once for all of them.  Else they are multiplied one by one where they lie, and a
  // piece of the matrix stays in the cache between them.
  bool gathers() const {
    return n_rows_ > 1 && step_.executable.quantized(n_rows_).block_rows == kBlockRows;
  }

  Member make_member(const ops::ExpertMatMul& op) const {
    const Weight& weight = step_.executable.weight(op.weight);
    Member member;
    const bool side_by_side = weight.is_packed && gathers();
    member.product =
        product_with(op.weight, op.bias, side_by_side ? RowsClass::many : RowsClass::one, step_);
    MatMulArgs& args = member.product.args;
    args.x = x();
    args.quantized = step_.executable.quantized(1);
    args.out = step_.value(op.out);
    member.matrix_bytes = weight.matrix_bytes();
    member.part_outputs = side_by_side ? kPartTiles * kTileOutputs : kTileOutputs;
    member.n_out_parts = (args.n_out + member.part_outputs - 1) / member.part_outputs;
    return member;
  }

  // A group's rows: a single one by itself, more in blocks.
  QuantizedRows rows_of(const ExpertRows& group) const {
    QuantizedRows rows = from_row(step_.executable.quantized(1), n_in_, group.place);
    rows.block_rows = group.n_rows == 1 ? 1 : kBlockRows;
    return rows;
  }

  void quantize_by_expert() const {
    const auto quantize = step_.executable.table().quantize;
    const int64_t group_width = n_in_ * (1 + n_rows_ * n_used_ / n_groups());
    step_.share(n_groups(), group_width, [&](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        const ExpertRows& group = order_.groups[static_cast<size_t>(g)];
        const QuantizedRows rows = rows_of(group);
        for (int64_t i = 0; i < group.n_rows; ++i)
          quantize(x() + x_row(order_.slots[group.first + i]) * n_in_, n_in_, 0, 1,
                   at_row(rows, n_in_, i));
      }
    });
  }

  void quantize_in_place() const {
    const int64_t n = slots_share_x_ ? n_rows_ : n_rows_ * n_used_;
    step_.share(n, n_in_, [&](int64_t begin, int64_t end) {
      step_.executable.table().quantize(x(), n_in_, begin, end, step_.executable.quantized(1));
    });
  }

  void multiply() const {
    int64_t group_bytes = 0;
    for (size_t i = 0; i < ops_.size(); ++i) group_bytes += members_[i].matrix_bytes;
    const auto work = [&](int64_t begin, int64_t end) {
      size_t m = 0;
      for (int64_t part = begin; part < end; ++part) {
        while (m + 1 < ops_.size() && part >= members_[m + 1].first_part) ++m;
        run_part(members_[m], part - members_[m].first_part);
      }
    };
    const int64_t group_rows = std::max<int64_t>(1, n_rows_ * n_used_ / n_groups());
    const int64_t part_bytes = std::max<int64_t>(1, group_bytes * n_groups() / n_parts_);
    if (step_.team.n_threads() == 1) return work(0, n_parts_);
    const int64_t grain =
        std::clamp<int64_t>(kPieceBytes / std::min<int64_t>(group_rows, 8) / part_bytes, 1,
                            1 + n_parts_ / (4 * step_.team.n_threads()));
    step_.team.for_each_chunk(n_parts_, grain,
                              [&](int64_t begin, int64_t end, int) { work(begin, end); });
  }

  void run_part(const Member& member, int64_t part) const {
    const ExpertRows& group = order_.groups[static_cast<size_t>(part / member.n_out_parts)];
    const int64_t out = part % member.n_out_parts * member.part_outputs;
    MatMulArgs args = member.product.args;
    const int64_t out_end = std::min(out + member.part_outputs, args.n_out);
    args.weight += group.expert * member.matrix_bytes;
    if (args.bias) args.bias += group.expert * args.n_out;
    const int32_t* const slots = order_.slots + group.first;
    if (member.part_outputs > kTileOutputs) {
      args.quantized = rows_of(group);
      args.out_rows = slots;
      return member.product.kernel(args, {out, out_end, 0, group.n_rows});
    }
    for (int64_t i = 0; i < group.n_rows; ++i) {
      args.x = member.product.args.x + x_row(slots[i]) * n_in_;
      args.quantized = from_row(member.product.args.quantized, n_in_, x_row(slots[i]));
      args.out = member.product.args.out + slots[i] * args.n_out;
      member.product.kernel(args, {out, out_end, 0, 1});
    }
  }

  const std::span<const ops::ExpertMatMul* const> ops_;
  const ExpertOrder& order_;
  const Step& step_;
  const int64_t n_used_;
  int64_t n_in_ = 0;
  int64_t n_rows_ = 0;
  bool slots_share_x_ = false;  // all slots of a row multiply one row of x
  std::array<Member, kMostMatMuls> members_;
  int64_t n_parts_ = 0;
};

}  // namespace

ExpertOrder order_by_expert(ops::ValueId shares, int64_t n_used, const Step& step) {
  const StagingLayout& layout = step.executable.staging_layout();
  auto* const ends = step.executable.staging<int32_t>(layout.expert_counts);
  auto* const groups = step.executable.staging<ExpertRows>(layout.expert_groups);
  auto* const slots = step.executable.staging<int32_t>(layout.expert_slots);
  const int64_t n_rows = step.n_rows(shares), n_experts = step.width(shares);
  const float* const all = step.value(shares);
  std::fill_n(ends, n_experts, 0);
  for (int64_t row = 0; row < n_rows; ++row)
    for (int64_t expert = 0; expert < n_experts; ++expert)
      ends[expert] += all[row * n_experts + expert] != 0;
  size_t n_groups = 0;
  int64_t first = 0, place = 0;
  for (int64_t expert = 0; expert < n_experts; ++expert) {
    const int64_t end = first + ends[expert];
    ends[expert] = static_cast<int32_t>(first);  // and moves on as its slots are filled in
    while (first < end) {
      const int64_t n = std::min(end - first, kPartRows);
      groups[n_groups++] = {static_cast<int32_t>(expert), static_cast<int32_t>(first),
                            static_cast<int32_t>(n), static_cast<int32_t>(place)};
      first += n;
      place += n == 1 ? 1 : round_up(n, kBlockRows);
    }
  }
  for (int64_t row = 0; row < n_rows; ++row) {
    auto slot = static_cast<int32_t>(row * n_used);
    for (int64_t expert = 0; expert < n_experts; ++expert)
      if (all[row * n_experts + expert] != 0) slots[ends[expert]++] = slot++;
  }
  return {{groups, n_groups}, slots};
}

void run_expert_mat_muls(std::span<const ops::ExpertMatMul* const> ops, const ExpertOrder& order,
                         const Step& step) {
  if (!order.groups.empty()) ExpertProducts(ops, order, step).run();
}

}  // namespace hwtv::cpu
