#include "backends/cpu/step.h"
#include "base/check.h"

namespace hwtv::cpu {

void run_rows(const ops::Embed& op, RowRange rows, const Step& step) {
  const Weight& weight = step.executable.weight(op.weight);
  const int64_t width = weight.decl.width;
  float* const out = step.value(op.out);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const int32_t token = step.input.tokens[static_cast<size_t>(row)];
    CHECK(token >= 0 && token < weight.decl.n_rows);
    read_row(weight, token, out + row * width);
    if (op.scale == 1) continue;
    for (int64_t i = row * width; i < (row + 1) * width; ++i) out[i] *= op.scale;
  }
}

}  // namespace hwtv::cpu
