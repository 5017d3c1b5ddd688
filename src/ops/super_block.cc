#include "ops/super_block.h"

#include <cmath>

namespace hwtv::ops {
namespace {

// Choosing the groups' whole numbers for given units, then better units for those, and so on. Gains
// are small after the second round.
constexpr int kRounds = 4;

Group group_of(const float* x, const float* weights, int n, int index) {
  return {x + index * n, weights + index * n, n};
}

int whole(float v, int low, int high) {
  return std::clamp(static_cast<int>(std::lround(std::clamp(v, -1e6f, 1e6f))), low, high);
}

float ratio(float a, float b) { return b == 0 ? 0.0f : a / b; }

// Sums over a block that the best units follow from: a = s * q, b = m.
struct AffineSums {
  double aa = 0, ab = 0, bb = 0, xa = 0, xb = 0;

  void add(const Group& group, int quant_high, float s, float m, float scale, float min) {
    const IntegerGrid grid{0, static_cast<float>(quant_high)};
    const float step = scale * s;
    const Four inverse = splat(step > 0 ? 1.0f / step : 0.0f);
    Four q_sum{}, qq_sum{}, w_sum{}, xq_sum{}, x_sum{};
    for (int i = 0; i < group.n; i += 4) {
      const Four x = load_four(group.x + i), w = load_four(group.weights + i);
      const Four q = grid.nearest((x + splat(min * m)) * inverse);
      q_sum += w * q;
      qq_sum += w * q * q;
      xq_sum += w * x * q;
      x_sum += w * x;
      w_sum += w;
    }
    const double s64 = static_cast<double>(s), m64 = static_cast<double>(m);
    aa += s64 * s64 * static_cast<double>(lane_sum(qq_sum));
    ab += s64 * m64 * static_cast<double>(lane_sum(q_sum));
    bb += m64 * m64 * static_cast<double>(lane_sum(w_sum));
    xa += s64 * static_cast<double>(lane_sum(xq_sum));
    xb += m64 * static_cast<double>(lane_sum(x_sum));
  }
};

class AffineSearch {
 public:
  AffineSearch(const AffineShape& shape, const float* x, const float* weights)
      : shape_(shape), x_(x), weights_(weights), n_groups_(kSuperElements / shape.group_elements) {
    for (int j = 0; j < n_groups_; ++j) {
      fits_[j] = fit_affine(group(j), high(), Min::at_most_zero);
      most_scale_ = std::max(most_scale_, fits_[j].scale);
      most_min_ = std::max(most_min_, -fits_[j].min);
    }
  }

  // `reach`: what the largest scale and min are counted as, about scale_high.
  void refine(float reach) {
    AffineCode code;
    code.scale = half_of(most_scale_ / reach);
    code.min = half_of(most_min_ / reach);
    for (int round = 0; round < kRounds; ++round) {
      const float error = choose(code);
      if (error < best_error_) best_error_ = error, best_ = code;
      if (round + 1 == kRounds || !refit(code)) return;
    }
  }

  const AffineCode& best() const { return best_; }

 private:
  Group group(int j) const { return group_of(x_, weights_, shape_.group_elements, j); }
  float high() const { return static_cast<float>(shape_.quant_high); }

  // The best s and m of each group among the neighbours of its own fit; gives the block's error.
  float choose(AffineCode& code) const {
    const float scale = half_to_float(code.scale), min = half_to_float(code.min);
    float sum = 0;
    for (int j = 0; j < n_groups_; ++j) {
      const int s_fit = whole(ratio(fits_[j].scale, scale), 0, shape_.scale_high);
      const int m_fit = whole(ratio(-fits_[j].min, min), 0, shape_.scale_high);
      float least = INFINITY;
      for (int s = std::max(0, s_fit - 1); s <= std::min(shape_.scale_high, s_fit + 1); ++s)
        for (int m = std::max(0, m_fit - 1); m <= std::min(shape_.scale_high, m_fit + 1); ++m) {
          const float error = affine_error(group(j), high(), scale * static_cast<float>(s),
                                           -min * static_cast<float>(m));
          if (error >= least) continue;
          least = error;
          code.scales[j] = static_cast<uint8_t>(s);
          code.mins[j] = static_cast<uint8_t>(m);
        }
      sum += least;
    }
    return sum;
  }

  // The best units for the chosen whole numbers.  False: they do not change.
  bool refit(AffineCode& code) const {
    AffineSums sums;
    const float scale = half_to_float(code.scale), min = half_to_float(code.min);
    for (int j = 0; j < n_groups_; ++j)
      sums.add(group(j), shape_.quant_high, static_cast<float>(code.scales[j]),
               static_cast<float>(code.mins[j]), scale, min);
    const double determinant = sums.aa * sums.bb - sums.ab * sums.ab;
    AffineCode better = code;
    if (determinant > 1e-9 * sums.aa * sums.bb) {
      better.scale =
          half_of(static_cast<float>((sums.xa * sums.bb - sums.ab * sums.xb) / determinant));
      better.min =
          half_of(static_cast<float>((sums.xa * sums.ab - sums.aa * sums.xb) / determinant));
    } else if (sums.aa > 0) {
      better.scale = half_of(static_cast<float>(sums.xa / sums.aa));
    }
    if (half_to_float(better.scale) < 0 || half_to_float(better.min) < 0) return false;
    const bool changed = better.scale != code.scale || better.min != code.min;
    code = better;
    return changed;
  }

