#include <cmath>

#include "backends/cpu/step.h"

namespace hwtv::cpu {

void run_rows(const ops::L2Norm& op, RowRange rows, const Step& step) {
  const int64_t n_heads = step.width(op.x) / op.head_dim;
  for (int64_t head = rows.begin * n_heads; head < rows.end * n_heads; ++head) {
    const float* const x = step.value(op.x) + head * op.head_dim;
    float* const out = step.value(op.out) + head * op.head_dim;
    float sum = op.eps;
    for (int64_t i = 0; i < op.head_dim; ++i) sum += x[i] * x[i];
    const float factor = 1.0f / std::sqrt(sum);
    for (int64_t i = 0; i < op.head_dim; ++i) out[i] = x[i] * factor;
  }
}

}  // namespace hwtv::cpu
