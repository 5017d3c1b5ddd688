#include "backends/ref/kernels.h"

namespace hwtv::ref {

void run(const ops::Add& op, const Step& step) {
  const float* a = step.value(op.a);
  const float* b = step.value(op.b);
  float* out = step.value(op.out);
  const int64_t n = step.n_rows(op.out) * step.width(op.out);
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}

}  // namespace hwtv::ref
