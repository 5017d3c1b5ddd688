#include <algorithm>
#include <span>

#include "backends/cpu/step.h"
#include "backends/cpu/types.h"

namespace hwtv::cpu {
namespace {

constexpr int64_t kPieceRows = 32;  // of a piece of work: a few passes by each weight tile

// The op in two passes: what each pair's `a` gives of all rows, then the outputs, tile by tile.
class LoraProducts {
 public:
  LoraProducts(const ops::Lora& op, const Step& step)
      : op_(op), step_(step), n_rows_(step.n_rows(op.x)) {}

  void run() const {
    const int64_t n_pieces = (n_rows_ + kPieceRows - 1) / kPieceRows;
    const int64_t n_tiles = (most_rank() + kTileOutputs - 1) / kTileOutputs;
    const int64_t rows = std::min(n_rows_, kPieceRows);
    step_.share(n_pieces * n_tiles, rows * kTileOutputs * step_.width(op_.x),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) reduce(i / n_tiles, i % n_tiles);
                });
    const int64_t n_out_tiles = (step_.width(op_.out) + kTileOutputs - 1) / kTileOutputs;
    step_.share(n_pieces * n_out_tiles, rows * kTileOutputs * (1 + most_rank()),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) expand(i / n_out_tiles, i % n_out_tiles);
                });
  }

 private:
  int64_t most_rank() const {
    int64_t most = 0;
    for (const ops::LoraPair& pair : op_.pairs) most = std::max(most, rank(pair));
    return most;
  }
  int64_t rank(const ops::LoraPair& pair) const {
    return step_.executable.weight(pair.a).decl.n_rows;
  }
  // (n_rows, rank) of the pair: x . a^T
  float* reduced(const ops::LoraPair& pair) const {
    int64_t n_before = 0;
    for (const ops::LoraPair* before = op_.pairs.data(); before != &pair; ++before)
      n_before += rank(*before);
    return step_.executable.staging<float>(step_.executable.staging_layout().lora_rows) +
           n_before * n_rows_;
  }
  const ops::LoraPair* pair_of(int32_t adapter) const {
    for (const ops::LoraPair& pair : op_.pairs)
      if (pair.adapter == adapter) return &pair;
    return nullptr;
  }

  const ops::SliceInput& slice_of(int64_t row) const {
    const bool is_output = step_.executable.program().value(op_.x).rows == ops::Rows::n_outputs;
    return step_.slice(is_output ? step_.input.output_rows[static_cast<size_t>(row)] : row);
  }
  // each(rows, pair) for the rows of one sequence after the other, and each of its pairs in order.
  template <typename Each>
  void for_each_pair(RowRange rows, const Each& each) const {
    for (int64_t begin = rows.begin, end; begin < rows.end; begin = end) {
      const ops::SliceInput& slice = slice_of(begin);
      for (end = begin + 1; end < rows.end && &slice_of(end) == &slice;) ++end;
      for (const int32_t adapter : slice.adapters)
        if (const ops::LoraPair* pair = pair_of(adapter)) each(RowRange{begin, end}, *pair);
    }
  }
  RowRange rows_of(int64_t piece) const {
    return {piece * kPieceRows, std::min((piece + 1) * kPieceRows, n_rows_)};
  }

  // Outputs [out_begin, out_end) of x . rows^T, where n_out rows of the weight begin at first_row.
  // x (n_rows, width), out (n_rows, n_out)
  struct Product {
    const Weight& weight;
    int64_t first_row, n_out;
    const float* x;
    float* out;
  };
  void multiply(const Product& p, int64_t out_begin, int64_t out_end, int64_t n_rows) const {
    const ops::WeightDecl& decl = p.weight.decl;
    const int64_t row_bytes = dtype_bytes(decl.dtype, decl.width);
    const MatMulArgs args = {.weight = p.weight.data() + p.first_row * row_bytes,
                             .row_bytes = row_bytes,
                             .n_in = decl.width,
                             .n_out = p.n_out,
                             .bias = nullptr,
                             .x = p.x,
                             .quantized = {},
                             .out = p.out};
    const auto type = static_cast<size_t>(*weight_type(decl.dtype));
    step_.executable.table().matmul[type](args, {out_begin, out_end, 0, n_rows});
  }

  void reduce(int64_t piece, int64_t tile) const {
    for_each_pair(rows_of(piece), [&](RowRange rows, const ops::LoraPair& pair) {
      const int64_t begin = tile * kTileOutputs, n = rank(pair);
      if (begin >= n) return;
      const Weight& a = step_.executable.weight(pair.a);
      multiply(
          {a, 0, n, step_.value(op_.x) + rows.begin * a.decl.width, reduced(pair) + rows.begin * n},
          begin, std::min(begin + kTileOutputs, n), rows.n());
    });
  }

  void expand(int64_t piece, int64_t tile) const {
    const int64_t n_out = step_.width(op_.out), first = tile * kTileOutputs;
    const int64_t n = std::min(kTileOutputs, n_out - first);
    const RowRange all = rows_of(piece);
    for (int64_t row = all.begin; row < all.end; ++row)
      std::copy_n(step_.value(op_.base) + row * n_out + first, n,
                  step_.value(op_.out) + row * n_out + first);
    for_each_pair(all, [&](RowRange rows, const ops::LoraPair& pair) {
      const Weight& b = step_.executable.weight(pair.b);
      float products[kPieceRows * kTileOutputs];  // (rows, n)
      multiply({b, first, n, reduced(pair) + rows.begin * b.decl.width, products}, 0, n, rows.n());
      for (int64_t row = 0; row < rows.n(); ++row) {
        float* const out = step_.value(op_.out) + (rows.begin + row) * n_out + first;
        for (int64_t i = 0; i < n; ++i) out[i] += pair.scale * products[row * n + i];
      }
    });
  }

  const ops::Lora& op_;
  const Step& step_;
  const int64_t n_rows_;
};

}  // namespace

void run(const ops::Lora& op, const Step& step) { LoraProducts(op, step).run(); }

}  // namespace hwtv::cpu
