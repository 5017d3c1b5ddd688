// RmsNorm, LayerNorm, Rope, Glu, Activate, Add, Softcap and SigmoidGate.  After simd_*_inl.h.
#pragma once
#include <cstdint>

#include "backends/cpu/kernels.h"

namespace hwtv::cpu {
namespace {

// e^x to about 2 units in the last place: 2^n times a polynomial on [-ln 2 / 2, ln 2 / 2] (the
// Taylor series to x^7, whose rest there is 3e-9).  Below -87 it stays at e^-87.
struct ExpParts {  // e^x = 2^n (1 + r q)
  I n;
  F r, q;
};
HWTV_INLINE ExpParts exp_parts(F x) {
  x = min_f(max_f(x, set_f(-87.0f)), set_f(88.0f));
  const I n = round_i(mul_f(x, set_f(0x1.715476p+0f)));  // log2 e
  const F whole = to_float(n);
  F r = madd_f(whole, set_f(-0x1.62e4p-1f), x);  // ln 2 in two parts, the first exact times n
  r = madd_f(whole, set_f(-0x1.7f7d1cp-20f), r);
  F p = set_f(1.0f / 5040);
  p = madd_f(p, r, set_f(1.0f / 720));
  p = madd_f(p, r, set_f(1.0f / 120));
  p = madd_f(p, r, set_f(1.0f / 24));
  p = madd_f(p, r, set_f(1.0f / 6));
  p = madd_f(p, r, set_f(0.5f));
  return {n, r, madd_f(p, r, set_f(1.0f))};
}
HWTV_INLINE F exp_f(F x) {
  const ExpParts e = exp_parts(x);
  return scale_by_power(madd_f(e.q, e.r, set_f(1.0f)), e.n);
}
HWTV_INLINE float exp_scalar(float x) {
  float lanes[kLanes];
  store_f(lanes, exp_f(set_f(x)));
  return lanes[0];
}

static void rms_norm(const float* x, const float* weight, float eps, int64_t n_groups, int64_t width,
                     float* out) {
  for (int64_t g = 0; g < n_groups; ++g, x += width, out += width) {
    F squares = set_f(0);
    int64_t i = 0;
    for (; i + kLanes <= width; i += kLanes) {
      const F v = load_f(x + i);
      squares = madd_f(v, v, squares);
    }
    if (i < width) {
      const F v = load_n(x + i, width - i);
      squares = madd_f(v, v, squares);
    }
    const float mean = sum_f(squares) / static_cast<float>(width);
    const F factor = set_f(1.0f / __builtin_sqrtf(mean + eps));
    for (i = 0; i + kLanes <= width; i += kLanes)
      store_f(out + i, mul_f(mul_f(load_f(x + i), factor), load_f(weight + i)));
    if (i < width)
      store_n(out + i, mul_f(mul_f(load_n(x + i, width - i), factor), load_n(weight + i, width - i)),
              width - i);
  }
}

static void layer_norm(const float* x, const float* weight, const float* bias, float eps,
                       int64_t n_rows, int64_t width, float* out) {
  for (int64_t row = 0; row < n_rows; ++row, x += width, out += width) {
    F sum = set_f(0);
    for (int64_t i = 0; i < width; i += kLanes) {
      const int64_t n = width - i < kLanes ? width - i : kLanes;
      sum = add_f(sum, load_n(x + i, n));
    }
    const F mean = set_f(sum_f(sum) / static_cast<float>(width));
    F squares = set_f(0);
    for (int64_t i = 0; i < width; i += kLanes) {
      const int64_t n = width - i < kLanes ? width - i : kLanes;
      store_n(out + i, sub_f(load_n(x + i, n), mean), n);
      const F distance = load_n(out + i, n);
      squares = madd_f(distance, distance, squares);
    }
    const F factor =
        set_f(1.0f / __builtin_sqrtf(sum_f(squares) / static_cast<float>(width) + eps));
    for (int64_t i = 0; i < width; i += kLanes) {
      const int64_t n = width - i < kLanes ? width - i : kLanes;
      const F normal = mul_f(load_n(out + i, n), factor);
      store_n(out + i, madd_f(normal, load_n(weight + i, n), load_n(bias + i, n)), n);
    }
  }
}

static void rope(const RopeArgs& args, const float* x, const float* cosines, const float* sines,
                 float* out) {
  const int64_t n_pairs = args.n_rotated / 2;
  for (int64_t head = 0; head < args.n_heads; ++head, x += args.head_dim, out += args.head_dim) {
    if (args.pairs == RopePairs::adjacent) {
      for (int64_t i = 0; i < n_pairs; ++i) {
        const float a = x[2 * i], b = x[2 * i + 1];
        out[2 * i] = a * cosines[i] - b * sines[i];
        out[2 * i + 1] = a * sines[i] + b * cosines[i];
      }
    } else {
      for (int64_t i = 0; i < n_pairs; ++i) {
        const float a = x[i], b = x[i + n_pairs];
        out[i] = a * cosines[i] - b * sines[i];
        out[i + n_pairs] = a * sines[i] + b * cosines[i];
      }
    }
    for (int64_t i = args.n_rotated; i < args.head_dim; ++i) out[i] = x[i];
  }
}

HWTV_INLINE F sigmoid_times(F x, F exponent) {  // x * sigmoid(exponent)
  return div_f(x, add_f(set_f(1.0f), exp_f(sub_f(set_f(0), exponent))));
}

// x / 2 * (1 + erf(x / sqrt 2)) = max(x, 0) - |x| / 2 * erfc(|x| / sqrt 2), with erfc by [Abramowitz &
// Stegun 1964, 7.1.26], to 1.5e-7.
HWTV_INLINE F gelu_f(F x) {
  const F size = abs_f(x);
  const F t = div_f(set_f(1), madd_f(size, set_f(0.3275911f * 0.70710678f), set_f(1)));
  F p = set_f(1.061405429f);
  p = madd_f(p, t, set_f(-1.453152027f));
  p = madd_f(p, t, set_f(1.421413741f));
  p = madd_f(p, t, set_f(-0.284496736f));
  p = madd_f(p, t, set_f(0.254829592f));
  const F power = exp_f(mul_f(mul_f(size, size), set_f(-0.5f)));
  const F rest = mul_f(mul_f(mul_f(p, t), power), mul_f(size, set_f(0.5f)));
  return sub_f(max_f(x, set_f(0)), rest);
}

HWTV_INLINE F activate(GluKind kind, F x) {
  if (kind == GluKind::gelu) return gelu_f(x);
  F exponent = x;  // x * sigmoid(exponent)
  if (kind == GluKind::gelu_tanh) {
    // x / 2 * (1 + tanh u) = x * sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3)
    const F cube = mul_f(mul_f(x, x), x);
    exponent = mul_f(set_f(1.5957691216f), madd_f(set_f(0.044715f), cube, x));
  }
  if (kind == GluKind::clamped_swish) {
    x = min_f(x, set_f(7.0f));
    exponent = mul_f(set_f(1.702f), x);
  }
  return sigmoid_times(x, exponent);
}
HWTV_INLINE F gated(GluKind kind, F gate, F up) {
  if (kind == GluKind::clamped_swish)
    up = add_f(min_f(max_f(up, set_f(-7.0f)), set_f(7.0f)), set_f(1.0f));
  return mul_f(activate(kind, gate), up);
}

static void glu(GluKind kind, const float* gate, const float* up, int64_t n, float* out) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    store_f(out + i, gated(kind, load_f(gate + i), load_f(up + i)));
  if (i < n) store_n(out + i, gated(kind, load_n(gate + i, n - i), load_n(up + i, n - i)), n - i);
}

static void activate_all(GluKind kind, const float* x, int64_t n, float* out) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store_f(out + i, activate(kind, load_f(x + i)));
  if (i < n) store_n(out + i, activate(kind, load_n(x + i, n - i)), n - i);
}

