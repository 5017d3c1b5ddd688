#include <algorithm>
#include <cmath>
#include <numbers>

#include "backends/ref/kernels.h"

namespace hwtv::ref {
namespace {

double activate(ops::Activation activation, double x) {
  switch (activation) {
    case ops::Activation::silu:
      return x / (1.0 + std::exp(-x));
    case ops::Activation::gelu_tanh:  // Hendrycks & Gimpel 2016
      return 0.5 * x *
             (1.0 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case ops::Activation::gelu:
      return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    case ops::Activation::clamped_swish: {  // OpenAI 2025
      const double gate = std::min(x, 7.0);
      return gate / (1.0 + std::exp(-1.702 * gate));
    }
  }
  return 0;
}

double glu(ops::Activation activation, double gate, double up) {
  if (activation == ops::Activation::clamped_swish) up = std::clamp(up, -7.0, 7.0) + 1.0;
  return activate(activation, gate) * up;
}

}  // namespace

void run(const ops::Glu& op, const Step& step) {
  const float* gate = step.value(op.gate);
  const float* up = step.value(op.up);
  float* out = step.value(op.out);
  const int64_t n = step.n_rows(op.out) * step.width(op.out);
  step.team.for_each_chunk(n, 4096, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i)
      out[i] = static_cast<float>(
          glu(op.activation, static_cast<double>(gate[i]), static_cast<double>(up[i])));
  });
}

void run(const ops::Activate& op, const Step& step) {
  const float* x = step.value(op.x);
  float* out = step.value(op.out);
  const int64_t n = step.n_rows(op.out) * step.width(op.out);
  step.team.for_each_chunk(n, 4096, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i)
      out[i] = static_cast<float>(activate(op.activation, static_cast<double>(x[i])));
  });
}

}  // namespace hwtv::ref
