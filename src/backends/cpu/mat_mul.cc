#include <algorithm>
#include <array>

#include "backends/cpu/step.h"
#include "backends/cpu/types.h"

namespace hwtv::cpu {
namespace {

// Less than this is read by the caller alone: waking the team would cost about as much.
constexpr int64_t kAloneBytes = 32 * 1024;

// One MatMul of the group, cut into parts of part_outputs and kPartRows rows; part i of the group
// is part i - first_part of the member that holds it.
struct Member {
  Product product;
  int64_t part_outputs;
  int64_t n_out_parts;
  int64_t first_part;
};

Member make_member(const ops::MatMul& op, int64_t n_rows, const Step& step) {
  const Weight& weight = step.executable.weight(op.weight);
  Member member;
  member.product = product_with(op.weight, op.bias, rows_class(n_rows), step);
  member.product.args.x = step.value(op.x);
  member.product.args.quantized = step.executable.quantized(n_rows);
  member.product.args.out = step.value(op.out);
  member.part_outputs = weight.is_packed && n_rows > 1 ? kPartTiles * kTileOutputs : kTileOutputs;
  member.n_out_parts = (weight.decl.n_rows + member.part_outputs - 1) / member.part_outputs;
  return member;
}

void run_part(const Member& member, int64_t part, int64_t n_rows) {
  const int64_t out = part % member.n_out_parts * member.part_outputs;
  const int64_t row = part / member.n_out_parts * kPartRows;
  const MatMulArgs& args = member.product.args;
  member.product.kernel(args, {out, std::min(out + member.part_outputs, args.n_out), row,
                               std::min(row + kPartRows, n_rows)});
}

}  // namespace

Product product_with(ops::WeightId weight_id, ops::WeightId bias, RowsClass rows,
                     const Step& step) {
  const Weight& weight = step.executable.weight(weight_id);
  const Kernels& table = step.executable.product_table(weight_id, rows);
  const auto type = static_cast<size_t>(*weight_type(weight.decl.dtype));
  Product product = {};
  product.kernel = weight.is_packed ? table.matmul_packed[type] : table.matmul[type];
  product.args.weight = weight.data();
  product.args.row_bytes = dtype_bytes(weight.decl.dtype, weight.decl.width);
  product.args.n_in = weight.decl.width;
  product.args.n_out = weight.decl.n_rows;
  product.args.bias = bias == ops::kNoWeight ? nullptr : step.executable.vector(bias);
  return product;
}

void quantize_rows(ops::ValueId x, int64_t n_rows, RowRange rows, const Step& step) {
  step.executable.table().quantize(step.value(x), step.width(x), rows.begin, rows.end,
                                   step.executable.quantized(n_rows));
}

void run_mat_muls(std::span<const ops::MatMul* const> ops, bool quantize, const Step& step) {
  const int64_t n_rows = step.n_rows(ops[0]->x);
  if (n_rows == 0) return;
  if (quantize)
    step.share(n_rows, step.width(ops[0]->x), [&](int64_t begin, int64_t end) {
      quantize_rows(ops[0]->x, n_rows, {begin, end}, step);
    });
  std::array<Member, kMostMatMuls> members;
  const int64_t n_row_parts = (n_rows + kPartRows - 1) / kPartRows;
  int64_t n_parts = 0, n_weight_bytes = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    members[i] = make_member(*ops[i], n_rows, step);
    members[i].first_part = n_parts;
    n_parts += members[i].n_out_parts * n_row_parts;
    const MatMulArgs& args = members[i].product.args;
    n_weight_bytes += args.n_out * args.row_bytes;
  }
  const auto work = [&](int64_t begin, int64_t end) {
    size_t m = 0;
    for (int64_t part = begin; part < end; ++part) {
      while (m + 1 < ops.size() && part >= members[m + 1].first_part) ++m;
      run_part(members[m], part - members[m].first_part, n_rows);
    }
  };
  // Both kinds of work: bytes read once, and a few rows' arithmetic on each of them.
  const int64_t rows_cost = std::min<int64_t>(n_rows, 8);
  const int64_t part_bytes = std::max<int64_t>(1, n_weight_bytes * n_row_parts / n_parts);
  if (step.team.n_threads() == 1 || n_weight_bytes <= kAloneBytes / rows_cost)
    return work(0, n_parts);
  const int64_t grain = std::clamp<int64_t>(kPieceBytes / rows_cost / part_bytes, 1,
                                            1 + n_parts / (4 * step.team.n_threads()));
  step.team.for_each_chunk(n_parts, grain,
                           [&](int64_t begin, int64_t end, int) { work(begin, end); });
}

}  // namespace hwtv::cpu
