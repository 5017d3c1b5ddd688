// The search that every careful quantizer shares: which scale, or scale and min, loses least of a
// group of elements, by weighted least squares over candidates.  For ops/quantize_*.cc only.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/half.h"

namespace hwtv::ops {

// Four floats, lane by lane (a GCC and clang extension; SSE, NEON).
using Four [[gnu::vector_size(16)]] = float;

inline Four load_four(const float* p) {
  Four four;
  std::memcpy(&four, p, sizeof(four));
  return four;
}
inline Four splat(float x) { return Four{x, x, x, x}; }
inline float lane_sum(Four v) { return (v[0] + v[1]) + (v[2] + v[3]); }

// Below this magnitude no scale that is a half can give anything nearer than zero.
inline constexpr float kNothing = 0x1p-25f;

// A scale as a half; what is too large for one becomes the largest.
inline uint16_t half_of(float scale) {
  return float_to_half(std::clamp(scale, -65504.0f, 65504.0f));
}

// Elements that share a scale, and what the error of each counts.
struct Group {
  const float* x;        // (n)
  const float* weights;  // (n), each >= 0
  int n;                 // a multiple of 4
};

// The whole numbers in [low, high].
struct IntegerGrid {
  float low, high;

  Four nearest(Four v) const {
    v = v < splat(low) ? splat(low) : v;
    v = v > splat(high) ? splat(high) : v;
    // Adding 1.5 * 2^23 leaves no room for a fraction: the sum is rounded to nearest even.
    return (v + splat(0x1.8p23f)) - splat(0x1.8p23f);
  }
};

// x ~ scale * q.
struct ScaleFit {
  float scale = 0;
  float gain = 0;  // how much of sum w x^2 it explains: the more, the smaller the error
};

// The best scale for the q that 1 / scale = `inverse` rounds to.
template <typename Grid>
ScaleFit scale_at(const Group& group, const Grid& grid, float inverse) {
  Four xq{}, qq{};
  for (int i = 0; i < group.n; i += 4) {
    const Four x = load_four(group.x + i);
    const Four q = grid.nearest(x * splat(inverse));
    const Four wq = load_four(group.weights + i) * q;
    xq += wq * x;
    qq += wq * q;
  }
  const float sum_xq = lane_sum(xq), sum_qq = lane_sum(qq);
  if (!(sum_qq > 0)) return {};
  return {sum_xq / sum_qq, sum_xq * sum_xq / sum_qq};
}

// The element of largest magnitude, with its sign.
inline float extreme_of(const Group& group) {
  float extreme = 0;
  for (int i = 0; i < group.n; ++i)
    if (std::fabs(group.x[i]) > std::fabs(extreme)) extreme = group.x[i];
  return extreme;
}

// Which scales are tried: those that put the extreme element at a share of one end of the grid.
struct ScaleSearch {
  float from, to;    // that share
  bool both_ends;    // or only the low one
  int n_alternated;  // then so often the best scale for the best q of the last one
};
// The smallest error, wherever it lies: the extreme element may be cut by a fifth.
inline constexpr ScaleSearch kFreeSearch = {0.8f, 1.12f, true, 2};
// The extreme element is kept within a twentieth.
inline constexpr ScaleSearch kWholeSearch = {0.945f, 1.055f, false, 0};

template <typename Grid>
ScaleFit fit_scale(const Group& group, const Grid& grid, const ScaleSearch& search = kFreeSearch) {
  constexpr int kSteps = 20;
  const float extreme = extreme_of(group);
  ScaleFit best;
  if (std::fabs(extreme) < kNothing) return best;
  const auto try_inverse = [&](float inverse) {
    const ScaleFit fit = scale_at(group, grid, inverse);
    if (fit.gain > best.gain) best = fit;
  };
  for (int step = 0; step <= kSteps; ++step) {
    const float share =
        search.from + (search.to - search.from) / kSteps * static_cast<float>(step);
    try_inverse(share * grid.low / extreme);
    if (search.both_ends) try_inverse(share * grid.high / extreme);
  }
  for (int i = 0; i < search.n_alternated && best.scale != 0; ++i) try_inverse(1.0f / best.scale);
  return best;
}

// sum w (x - scale * q)^2 with the best q.
template <typename Grid>
float scale_error(const Group& group, const Grid& grid, float scale) {
  const Four inverse = splat(scale == 0 ? 0.0f : 1.0f / scale);
  Four sum{};
  for (int i = 0; i < group.n; i += 4) {
    const Four x = load_four(group.x + i);
    const Four error = x - splat(scale) * grid.nearest(x * inverse);
    sum += load_four(group.weights + i) * error * error;
  }
  return lane_sum(sum);
}

// x ~ scale * q + min, q whole in [0, high].
struct AffineFit {
  float scale = 0;
  float min = 0;
};

// Whether `min` may be positive: Q4_1 stores it with its sign, the K types what is subtracted.
enum class Min { any, at_most_zero };

AffineFit fit_affine(const Group& group, float high, Min min);

// sum w (x - scale * q - min)^2 with the best q.
float affine_error(const Group& group, float high, float scale, float min);

}  // namespace hwtv::ops