  const AffineShape shape_;
  const float* x_;
  const float* weights_;
  const int n_groups_;
  AffineFit fits_[kGroupsMax];
  float most_scale_ = 0, most_min_ = 0;
  float best_error_ = INFINITY;
  AffineCode best_;
};

template <typename Grid>
class EvenSearch {
 public:
  EvenSearch(const EvenShape& shape, const Grid& grid, const float* x, const float* weights)
      : shape_(shape),
        grid_(grid),
        x_(x),
        weights_(weights),
        n_groups_(kSuperElements / shape.group_elements) {
    for (int j = 0; j < n_groups_; ++j) {
      fits_[j] = fit_scale(group(j), grid_).scale;
      if (std::fabs(fits_[j]) > std::fabs(extreme_)) extreme_ = fits_[j];
    }
  }

  // `reach`: what the scale of largest magnitude is counted as, about scale_low.
  void refine(float reach) {
    EvenCode code;
    code.scale = half_of(extreme_ / reach);
    for (int round = 0; round < kRounds; ++round) {
      const float error = choose(code);
      if (error < best_error_) best_error_ = error, best_ = code;
      if (round + 1 == kRounds || !refit(code)) return;
    }
  }

  const EvenCode& best() const { return best_; }

 private:
  Group group(int j) const { return group_of(x_, weights_, shape_.group_elements, j); }

  float choose(EvenCode& code) const {
    const float scale = half_to_float(code.scale);
    float sum = 0;
    for (int j = 0; j < n_groups_; ++j) {
      const int fit = whole(ratio(fits_[j], scale), shape_.scale_low, -shape_.scale_low - 1);
      float least = INFINITY;
      const int last = std::min(-shape_.scale_low - 1, fit + 1);
      for (int s = std::max(shape_.scale_low, fit - 1); s <= last; ++s) {
        const float error = scale_error(group(j), grid_, scale * static_cast<float>(s));
        if (error >= least) continue;
        least = error;
        code.scales[j] = static_cast<int8_t>(s);
      }
      sum += least;
    }
    return sum;
  }

  bool refit(EvenCode& code) const {
    const float scale = half_to_float(code.scale);
    double aa = 0, xa = 0;  // over a = s * q
    for (int j = 0; j < n_groups_; ++j) {
      const float s = static_cast<float>(code.scales[j]);
      if (scale * s == 0) continue;
      // Of one group: gain = xq^2 / qq and scale = xq / qq.
      const ScaleFit fit = scale_at(group(j), grid_, 1.0f / (scale * s));
      if (fit.scale == 0) continue;
      const double xq = static_cast<double>(fit.gain) / static_cast<double>(fit.scale);
      const double qq = xq / static_cast<double>(fit.scale), s64 = static_cast<double>(s);
      aa += s64 * s64 * qq;
      xa += s64 * xq;
    }
    if (!(aa > 0)) return false;
    const uint16_t before = code.scale;
    code.scale = half_of(static_cast<float>(xa / aa));
    return code.scale != before;
  }

  const EvenShape shape_;
  const Grid grid_;
  const float* x_;
  const float* weights_;
  const int n_groups_;
  float fits_[kGroupsMax];
  float extreme_ = 0;
  float best_error_ = INFINITY;
  EvenCode best_;
};

template <typename Grid>
EvenCode fit_even(const EvenShape& shape, const Grid& grid, const float* x, const float* weights) {
  EvenSearch<Grid> search(shape, grid, x, weights);
  // The extreme scale at the end that reaches farther, and at the other.
  search.refine(static_cast<float>(shape.scale_low));
  search.refine(static_cast<float>(-shape.scale_low - 1));
  return search.best();
}

}  // namespace

AffineCode fit_affine_block(const AffineShape& shape, const float* x, const float* weights) {
  AffineSearch search(shape, x, weights);
  const float high = static_cast<float>(shape.scale_high);
  for (const float reach : {high, 0.96f * high, 1.04f * high}) search.refine(reach);
  return search.best();
}

EvenCode fit_even_block(const EvenShape& shape, const IntegerGrid& grid, const float* x,
                        const float* weights) {
  return fit_even(shape, grid, x, weights);
}

EvenCode fit_even_block(const EvenShape& shape, const Iq4Grid& grid, const float* x,
                        const float* weights) {
  return fit_even(shape, grid, x, weights);
}

}  // namespace hwtv::ops
