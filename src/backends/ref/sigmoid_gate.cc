#include <cmath>

#include "backends/ref/kernels.h"

namespace hwtv::ref {

void run(const ops::SigmoidGate& op, const Step& step) {
  const float* x = step.value(op.x);
  const float* gate = step.value(op.gate);
  float* out = step.value(op.out);
  const int64_t n_neighbours = step.width(op.x) / step.width(op.gate);
  const int64_t n = step.n_rows(op.out) * step.width(op.out);
  step.team.for_each_chunk(n, 4096, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i)
      out[i] = static_cast<float>(static_cast<double>(x[i]) /
                                  (1.0 + std::exp(-static_cast<double>(gate[i / n_neighbours]))));
  });
}

}  // namespace hwtv::ref
