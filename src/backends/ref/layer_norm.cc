#include <cmath>

#include "backends/ref/kernels.h"

namespace hwtv::ref {
namespace {

void normalize(const float* x, const float* weight, const float* bias, int64_t n, float eps,
               float* out) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]);
  const double mean = sum / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) {
    const double distance = static_cast<double>(x[i]) - mean;
    squares += distance * distance;
  }
  const double factor =
      1.0 / std::sqrt(squares / static_cast<double>(n) + static_cast<double>(eps));
  for (int64_t i = 0; i < n; ++i)
    out[i] = static_cast<float>((static_cast<double>(x[i]) - mean) * factor *
                                    static_cast<double>(weight[i]) +
                                static_cast<double>(bias[i]));
}

}  // namespace

void run(const ops::LayerNorm& op, const Step& step) {
  const int64_t n = step.width(op.x);
  const float* x = step.value(op.x);
  float* out = step.value(op.out);
  step.team.for_each_chunk(step.n_rows(op.x), 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i)
      normalize(x + i * n, step.weight(op.weight).vector(), step.weight(op.bias).vector(), n,
                op.eps, out + i * n);
  });
}

}  // namespace hwtv::ref
