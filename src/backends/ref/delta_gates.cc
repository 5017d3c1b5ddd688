#include <cmath>

#include "backends/ref/kernels.h"

namespace hwtv::ref {

void run(const ops::DeltaGates& op, const Step& step) {
  const int64_t n_heads = step.width(op.alpha);
  const float* a = step.weight(op.a).vector();
  const float* dt_bias = step.weight(op.dt_bias).vector();
  for (int64_t row = 0; row < step.n_rows(op.alpha); ++row) {
    const float* alpha = step.value(op.alpha) + row * n_heads;
    const float* beta = step.value(op.beta) + row * n_heads;
    float* out = step.value(op.out) + row * 2 * n_heads;
    for (int64_t head = 0; head < n_heads; ++head) {
      const double x = static_cast<double>(alpha[head]) + static_cast<double>(dt_bias[head]);
      const double softplus = std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
      out[head] = static_cast<float>(std::exp(static_cast<double>(a[head]) * softplus));
      out[n_heads + head] =
          static_cast<float>(1 / (1 + std::exp(-static_cast<double>(beta[head]))));
    }
  }
}

}  // namespace hwtv::ref
