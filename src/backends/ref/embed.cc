#include "backends/ref/kernels.h"
#include "base/check.h"

namespace hwtv::ref {
namespace {

int64_t table_row(ops::EmbedBy by, int32_t token, int64_t position) {
  switch (by) {
    case ops::EmbedBy::token:
      return token;
    case ops::EmbedBy::position:
      return position;
    case ops::EmbedBy::nothing:
      break;
  }
  return 0;
}

}  // namespace

void run(const ops::Embed& op, const Step& step) {
  const Weight& weight = step.weight(op.weight);
  const int64_t width = weight.decl.width;
  float* out = step.value(op.out);  // (n_tokens, width)
  for (const ops::SliceInput& slice : step.input.slices)
    step.team.for_each_chunk(slice.n_tokens, 16, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = slice.first_row + i;
        const int64_t token_row =
            table_row(op.by, step.input.tokens[static_cast<size_t>(row)], slice.first_position + i);
        CHECK(token_row >= 0 && token_row < weight.decl.n_rows);
        const float* panel = weight.panel(token_row / kPanelRows) + token_row % kPanelRows;
        for (int64_t k = 0; k < width; ++k) out[row * width + k] = panel[k * kPanelRows] * op.scale;
      }
    });
}

}  // namespace hwtv::ref
