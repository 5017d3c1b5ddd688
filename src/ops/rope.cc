#include "ops/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace hwtv::ops {
namespace {

// The pair whose wavelength makes n_turns rotations within the original context; YaRN eq. 17 solved
// for the dimension.
double pair_of_turns(const RopeConfig& rope, double n_turns) {
  const double context = static_cast<double>(rope.yarn_original_context_tokens);
  return static_cast<double>(rope.n_rotated) *
         std::log(context / (n_turns * 2.0 * std::numbers::pi)) / (2.0 * std::log(rope.theta));
}

}  // namespace

double rope_magnitude(const RopeConfig& rope, int64_t position) {
  if (rope.growth == 0) return rope.magnitude;
  const auto n_contexts = static_cast<double>(position / rope.growth_tokens);
  return rope.magnitude * (1.0 + rope.growth * std::log1p(n_contexts));
}

std::vector<float> rope_frequencies(const RopeConfig& rope, std::span<const float> factors) {
  const int64_t n_pairs = rope.n_rotated / 2;
  CHECK(rope.n_rotated % 2 == 0);
  CHECK(factors.empty() || static_cast<int64_t>(factors.size()) == n_pairs);
  double low = 0, high = 0;
  if (rope.yarn_mix != 0) {
    low = std::max(0.0, std::floor(pair_of_turns(rope, rope.yarn_beta_fast)));
    high = std::min(static_cast<double>(rope.n_rotated - 1),
                    std::ceil(pair_of_turns(rope, rope.yarn_beta_slow)));
  }
  std::vector<float> frequencies(static_cast<size_t>(n_pairs));
  for (int64_t pair = 0; pair < n_pairs; ++pair) {
    // Rounded to F32 where transformers rounds: models are trained with those frequencies, and at
    // position 100,000 the rounding alone turns a pair by hundredths of a radian.
    const float exponent = static_cast<float>(2 * pair) / static_cast<float>(rope.n_rotated);
    double own = 1.0f / static_cast<float>(std::pow(rope.theta, static_cast<double>(exponent)));
    if (!factors.empty()) own /= static_cast<double>(factors[static_cast<size_t>(pair)]);
    const double scaled = own * rope.frequency_scale;
    // 1 for pairs that turn often (kept as they are), 0 for slow ones (interpolated).
    const double ramp =
        1.0 - std::clamp((static_cast<double>(pair) - low) / std::max(0.001, high - low), 0.0, 1.0);
    const double mix = rope.yarn_mix * ramp;
    frequencies[static_cast<size_t>(pair)] = static_cast<float>(scaled * (1.0 - mix) + own * mix);
  }
  return frequencies;
}

}  // namespace hwtv::ops
