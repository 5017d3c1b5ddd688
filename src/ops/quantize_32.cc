// Quant_blocks of 32 elements with one scale, or one scale and min.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "base/half.h"
#include "ops/iq4_grid.h"
#include "ops/quantize_blocks.h"
#include "ops/scale_search.h"

namespace hwtv::ops {
namespace {

constexpr int kElements = 32;

// The best scale as a half.
template <typename Grid>
uint16_t fit_halved(const Group& group, const Grid& grid,
                    const ScaleSearch& search = kFreeSearch) {
  return half_of(fit_scale(group, grid, search).scale);
}

// Whole numbers for x ~ scale * q + min, counted from `low`: each in [0, high - low].
void round_all(const float* x, float scale, float min, float low, float high, uint8_t* quants) {
  const IntegerGrid grid{low, high};
  const Four inverse = splat(scale == 0 ? 0.0f : 1.0f / scale);
  for (int i = 0; i < kElements; i += 4) {
    const Four q = grid.nearest((load_four(x + i) - splat(min)) * inverse) - splat(low);
    for (int lane = 0; lane < 4; ++lane) quants[i + lane] = static_cast<uint8_t>(q[lane]);
  }
}

void put_nibbles(const uint8_t* quants, uint8_t* nibbles) {
  for (int i = 0; i < 16; ++i)
    nibbles[i] = static_cast<uint8_t>((quants[i] & 15) | (quants[i + 16] & 15) << 4);
}

void put_fifth_bits(const uint8_t* quants, uint8_t* fifth_bits) {
  std::fill_n(fifth_bits, 4, uint8_t{0});
  for (int i = 0; i < kElements; ++i)
    fifth_bits[i / 8] = static_cast<uint8_t>(fifth_bits[i / 8] | (quants[i] >> 4) << (i % 8));
}

// Fills scale and quants of a type without a min: q in [-size, size).
template <typename Block>
void encode_even(const float* x, const float* weights, float size, Block& block, uint8_t* quants) {
  block.scale = fit_halved({x, weights, kElements}, IntegerGrid{-size, size - 1});
  round_all(x, half_to_float(block.scale), 0, -size, size - 1, quants);
}

// Fills scale, min and quants of a type with a min: q in [0, high].
template <typename Block>
void encode_affine(const float* x, const float* weights, float high, Block& block,
                   uint8_t* quants) {
  const AffineFit fit = fit_affine({x, weights, kElements}, high, Min::any);
  block.scale = half_of(fit.scale);
  block.min = half_of(fit.min);
  round_all(x, half_to_float(block.scale), half_to_float(block.min), 0, high, quants);
}

struct Mxfp4Choice {
  float error = 0;  // sum w (x - scale * value)^2
  uint8_t quants[kElements];
};

// The nearest of kMxfp4Values[0..7] by magnitude, each with its sign in bit 3.
Mxfp4Choice round_mxfp4(const float* x, const float* weights, float scale) {
  Mxfp4Choice choice;
  for (int i = 0; i < kElements; ++i) {
    const float magnitude = std::fabs(x[i]) / scale;
    uint8_t q = 0;
    while (q < 7 && 2 * magnitude > static_cast<float>(kMxfp4Values[q] + kMxfp4Values[q + 1])) ++q;
    const float error = magnitude - static_cast<float>(kMxfp4Values[q]);
    choice.error += weights[i] * error * error;
    choice.quants[i] = static_cast<uint8_t>(x[i] < 0 && q > 0 ? q | 8 : q);
  }
  choice.error *= scale * scale;
  return choice;
}

}  // namespace

void encode_weights(const float* x, const float* weights, BlockQ4_0& block) {
  uint8_t quants[kElements];
  encode_even(x, weights, 8, block, quants);
  put_nibbles(quants, block.nibbles);
}

void encode_weights(const float* x, const float* weights, BlockQ4_1& block) {
  uint8_t quants[kElements];
  encode_affine(x, weights, 15, block, quants);
  put_nibbles(quants, block.nibbles);
}

void encode_weights(const float* x, const float* weights, BlockQ5_0& block) {
  uint8_t quants[kElements];
  encode_even(x, weights, 16, block, quants);
  put_nibbles(quants, block.nibbles);
  put_fifth_bits(quants, block.fifth_bits);
}

void encode_weights(const float* x, const float* weights, BlockQ5_1& block) {
  uint8_t quants[kElements];
  encode_affine(x, weights, 31, block, quants);
  put_nibbles(quants, block.nibbles);
  put_fifth_bits(quants, block.fifth_bits);
}

void encode_weights(const float* x, const float* weights, BlockQ8_0& block) {
  uint8_t quants[kElements];
  // -128 is left out: kernels negate these numbers.
  block.scale = fit_halved({x, weights, kElements}, IntegerGrid{-127, 127});
  round_all(x, half_to_float(block.scale), 0, -127, 127, quants);
  for (int i = 0; i < kElements; ++i) block.quants[i] = static_cast<int8_t>(quants[i] - 127);
}

// Its grid is coarse at the ends: the smallest error would cut the largest elements, and that costs
// more perplexity than it gains.  So these are kept, and count more.
void encode_weights(const float* x, const float* weights, BlockIQ4_NL& block) {
  float by_size[kElements];
  for (int i = 0; i < kElements; ++i) by_size[i] = weights[i] * std::fabs(x[i]);
  block.scale = fit_halved({x, by_size, kElements}, Iq4Grid{}, kWholeSearch);
  const float scale = half_to_float(block.scale);
  const float inverse = scale == 0 ? 0.0f : 1.0f / scale;
  uint8_t quants[kElements];
  for (int i = 0; i < kElements; ++i) quants[i] = iq4_index(x[i] * inverse);
  put_nibbles(quants, block.nibbles);
}

// The scale is a power of two: the two that put the largest element on the grid's last octave or
// just beyond it, and the one above.
void encode_weights(const float* x, const float* weights, BlockMXFP4& block) {
  const float largest = std::fabs(extreme_of({x, weights, kElements}));
  if (largest == 0) {
    block = {};
    return;
  }
  const int top = std::clamp(std::ilogb(largest), -124, 126);  // largest in [1, 2) * 2^top
  Mxfp4Choice best;
  int best_exponent = -1;
  // kMxfp4Values are twice the format's: 12 * 2^(e - 128) is its largest, 6 * 2^(e - 127).
  for (int exponent = top + 127 - 3; exponent <= top + 127; ++exponent) {
    if (exponent < 0 || exponent > 254) continue;
    const Mxfp4Choice choice = round_mxfp4(x, weights, std::ldexp(1.0f, exponent - 128));
    if (best_exponent < 0 || choice.error < best.error) best = choice, best_exponent = exponent;
  }
  block.exponent = static_cast<uint8_t>(best_exponent);
  put_nibbles(best.quants, block.nibbles);
}

}  // namespace hwtv::ops