// cap * tanh(x / cap), by tanh u = (e^2u - 1) / (e^2u + 1).  e^2u - 1 is put together so that it
// keeps its digits where it is small.
HWTV_INLINE F softcap_f(F x, float cap) {
  const ExpParts e = exp_parts(mul_f(x, set_f(2.0f / cap)));
  const F power = scale_by_power(set_f(1.0f), e.n);
  const F less_one = madd_f(power, mul_f(e.r, e.q), sub_f(power, set_f(1.0f)));
  return mul_f(set_f(cap), div_f(less_one, add_f(less_one, set_f(2.0f))));
}

static void softcap(const float* x, float cap, int64_t n, float* out) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store_f(out + i, softcap_f(load_f(x + i), cap));
  if (i < n) store_n(out + i, softcap_f(load_n(x + i, n - i), cap), n - i);
}

static void sigmoid_gate(const float* x, const float* gate, int64_t n_gates, int64_t n_neighbours,
                         float* out) {
  for (int64_t g = 0; g < n_gates; g += kLanes) {
    const int64_t n = n_gates - g < kLanes ? n_gates - g : kLanes;
    const F exponents = load_n(gate + g, n);
    if (n_neighbours == 1) {
      store_n(out + g, sigmoid_times(load_n(x + g, n), exponents), n);
      continue;
    }
    float factors[kLanes];
    store_f(factors, sigmoid_times(set_f(1.0f), exponents));
    for (int64_t i = g * n_neighbours; i < (g + n) * n_neighbours; ++i)
      out[i] = x[i] * factors[i / n_neighbours - g];
  }
}

static void add(const float* a, const float* b, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}

}  // namespace
}  // namespace hwtv::cpu
