#include <algorithm>
#include <array>

#include "backends/cpu/step.h"
#include "backends/cpu/types.h"

namespace hwtv::cpu {
namespace {

// A piece of work reads about this many weight bytes: long against taking it, short against a core
// that is taken away.
constexpr int64_t kPieceBytes = 64 * 1024;
// Less than this is read by the caller alone: waking the team would cost about as much.
constexpr int64_t kAloneBytes = 32 * 1024;

// One MatMul of the group, cut into parts of part_outputs and kPartRows rows; part i of the group
// is part i - first_part of the member that holds it.
struct Member {
  MatMulArgs args;
  void (*kernel)(const MatMulArgs&, const MatMulPart&);
  int64_t part_outputs;
  int64_t n_out_parts;
  int64_t first_part;
};

Member make_member(const ops::MatMul& op, int64_t n_rows, const Step& step) {
  const Weight& weight = step.executable.weight(op.weight);
  Member member;
  member.args = {.weight = weight.data(),
                 .row_bytes = dtype_bytes(weight.decl.dtype, weight.decl.width),
                 .n_in = weight.decl.width,
                 .n_out = weight.decl.n_rows,
                 .bias = op.bias == ops::kNoWeight ? nullptr : step.executable.vector(op.bias),
                 .x = step.value(op.x),
                 .quantized = step.executable.quantized(n_rows),
                 .out = step.value(op.out)};
  const auto type = static_cast<size_t>(*weight_type(weight.decl.dtype));
  const Kernels& table = step.executable.product_table(op.weight, rows_class(n_rows));
  member.kernel = weight.is_packed ? table.matmul_packed[type] : table.matmul[type];
  member.part_outputs = weight.is_packed && n_rows > 1 ? kPartTiles * kTileOutputs : kTileOutputs;
  member.n_out_parts = (weight.decl.n_rows + member.part_outputs - 1) / member.part_outputs;
  return member;
}

void run_part(const Member& member, int64_t part, int64_t n_rows) {
  const int64_t out = part % member.n_out_parts * member.part_outputs;
  const int64_t row = part / member.n_out_parts * kPartRows;
  member.kernel(member.args, {out, std::min(out + member.part_outputs, member.args.n_out), row,
                              std::min(row + kPartRows, n_rows)});
}

}  // namespace

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
    n_weight_bytes += members[i].args.n_out * members[i].args.row_bytes;
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
