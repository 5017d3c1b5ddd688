// Quant_blocks of 256 elements: the K types and IQ4_XS.
#include <cstdint>

#include "base/half.h"
#include "ops/quantize_blocks.h"
#include "ops/super_block.h"

namespace hwtv::ops {
namespace {

// What ors into a byte of a block that starts as zeros.
void put(uint8_t& byte, int value, int shift) {
  byte = static_cast<uint8_t>(byte | value << shift);
}

// Two bits of element i: 128 h + 32 j + b is at bit 2 j of byte 32 h + b.
void put_two_bits(uint8_t* bytes, int i, int value) {
  put(bytes[i / 128 * 32 + i % 32], value & 3, i % 128 / 32 * 2);
}

// The low four bits of element i of groups of n whose nibbles are split.
void put_nibble(uint8_t* bytes, int i, int n, int value) {
  put(bytes[i / n * (n / 2) + i % (n / 2)], value & 15, i % n < n / 2 ? 0 : 4);
}

// The k-th of the eight 6-bit pairs of Q4_K and Q5_K.
void put_six_bit_pair(uint8_t* scales, int k, int scale, int min) {
  if (k < 4) {
    put(scales[k], scale, 0);
    put(scales[k + 4], min, 0);
  } else {
    put(scales[k + 4], scale & 15, 0);
    put(scales[k + 4], min & 15, 4);
    put(scales[k - 4], scale >> 4, 6);
    put(scales[k], min >> 4, 6);
  }
}

// q of the elements of one group, counted from the grid's low end.
void round_group(const float* x, int n, const IntegerGrid& grid, float scale, float min,
                 uint8_t* quants) {
  const Four inverse = splat(scale == 0 ? 0.0f : 1.0f / scale);
  for (int i = 0; i < n; i += 4) {
    const Four q = grid.nearest((load_four(x + i) - splat(min)) * inverse) - splat(grid.low);
    for (int lane = 0; lane < 4; ++lane) quants[i + lane] = static_cast<uint8_t>(q[lane]);
  }
}

// q of a whole block.
void round_affine(const AffineShape& shape, const AffineCode& code, const float* x,
                  uint8_t* quants) {
  const IntegerGrid grid{0, static_cast<float>(shape.quant_high)};
  for (int j = 0, n = shape.group_elements; j < kSuperElements / n; ++j)
    round_group(x + j * n, n, grid, half_to_float(code.scale) * static_cast<float>(code.scales[j]),
                -half_to_float(code.min) * static_cast<float>(code.mins[j]), quants + j * n);
}

void round_even(const EvenShape& shape, const EvenCode& code, const IntegerGrid& grid,
                const float* x, uint8_t* quants) {
  for (int j = 0, n = shape.group_elements; j < kSuperElements / n; ++j)
    round_group(x + j * n, n, grid, half_to_float(code.scale) * static_cast<float>(code.scales[j]),
                0, quants + j * n);
}

// What Q4_K and Q5_K share: all but the fifth bits.  Fills quants (256), each in [0, quant_high].
template <typename Block>
void encode_six_bit_pairs(int quant_high, const float* x, const float* weights, Block& block,
                          uint8_t* quants) {
  const AffineShape shape{32, quant_high, 63};
  const AffineCode code = fit_affine_block(shape, x, weights);
  round_affine(shape, code, x, quants);
  block = {};
  block.scale = code.scale;
  block.min = code.min;
  for (int k = 0; k < 8; ++k) put_six_bit_pair(block.scales, k, code.scales[k], code.mins[k]);
  for (int i = 0; i < kSuperElements; ++i) put_nibble(block.nibbles, i, 64, quants[i]);
}

}  // namespace

void encode_weights(const float* x, const float* weights, BlockQ2_K& block) {
  constexpr AffineShape kShape{16, 3, 15};
  const AffineCode code = fit_affine_block(kShape, x, weights);
  uint8_t quants[kSuperElements];
  round_affine(kShape, code, x, quants);
  block = {};
  block.scale = code.scale;
  block.min = code.min;
  for (int k = 0; k < 16; ++k)
    block.scales[k] = static_cast<uint8_t>(code.scales[k] | code.mins[k] << 4);
  for (int i = 0; i < kSuperElements; ++i) put_two_bits(block.quants, i, quants[i]);
}

void encode_weights(const float* x, const float* weights, BlockQ3_K& block) {
  constexpr EvenShape kShape{16, -32};
  const IntegerGrid grid{-4, 3};
  const EvenCode code = fit_even_block(kShape, grid, x, weights);
  uint8_t quants[kSuperElements];
  round_even(kShape, code, grid, x, quants);
  block = {};
  block.scale = code.scale;
  for (int k = 0; k < 16; ++k) {
    const int s = code.scales[k] + 32;
    put(block.scales[k % 8], s & 15, k / 8 * 4);
    put(block.scales[8 + k % 4], s >> 4, k / 4 * 2);
  }
  for (int i = 0; i < kSuperElements; ++i) {
    put_two_bits(block.quants, i, quants[i]);
    put(block.third_bits[i % 32], quants[i] >> 2, i / 32);
  }
}

void encode_weights(const float* x, const float* weights, BlockQ4_K& block) {
  uint8_t quants[kSuperElements];
  encode_six_bit_pairs(15, x, weights, block, quants);
}

void encode_weights(const float* x, const float* weights, BlockQ5_K& block) {
  uint8_t quants[kSuperElements];
  encode_six_bit_pairs(31, x, weights, block, quants);
  for (int i = 0; i < kSuperElements; ++i) put(block.fifth_bits[i % 32], quants[i] >> 4, i / 32);
}

void encode_weights(const float* x, const float* weights, BlockQ6_K& block) {
  constexpr EvenShape kShape{16, -128};
  const IntegerGrid grid{-32, 31};
  const EvenCode code = fit_even_block(kShape, grid, x, weights);
  uint8_t quants[kSuperElements];
  round_even(kShape, code, grid, x, quants);
  block = {};
  block.scale = code.scale;
  for (int k = 0; k < 16; ++k) block.scales[k] = code.scales[k];
  for (int i = 0; i < kSuperElements; ++i) {
    put_nibble(block.nibbles, i, 128, quants[i]);
    put_two_bits(block.high_bits, i, quants[i] >> 4);
  }
}

void encode_weights(const float* x, const float* weights, BlockIQ4_XS& block) {
  constexpr EvenShape kShape{32, -32};
  const EvenCode code = fit_even_block(kShape, Iq4Grid{}, x, weights);
  block = {};
  block.scale = code.scale;
  for (int k = 0; k < 8; ++k) {
    const int s = code.scales[k] + 32;
    put(block.scales_low[k / 2], s & 15, k % 2 * 4);
    block.scales_high = static_cast<uint16_t>(block.scales_high | (s >> 4) << (2 * k));
    const float scale = half_to_float(code.scale) * static_cast<float>(code.scales[k]);
    const float inverse = scale == 0 ? 0.0f : 1.0f / scale;
    for (int i = 32 * k; i < 32 * (k + 1); ++i)
      put_nibble(block.nibbles, i, 32, iq4_index(x[i] * inverse));
  }
}

}  // namespace hwtv::ops
