#include <cmath>

#include "backends/ref/kernels.h"

namespace hwtv::ref {

void run(const ops::L2Norm& op, const Step& step) {
  const int64_t n_heads = step.n_rows(op.x) * step.width(op.x) / op.head_dim;
  step.team.for_each_chunk(n_heads, 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t head = begin; head < end; ++head) {
      const float* x = step.value(op.x) + head * op.head_dim;
      float* out = step.value(op.out) + head * op.head_dim;
      double sum = static_cast<double>(op.eps);
      for (int64_t i = 0; i < op.head_dim; ++i)
        sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
      for (int64_t i = 0; i < op.head_dim; ++i)
        out[i] = static_cast<float>(static_cast<double>(x[i]) / std::sqrt(sum));
    }
  });
}

}  // namespace hwtv::ref
