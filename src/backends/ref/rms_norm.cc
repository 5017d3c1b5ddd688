#include <cmath>

#include "backends/ref/kernels.h"

namespace hwtv::ref {
namespace {

void normalize(const float* x, const float* weight, int64_t n, float eps, float* out) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  const double factor = 1.0 / std::sqrt(sum / static_cast<double>(n) + static_cast<double>(eps));
  for (int64_t i = 0; i < n; ++i)
    out[i] =
        static_cast<float>(static_cast<double>(x[i]) * factor * static_cast<double>(weight[i]));
}

}  // namespace

void run(const ops::RmsNorm& op, const Step& step) {
  const Weight& weight = step.weight(op.weight);
  const int64_t n = weight.decl.width;
  const float* x = step.value(op.x);
  float* out = step.value(op.out);
  // A row of k * n elements is k groups, one after the other.
  const int64_t n_groups = step.n_rows(op.x) * (step.width(op.x) / n);
  step.team.for_each_chunk(n_groups, 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i)
      normalize(x + i * n, weight.vector(), n, op.eps, out + i * n);
  });
}

}  // namespace hwtv::ref
