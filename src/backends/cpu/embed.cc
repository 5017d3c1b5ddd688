#include "backends/cpu/step.h"
#include "base/check.h"

namespace hwtv::cpu {

namespace {

int64_t table_row(ops::EmbedBy by, int64_t row, const Step& step) {
  switch (by) {
    case ops::EmbedBy::token:
      return step.input.tokens[static_cast<size_t>(row)];
    case ops::EmbedBy::position:
      return step.position(row);
    case ops::EmbedBy::nothing:
      break;
  }
  return 0;
}

}  // namespace

void run_rows(const ops::Embed& op, RowRange rows, const Step& step) {
  const Weight& weight = step.executable.weight(op.weight);
  const int64_t width = weight.decl.width;
  float* const out = step.value(op.out);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const int64_t at = table_row(op.by, row, step);
    CHECK(at >= 0 && at < weight.decl.n_rows);
    read_row(weight, at, out + row * width);
    if (op.scale == 1) continue;
    for (int64_t i = row * width; i < (row + 1) * width; ++i) out[i] *= op.scale;
  }
}

}  // namespace hwtv::cpu
