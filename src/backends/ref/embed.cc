#include "backends/ref/kernels.h"
#include "base/check.h"

namespace hwtv::ref {

void run(const ops::Embed& op, const Step& step) {
  const Weight& weight = step.weight(op.weight);
  const int64_t width = weight.decl.width;
  float* out = step.value(op.out);  // (n_tokens, width)
  step.team.for_each_chunk(step.n_rows(op.out), 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t token = step.input.tokens[static_cast<size_t>(row)];
      CHECK(token >= 0 && token < weight.decl.n_rows);
      const float* panel = weight.panel(token / kPanelRows) + token % kPanelRows;
      for (int64_t k = 0; k < width; ++k) out[row * width + k] = panel[k * kPanelRows] * op.scale;
    }
  });
}

}  // namespace hwtv::ref
