#include <algorithm>

#include "backends/ref/kernels.h"

namespace hwtv::ref {

void run(const ops::Pick& op, const Step& step) {
  const float* x = step.value(op.x) + op.first;
  float* out = step.value(op.out);
  const int64_t n_pieces = step.n_rows(op.x) * step.width(op.x) / op.stride;
  for (int64_t i = 0; i < n_pieces; ++i) std::copy_n(x + i * op.stride, op.n, out + i * op.n);
}

}  // namespace hwtv::ref
