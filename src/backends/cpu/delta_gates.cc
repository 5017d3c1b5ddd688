#include <cmath>

#include "backends/cpu/step.h"

namespace hwtv::cpu {

// A few numbers for each head: not worth a kernel of each instruction set.
void run_rows(const ops::DeltaGates& op, RowRange rows, const Step& step) {
  const int64_t n_heads = step.width(op.alpha);
  const float* const a = step.executable.vector(op.a);
  const float* const dt_bias = step.executable.vector(op.dt_bias);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const float* const alpha = step.value(op.alpha) + row * n_heads;
    const float* const beta = step.value(op.beta) + row * n_heads;
    float* const out = step.value(op.out) + row * 2 * n_heads;
    for (int64_t head = 0; head < n_heads; ++head) {
      const float x = alpha[head] + dt_bias[head];
      const float softplus = std::fmax(x, 0.0f) + std::log1p(std::exp(-std::fabs(x)));
      out[head] = std::exp(a[head] * softplus);
      out[n_heads + head] = 1.0f / (1.0f + std::exp(-beta[head]));
    }
  }
}

}  // namespace hwtv::cpu
