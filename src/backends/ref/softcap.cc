#include <cmath>

#include "backends/ref/kernels.h"

namespace hwtv::ref {

void run(const ops::Softcap& op, const Step& step) {
  const float* x = step.value(op.x);
  float* out = step.value(op.out);
  const auto cap = static_cast<double>(op.cap);
  const int64_t n = step.n_rows(op.out) * step.width(op.out);
  step.team.for_each_chunk(n, 4096, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i)
      out[i] = static_cast<float>(cap * std::tanh(static_cast<double>(x[i]) / cap));
  });
}

}  // namespace hwtv::ref
