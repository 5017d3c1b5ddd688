// The quant_blocks of every integer type as unsigned bytes with a common zero point, one scale and
// perhaps one minimum for each group: w = scale * (q - kZero) + min.  After simd_*_inl.h.
#pragma once
#include <cstdint>

#include "ops/quant_blocks.h"

namespace hwtv::cpu {
namespace {

// A format says:
//   kBlock   elements of a quant_block
//   kGroup   elements that share a scale: 16 or 32
//   kZero    the zero point
//   kHasMin  whether groups have a minimum
//   kWide    whether q exceeds 127
//   expand   fills q (kBlock), scales and mins (kBlock / kGroup, kTileOutputs apart)

struct FormatQ4_0 {
  using Block = ops::BlockQ4_0;
  static constexpr int kBlock = 32, kGroup = 32, kZero = 8;
  static constexpr bool kHasMin = false, kWide = false;
  HWTV_INLINE void expand(const Block& b, uint8_t* q, float* scales, float*) {
    scales[0] = half_bits_to_float(b.scale);
    store_b(q, unpack_nibbles(b.nibbles));
  }
};

struct FormatQ4_1 {
  using Block = ops::BlockQ4_1;
  static constexpr int kBlock = 32, kGroup = 32, kZero = 0;
  static constexpr bool kHasMin = true, kWide = false;
  HWTV_INLINE void expand(const Block& b, uint8_t* q, float* scales, float* mins) {
    scales[0] = half_bits_to_float(b.scale);
    mins[0] = half_bits_to_float(b.min);
    store_b(q, unpack_nibbles(b.nibbles));
  }
};

struct FormatQ5_0 {
  using Block = ops::BlockQ5_0;
  static constexpr int kBlock = 32, kGroup = 32, kZero = 16;
  static constexpr bool kHasMin = false, kWide = false;
  HWTV_INLINE void expand(const Block& b, uint8_t* q, float* scales, float*) {
    scales[0] = half_bits_to_float(b.scale);
    store_b(q, or_b(unpack_nibbles(b.nibbles), unpack_fifth_bits(b.fifth_bits)));
  }
};

struct FormatQ5_1 {
  using Block = ops::BlockQ5_1;
  static constexpr int kBlock = 32, kGroup = 32, kZero = 0;
  static constexpr bool kHasMin = true, kWide = false;
  HWTV_INLINE void expand(const Block& b, uint8_t* q, float* scales, float* mins) {
    scales[0] = half_bits_to_float(b.scale);
    mins[0] = half_bits_to_float(b.min);
    store_b(q, or_b(unpack_nibbles(b.nibbles), unpack_fifth_bits(b.fifth_bits)));
  }
};

struct FormatQ8_0 {
  using Block = ops::BlockQ8_0;
  static constexpr int kBlock = 32, kGroup = 32, kZero = 128;
  static constexpr bool kHasMin = false, kWide = true;
  HWTV_INLINE void expand(const Block& b, uint8_t* q, float* scales, float*) {
    scales[0] = half_bits_to_float(b.scale);
    store_b(q, flip_sign_b(load_b(b.quants)));
  }
};

struct FormatQ2_K {
  using Block = ops::BlockQ2_K;
  static constexpr int kBlock = 256, kGroup = 16, kZero = 0;
  static constexpr bool kHasMin = true, kWide = false;
  HWTV_INLINE void expand(const Block& b, uint8_t* q, float* scales, float* mins) {
    const float scale = half_bits_to_float(b.scale), min = -half_bits_to_float(b.min);
    for (int g = 0; g < 16; ++g) {
      scales[g * kTileOutputs] = scale * static_cast<float>(b.scales[g] & 15);
      mins[g * kTileOutputs] = min * static_cast<float>(b.scales[g] >> 4);
    }
    for (int h = 0; h < 2; ++h) {
      const B quants = load_b(b.quants + 32 * h);
      for (int j = 0; j < 4; ++j) store_b(q + 128 * h + 32 * j, field_b(quants, 2 * j, 3));
    }
  }
};

struct FormatQ3_K {
  using Block = ops::BlockQ3_K;
  static constexpr int kBlock = 256, kGroup = 16, kZero = 4;
  static constexpr bool kHasMin = false, kWide = false;
  HWTV_INLINE void expand(const Block& b, uint8_t* q, float* scales, float*) {
    const float scale = half_bits_to_float(b.scale);
    for (int g = 0; g < 16; ++g) {
      const int low = (b.scales[g % 8] >> (4 * (g / 8))) & 15;
      const int high = (b.scales[8 + g % 4] >> (2 * (g / 4))) & 3;
      scales[g * kTileOutputs] = scale * static_cast<float>((low | (high << 4)) - 32);
    }
    const B third_bits = load_b(b.third_bits);
    for (int h = 0; h < 2; ++h) {
      const B quants = load_b(b.quants + 32 * h);
      for (int j = 0; j < 4; ++j)
        store_b(q + 128 * h + 32 * j,
                or_b(field_b(quants, 2 * j, 3), raise_b(field_b(third_bits, 4 * h + j, 1), 2)));
    }
  }
};

// The 6-bit scales and minimums of Q4_K and Q5_K.
HWTV_INLINE void expand_k_scales(const uint8_t* packed, float scale, float min, float* scales,
                                 float* mins) {
  for (int g = 0; g < 8; ++g) {
    int s, m;
    if (g < 4) {
      s = packed[g] & 63;
      m = packed[g + 4] & 63;
    } else {
      s = (packed[g + 4] & 15) | ((packed[g - 4] >> 6) << 4);
      m = (packed[g + 4] >> 4) | ((packed[g] >> 6) << 4);
    }
    scales[g * kTileOutputs] = scale * static_cast<float>(s);
    mins[g * kTileOutputs] = -min * static_cast<float>(m);
  }
}

struct FormatQ4_K {
  using Block = ops::BlockQ4_K;
  static constexpr int kBlock = 256, kGroup = 32, kZero = 0;
  static constexpr bool kHasMin = true, kWide = false;
  HWTV_INLINE void expand(const Block& b, uint8_t* q, float* scales, float* mins) {
    expand_k_scales(b.scales, half_bits_to_float(b.scale), half_bits_to_float(b.min), scales, mins);
    for (int c = 0; c < 4; ++c) {
      const B nibbles = load_b(b.nibbles + 32 * c);
      store_b(q + 64 * c, field_b(nibbles, 0, 15));
      store_b(q + 64 * c + 32, field_b(nibbles, 4, 15));
    }
  }
};

struct FormatQ5_K {
  using Block = ops::BlockQ5_K;
  static constexpr int kBlock = 256, kGroup = 32, kZero = 0;
  static constexpr bool kHasMin = true, kWide = false;
  HWTV_INLINE void expand(const Block& b, uint8_t* q, float* scales, float* mins) {
    expand_k_scales(b.scales, half_bits_to_float(b.scale), half_bits_to_float(b.min), scales, mins);
    const B fifth_bits = load_b(b.fifth_bits);
    for (int c = 0; c < 4; ++c) {
      const B nibbles = load_b(b.nibbles + 32 * c);
      for (int half = 0; half < 2; ++half)
        store_b(q + 64 * c + 32 * half,
                or_b(field_b(nibbles, 4 * half, 15),
                     raise_b(field_b(fifth_bits, 2 * c + half, 1), 4)));
    }
  }
};

struct FormatQ6_K {
  using Block = ops::BlockQ6_K;
  static constexpr int kBlock = 256, kGroup = 16, kZero = 32;
  static constexpr bool kHasMin = false, kWide = false;
  HWTV_INLINE void expand(const Block& b, uint8_t* q, float* scales, float*) {
    const float scale = half_bits_to_float(b.scale);
    for (int g = 0; g < 16; ++g) scales[g * kTileOutputs] = scale * static_cast<float>(b.scales[g]);
    for (int h = 0; h < 2; ++h) {
      const B high = load_b(b.high_bits + 32 * h);
      for (int j = 0; j < 4; ++j) {
        const B nibbles = load_b(b.nibbles + 64 * h + 32 * (j % 2));
        store_b(q + 128 * h + 32 * j, or_b(field_b(nibbles, 4 * (j / 2), 15),
                                           raise_b(field_b(high, 2 * j, 3), 4)));
      }
    }
  }
};

// kIq4Values + 128.
alignas(16) constexpr uint8_t kIq4Bytes[16] = {1,   24,  45,  63,  79,  93,  106, 118,
                                               129, 141, 153, 166, 181, 197, 217, 241};
// kMxfp4Values + 12.
alignas(16) constexpr uint8_t kMxfp4Bytes[16] = {12, 13, 14, 15, 16, 18, 20, 24,
                                                 12, 11, 10, 9,  8,  6,  4,  0};

struct FormatIQ4_NL {
  using Block = ops::BlockIQ4_NL;
  static constexpr int kBlock = 32, kGroup = 32, kZero = 128;
  static constexpr bool kHasMin = false, kWide = true;
  HWTV_INLINE void expand(const Block& b, uint8_t* q, float* scales, float*) {
    scales[0] = half_bits_to_float(b.scale);
    store_b(q, look_up_b(unpack_nibbles(b.nibbles), kIq4Bytes));
  }
};

struct FormatIQ4_XS {
  using Block = ops::BlockIQ4_XS;
  static constexpr int kBlock = 256, kGroup = 32, kZero = 128;
  static constexpr bool kHasMin = false, kWide = true;
  HWTV_INLINE void expand(const Block& b, uint8_t* q, float* scales, float*) {
    const float scale = half_bits_to_float(b.scale);
    for (int g = 0; g < 8; ++g) {
      const int low = (b.scales_low[g / 2] >> (4 * (g % 2))) & 15;
      const int high = (b.scales_high >> (2 * g)) & 3;
      scales[g * kTileOutputs] = scale * static_cast<float>((low | (high << 4)) - 32);
      store_b(q + 32 * g, look_up_b(unpack_nibbles(b.nibbles + 16 * g), kIq4Bytes));
    }
  }
};

struct FormatMXFP4 {
  using Block = ops::BlockMXFP4;
  static constexpr int kBlock = 32, kGroup = 32, kZero = 12;
  static constexpr bool kHasMin = false, kWide = false;
  HWTV_INLINE void expand(const Block& b, uint8_t* q, float* scales, float*) {
    // 2^(exponent - 128); below 2^-126 a subnormal.
    const uint32_t e = b.exponent, bits = e < 2 ? 0x00200000u << e : (e - 1) << 23;
    __builtin_memcpy(scales, &bits, 4);
    store_b(q, look_up_b(unpack_nibbles(b.nibbles), kMxfp4Bytes));
  }
};

}  // namespace
}  // namespace hwtv::cpu
