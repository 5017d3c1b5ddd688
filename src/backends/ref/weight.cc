#include "backends/ref/weight.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "ops/dequantize.h"

namespace hwtv::ref {
namespace {

// Dequantizes the rows of one panel of the matrix at `bytes`.  row: room for `width` floats.
void fill_panel(const ops::WeightDecl& decl, const std::byte* bytes, int64_t panel, float* row,
                float* out) {
  const int64_t row_bytes = dtype_bytes(decl.dtype, decl.width);
  for (int64_t lane = 0; lane < kPanelRows; ++lane) {
    const int64_t n = panel * kPanelRows + lane;
    if (n < decl.n_rows)
      ops::dequantize_row(decl.dtype, bytes + n * row_bytes, row, decl.width);
    else
      std::fill_n(row, decl.width, 0.0f);
    for (int64_t k = 0; k < decl.width; ++k) out[k * kPanelRows + lane] = row[k];
  }
}

}  // namespace

bool is_vector(ops::WeightRole role) {
  return role == ops::WeightRole::norm || role == ops::WeightRole::bias ||
         role == ops::WeightRole::sinks || role == ops::WeightRole::rope_factors ||
         role == ops::WeightRole::convolution;
}

int64_t weight_bytes(const ops::WeightDecl& decl) {
  const int64_t n_rows =
      is_vector(decl.role) ? decl.n_rows : (decl.n_rows + kPanelRows - 1) / kPanelRows * kPanelRows;
  return decl.n_experts * n_rows * decl.width * static_cast<int64_t>(sizeof(float));
}

Result<Weight> load_weight(const ops::WeightDecl& decl, std::span<const std::byte> bytes,
                           ThreadTeam& team, hw::Ledger& ledger) {
  CHECK(static_cast<int64_t>(bytes.size()) == decl.n_bytes());
  Weight weight{decl, {}};
  HWTV_TRY(weight.buffer,
           hw::Buffer::allocate(ledger, hw::Use::packed_weights, decl.name, weight_bytes(decl)));
  if (is_vector(decl.role)) {
    ops::dequantize_row(decl.dtype, bytes.data(), weight.buffer.floats(), decl.n_rows * decl.width);
    return weight;
  }
  const int64_t n_panels = decl.n_experts * weight.n_panels();
  team.for_each_chunk(n_panels, 16, [&](int64_t begin, int64_t end, int) {
    std::vector<float> row(static_cast<size_t>(decl.width));
    for (int64_t panel = begin; panel < end; ++panel)
      fill_panel(decl, bytes.data() + panel / weight.n_panels() * decl.matrix_bytes(),
                 panel % weight.n_panels(), row.data(),
                 weight.buffer.floats() + panel * decl.width * kPanelRows);
  });
  return weight;
}

}  // namespace hwtv::ref
