#include "ops/rope.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hwtv::ops {
namespace {

// Radians per position of one pair: Su et al. 2021 section 3.2.2; scaling as Peng et al. 2023 and
// its published implementation define it.
double rope_frequency(const RopeConfig& rope, size_t pair, double factor) {
  const double d = static_cast<double>(rope.n_rotated);
  const double i = static_cast<double>(pair);
  const double plain = std::pow(rope.theta, -2 * i / d) / factor;
  const double interpolated = plain * rope.frequency_scale;
  if (rope.yarn_mix == 0) return interpolated;
  const double context = static_cast<double>(rope.yarn_original_context_tokens);
  const auto dimension = [&](double rotations) {
    return d * std::log(context / (rotations * 2 * std::numbers::pi)) / (2 * std::log(rope.theta));
  };
  const double low = std::max(std::floor(dimension(rope.yarn_beta_fast)), 0.0);
  const double high = std::min(std::ceil(dimension(rope.yarn_beta_slow)), d - 1);
  const double extrapolated = rope.yarn_mix * (1 - std::clamp((i - low) / (high - low), 0.0, 1.0));
  return interpolated * (1 - extrapolated) + plain * extrapolated;
}

TEST(RopeFrequencies, FallByThePowersOfTheta) {
  const auto f = rope_frequencies({.n_rotated = 8, .theta = 10000}, {});
  ASSERT_EQ(f.size(), 4u);
  EXPECT_FLOAT_EQ(f[0], 1);
  EXPECT_FLOAT_EQ(f[1], 0.1f);
  EXPECT_FLOAT_EQ(f[2], 0.01f);
  EXPECT_FLOAT_EQ(f[3], 0.001f);
}

TEST(RopeFrequencies, LinearScalingAndFactorsDivide) {
  const std::vector<float> factors = {1, 2, 4, 8};
  const auto f =
      rope_frequencies({.n_rotated = 8, .theta = 10000, .frequency_scale = 0.5}, factors);
  EXPECT_FLOAT_EQ(f[0], 0.5f);
  EXPECT_FLOAT_EQ(f[1], 0.025f);
  EXPECT_FLOAT_EQ(f[2], 0.00125f);
  EXPECT_FLOAT_EQ(f[3], 0.0000625f);
}

// theta 1e6, 64 elements, 4096 tokens stretched by 4: pairs up to 6 turn 32 times or more within
// the original context and stay, pairs from 16 turn less than once and are interpolated.  The
// numbers were computed apart from this program, by the formulas of the published implementation of
// YaRN.
TEST(RopeFrequencies, YarnInterpolatesSlowPairsOnly) {
  const RopeConfig yarn{.n_rotated = 64,
                        .theta = 1e6,
                        .frequency_scale = 0.25,
                        .yarn_mix = 1,
                        .yarn_original_context_tokens = 4096};
  const auto f = rope_frequencies(yarn, {});
  EXPECT_FLOAT_EQ(f[0], 1);
  EXPECT_FLOAT_EQ(f[6], 0.0749894209f);
  EXPECT_FLOAT_EQ(f[7], 0.0450444961f);
  EXPECT_FLOAT_EQ(f[10], 0.00933465003f);
  EXPECT_FLOAT_EQ(f[12], 0.00309287729f);
  EXPECT_FLOAT_EQ(f[15], 0.000500476121f);
  EXPECT_FLOAT_EQ(f[16], 0.00025f);
  EXPECT_FLOAT_EQ(f[31], 3.84981632e-07f);
}

TEST(RopeFrequencies, YarnMixOfZeroIsLinear) {
  RopeConfig yarn{
      .n_rotated = 64, .theta = 1e6, .frequency_scale = 0.25, .yarn_original_context_tokens = 4096};
  const auto linear = rope_frequencies(yarn, {});
  EXPECT_FLOAT_EQ(linear[0], 0.25f);
  yarn.yarn_mix = 0.5;  // half way between interpolated and own
  EXPECT_FLOAT_EQ(rope_frequencies(yarn, {})[0], 0.625f);
}

TEST(RopeFrequencies, AgreeWithTheFormulas) {
  for (const double theta : {1e4, 5e5})
    for (const int64_t n_rotated : {6, 64, 128})
      for (const double scale : {1.0, 0.25})
        for (const double mix : {0.0, 0.5, 1.0}) {
          const RopeConfig rope{.n_rotated = n_rotated,
                                .theta = theta,
                                .frequency_scale = scale,
                                .yarn_mix = mix,
                                .yarn_beta_fast = 16,
                                .yarn_original_context_tokens = 8192};
          const std::vector<float> factors(static_cast<size_t>(n_rotated / 2), 3);
          const auto f = rope_frequencies(rope, factors);
          for (size_t pair = 0; pair < f.size(); ++pair) {
            const double exact = rope_frequency(rope, pair, 3);
            // A few roundings to F32, one of them of the exponent of theta.
            EXPECT_NEAR(static_cast<double>(f[pair]), exact, 2e-6 * exact);
          }
        }
}

TEST(RopeFrequenciesDeathTest, NeedsOneFactorForEachPair) {
  const std::vector<float> factors = {1, 2, 4};
  EXPECT_DEATH(rope_frequencies({.n_rotated = 8}, factors), "factors");
  EXPECT_DEATH(rope_frequencies({.n_rotated = 7}, {}), "n_rotated");
}

}  // namespace
}  // namespace hwtv::ops
