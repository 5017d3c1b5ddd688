#include "ops/scale_search.h"

namespace hwtv::ops {
namespace {

// The group moved so that it starts at `low`: x = low + y.  Small sums of y lose no digits.
struct Moved {
  const Group& group;
  float low;
  float high;      // of the grid [0, high]
  float most_min;  // of the fit's min, counted from `low`
  double sum_w = 0, sum_wy = 0;
};

struct MovedFit {
  double scale = 0;
  double min = 0;   // counted from `low`
  double gain = 0;  // how much of sum w y^2 it explains
};

// The best scale and min for the sums over one choice of q.
MovedFit solve(const Moved& m, double sum_q, double sum_qq, double sum_yq) {
  const double determinant = m.sum_w * sum_qq - sum_q * sum_q;
  MovedFit fit;
  if (determinant > 1e-9 * m.sum_w * sum_qq)
    fit.min = (sum_qq * m.sum_wy - sum_q * sum_yq) / determinant;
  fit.min = std::min(fit.min, static_cast<double>(m.most_min));
  const double rest_yq = sum_yq - fit.min * sum_q;
  if (sum_qq > 0) fit.scale = rest_yq / sum_qq;
  fit.gain = 2 * fit.min * m.sum_wy - fit.min * fit.min * m.sum_w + fit.scale * rest_yq;
  return fit;
}

// The best fit for the q that (scale, min) = (1 / inverse, low + min) rounds to.
MovedFit affine_at(const Moved& m, float inverse, float min) {
  const IntegerGrid grid{0, m.high};
  Four sum_q{}, sum_qq{}, sum_yq{};
  for (int i = 0; i < m.group.n; i += 4) {
    const Four y = load_four(m.group.x + i) - splat(m.low);
    const Four q = grid.nearest((y - splat(min)) * splat(inverse));
    const Four wq = load_four(m.group.weights + i) * q;
    sum_q += wq;
    sum_qq += wq * q;
    sum_yq += wq * y;
  }
  return solve(m, static_cast<double>(lane_sum(sum_q)), static_cast<double>(lane_sum(sum_qq)),
               static_cast<double>(lane_sum(sum_yq)));
}

}  // namespace

// Candidates: the range of x, narrowed and widened at either end by up to a step or so; then
// alternates between the best q for (scale, min) and the best (scale, min) for those q.
AffineFit fit_affine(const Group& group, float high, Min min) {
  const auto [least, most] = std::minmax_element(group.x, group.x + group.n);
  const float low = min == Min::any ? *least : std::min(*least, 0.0f);
  Moved m{group, low, high, min == Min::any ? INFINITY : -low};
  for (int i = 0; i < group.n; ++i) {
    m.sum_w += static_cast<double>(group.weights[i]);
    m.sum_wy += static_cast<double>(group.weights[i]) * static_cast<double>(group.x[i] - low);
  }
  const float range = *most - low;
  MovedFit best = solve(m, 0, 0, 0);
  if (m.sum_w > 0) best.min = std::min(m.sum_wy / m.sum_w, static_cast<double>(m.most_min));
  best.gain = 2 * best.min * m.sum_wy - best.min * best.min * m.sum_w;
  const auto try_at = [&](float inverse, float from) {
    const MovedFit fit = affine_at(m, inverse, from);
    if (fit.gain > best.gain && fit.scale > 0) best = fit;
  };
  if (range >= kNothing) {
    for (float reach = 0.8f; reach < 1.15f; reach += 0.025f)
      for (const float from : {-0.4f, 0.0f, 0.4f})
        try_at(reach * high / range, from * range / high);
    for (int i = 0; i < 3 && best.scale > 0; ++i)
      try_at(static_cast<float>(1 / best.scale), static_cast<float>(best.min));
  }
  return {static_cast<float>(best.scale), static_cast<float>(best.min + static_cast<double>(low))};
}

float affine_error(const Group& group, float high, float scale, float min) {
  const IntegerGrid grid{0, high};
  const Four inverse = splat(scale > 0 ? 1.0f / scale : 0.0f);
  Four sum{};
  for (int i = 0; i < group.n; i += 4) {
    const Four y = load_four(group.x + i) - splat(min);
    const Four error = y - splat(scale) * grid.nearest(y * inverse);
    sum += load_four(group.weights + i) * error * error;
  }
  return lane_sum(sum);
}

}  // namespace hwtv::ops
