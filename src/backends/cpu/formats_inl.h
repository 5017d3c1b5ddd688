// The quant_blocks of every integer type as unsigned bytes with a common zero point, one scale and
// perhaps one minimum for each group: w = scale * (q - kZero) + min.  After simd_*_inl.h.
#pragma once
#include <cstdint>

#include "ops/quant_blocks.h"

namespace hwtv::cpu {
namespace {

// A format says:
//   kBlock     elements of a quant_block
//   kGroup     elements that share a scale: 16 or 32
//   kZero      the zero point
//   kHasMin    whether groups have a minimum
//   kWide      whether q exceeds 127
//   quants     32 elements of a quant_block, from 32 * part on
// and for blocks of one group whose scale and minimum are halves (kHalves), no more; for others
//   scales     fills scales and mins (kBlock / kGroup, kTileOutputs apart)

struct FormatQ4_0 {
  using Block = ops::BlockQ4_0;
  static constexpr int kBlock = 32, kGroup = 32, kZero = 8;
  static constexpr bool kHasMin = false, kWide = false, kHalves = true;
  HWTV_INLINE B quants(const Block& b, int) { return unpack_nibbles(b.nibbles); }
};

struct FormatQ4_1 {
  using Block = ops::BlockQ4_1;
  static constexpr int kBlock = 32, kGroup = 32, kZero = 0;
  static constexpr bool kHasMin = true, kWide = false, kHalves = true;
  HWTV_INLINE B quants(const Block& b, int) { return unpack_nibbles(b.nibbles); }
};

struct FormatQ5_0 {
  using Block = ops::BlockQ5_0;
  static constexpr int kBlock = 32, kGroup = 32, kZero = 16;
  static constexpr bool kHasMin = false, kWide = false, kHalves = true;
  HWTV_INLINE B quants(const Block& b, int) {
    return or_b(unpack_nibbles(b.nibbles), unpack_fifth_bits(b.fifth_bits));
  }
};

struct FormatQ5_1 {
  using Block = ops::BlockQ5_1;
  static constexpr int kBlock = 32, kGroup = 32, kZero = 0;
  static constexpr bool kHasMin = true, kWide = false, kHalves = true;
  HWTV_INLINE B quants(const Block& b, int) {
    return or_b(unpack_nibbles(b.nibbles), unpack_fifth_bits(b.fifth_bits));
  }
};

struct FormatQ8_0 {
  using Block = ops::BlockQ8_0;
  static constexpr int kBlock = 32, kGroup = 32, kZero = 128;
  static constexpr bool kHasMin = false, kWide = true, kHalves = true;
  HWTV_INLINE B quants(const Block& b, int) { return flip_sign_b(load_b(b.quants)); }
};

struct FormatQ2_K {
  using Block = ops::BlockQ2_K;
  static constexpr int kBlock = 256, kGroup = 16, kZero = 0;
  static constexpr bool kHasMin = true, kWide = false, kHalves = false;
  HWTV_INLINE B quants(const Block& b, int part) {
    return field_b(load_b(b.quants + 32 * (part / 4)), 2 * (part % 4), 3);
  }
  HWTV_INLINE void scales(const Block& b, float* scales, float* mins) {
    const float scale = half_bits_to_float(b.scale), min = -half_bits_to_float(b.min);
    for (int g = 0; g < 16; ++g) {
      scales[g * kTileOutputs] = scale * static_cast<float>(b.scales[g] & 15);
      mins[g * kTileOutputs] = min * static_cast<float>(b.scales[g] >> 4);
    }
  }
};

struct FormatQ3_K {
  using Block = ops::BlockQ3_K;
  static constexpr int kBlock = 256, kGroup = 16, kZero = 4;
  static constexpr bool kHasMin = false, kWide = false, kHalves = false;
  HWTV_INLINE B quants(const Block& b, int part) {
    const B low = field_b(load_b(b.quants + 32 * (part / 4)), 2 * (part % 4), 3);
    return or_b(low, raise_b(field_b(load_b(b.third_bits), part, 1), 2));
  }
  HWTV_INLINE void scales(const Block& b, float* scales, float*) {
    const float scale = half_bits_to_float(b.scale);
    for (int g = 0; g < 16; ++g) {
      const int low = (b.scales[g % 8] >> (4 * (g / 8))) & 15;
      const int high = (b.scales[8 + g % 4] >> (2 * (g / 4))) & 3;
      scales[g * kTileOutputs] = scale * static_cast<float>((low | (high << 4)) - 32);
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
  static constexpr bool kHasMin = true, kWide = false, kHalves = false;
  HWTV_INLINE B quants(const Block& b, int part) {
    return field_b(load_b(b.nibbles + 32 * (part / 2)), 4 * (part % 2), 15);
  }
  HWTV_INLINE void scales(const Block& b, float* scales, float* mins) {
    expand_k_scales(b.scales, half_bits_to_float(b.scale), half_bits_to_float(b.min), scales, mins);
  }
};

struct FormatQ5_K {
  using Block = ops::BlockQ5_K;
  static constexpr int kBlock = 256, kGroup = 32, kZero = 0;
  static constexpr bool kHasMin = true, kWide = false, kHalves = false;
  HWTV_INLINE B quants(const Block& b, int part) {
    const B low = field_b(load_b(b.nibbles + 32 * (part / 2)), 4 * (part % 2), 15);
    return or_b(low, raise_b(field_b(load_b(b.fifth_bits), part, 1), 4));
  }
  HWTV_INLINE void scales(const Block& b, float* scales, float* mins) {
    expand_k_scales(b.scales, half_bits_to_float(b.scale), half_bits_to_float(b.min), scales, mins);
  }
};

struct FormatQ6_K {
  using Block = ops::BlockQ6_K;
  static constexpr int kBlock = 256, kGroup = 16, kZero = 32;
  static constexpr bool kHasMin = false, kWide = false, kHalves = false;
  HWTV_INLINE B quants(const Block& b, int part) {
    const int h = part / 4, j = part % 4;
    const B low = field_b(load_b(b.nibbles + 64 * h + 32 * (j % 2)), 4 * (j / 2), 15);
    return or_b(low, raise_b(field_b(load_b(b.high_bits + 32 * h), 2 * j, 3), 4));
  }
  HWTV_INLINE void scales(const Block& b, float* scales, float*) {
    const float scale = half_bits_to_float(b.scale);
    for (int g = 0; g < 16; ++g) scales[g * kTileOutputs] = scale * static_cast<float>(b.scales[g]);
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
  static constexpr bool kHasMin = false, kWide = true, kHalves = true;
  HWTV_INLINE B quants(const Block& b, int) {
    return look_up_b(unpack_nibbles(b.nibbles), kIq4Bytes);
  }
};

struct FormatIQ4_XS {
  using Block = ops::BlockIQ4_XS;
  static constexpr int kBlock = 256, kGroup = 32, kZero = 128;
  static constexpr bool kHasMin = false, kWide = true, kHalves = false;
  HWTV_INLINE B quants(const Block& b, int part) {
    return look_up_b(unpack_nibbles(b.nibbles + 16 * part), kIq4Bytes);
  }
  HWTV_INLINE void scales(const Block& b, float* scales, float*) {
    const float scale = half_bits_to_float(b.scale);
    for (int g = 0; g < 8; ++g) {
      const int low = (b.scales_low[g / 2] >> (4 * (g % 2))) & 15;
      const int high = (b.scales_high >> (2 * g)) & 3;
      scales[g * kTileOutputs] = scale * static_cast<float>((low | (high << 4)) - 32);
    }
  }
};

struct FormatMXFP4 {
  using Block = ops::BlockMXFP4;
  static constexpr int kBlock = 32, kGroup = 32, kZero = 12;
  static constexpr bool kHasMin = false, kWide = false, kHalves = false;
  HWTV_INLINE B quants(const Block& b, int) {
    return look_up_b(unpack_nibbles(b.nibbles), kMxfp4Bytes);
  }
  HWTV_INLINE void scales(const Block& b, float* scales, float*) {
    // 2^(exponent - 128); below 2^-126 a subnormal.
    const uint32_t e = b.exponent, bits = e < 2 ? 0x00200000u << e : (e - 1) << 23;
    __builtin_memcpy(scales, &bits, 4);
  }
};

}  // namespace
}  // namespace hwtv::cpu
