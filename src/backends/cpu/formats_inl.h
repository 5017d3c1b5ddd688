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

HWTV_INLINE void split_nibbles(const uint8_t* nibbles, int n, uint8_t* q) {
  for (int i = 0; i < n; ++i) q[i] = nibbles[i] & 15;
  for (int i = 0; i < n; ++i) q[n + i] = nibbles[i] >> 4;
}

// Bit i of 32 little-endian bits, as bit 4 of q[i].
HWTV_INLINE void add_fifth_bits(const uint8_t* bits, uint8_t* q) {
  uint32_t word;
  __builtin_memcpy(&word, bits, 4);
  for (int byte = 0; byte < 4; ++byte) {
    // One byte's bits spread over eight: bit i of the byte lands on bit 8 i + 4.
    const uint64_t copies = ((word >> (8 * byte)) & 0xffu) * 0x0101010101010101u;
    const uint64_t chosen = copies & 0x8040201008040201u;
    const uint64_t ones = ((chosen + 0x7f7f7f7f7f7f7f7fu) | chosen) & 0x8080808080808080u;
    uint64_t eight;
    __builtin_memcpy(&eight, q + 8 * byte, 8);
    eight |= ones >> 3;
    __builtin_memcpy(q + 8 * byte, &eight, 8);
  }
}

struct FormatQ4_0 {
  using Block = ops::BlockQ4_0;
  static constexpr int kBlock = 32, kGroup = 32, kZero = 8;
  static constexpr bool kHasMin = false, kWide = false;
  HWTV_INLINE void expand(const Block& b, uint8_t* q, float* scales, float*) {
    scales[0] = half_bits_to_float(b.scale);
    split_nibbles(b.nibbles, 16, q);
  }
};

struct FormatQ4_1 {
  using Block = ops::BlockQ4_1;
  static constexpr int kBlock = 32, kGroup = 32, kZero = 0;
  static constexpr bool kHasMin = true, kWide = false;
  HWTV_INLINE void expand(const Block& b, uint8_t* q, float* scales, float* mins) {
    scales[0] = half_bits_to_float(b.scale);
    mins[0] = half_bits_to_float(b.min);
    split_nibbles(b.nibbles, 16, q);
  }
};

struct FormatQ5_0 {
  using Block = ops::BlockQ5_0;
  static constexpr int kBlock = 32, kGroup = 32, kZero = 16;
  static constexpr bool kHasMin = false, kWide = false;
  HWTV_INLINE void expand(const Block& b, uint8_t* q, float* scales, float*) {
    scales[0] = half_bits_to_float(b.scale);
    split_nibbles(b.nibbles, 16, q);
    add_fifth_bits(b.fifth_bits, q);
  }
};

struct FormatQ5_1 {
  using Block = ops::BlockQ5_1;
  static constexpr int kBlock = 32, kGroup = 32, kZero = 0;
  static constexpr bool kHasMin = true, kWide = false;
  HWTV_INLINE void expand(const Block& b, uint8_t* q, float* scales, float* mins) {
    scales[0] = half_bits_to_float(b.scale);
    mins[0] = half_bits_to_float(b.min);
    split_nibbles(b.nibbles, 16, q);
    add_fifth_bits(b.fifth_bits, q);
  }
};

struct FormatQ8_0 {
  using Block = ops::BlockQ8_0;
  static constexpr int kBlock = 32, kGroup = 32, kZero = 128;
  static constexpr bool kHasMin = false, kWide = true;
  HWTV_INLINE void expand(const Block& b, uint8_t* q, float* scales, float*) {
    scales[0] = half_bits_to_float(b.scale);
    for (int i = 0; i < 32; ++i) q[i] = static_cast<uint8_t>(b.quants[i]) ^ 0x80u;
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
    for (int h = 0; h < 2; ++h)
      for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 32; ++i)
          q[128 * h + 32 * j + i] = (b.quants[32 * h + i] >> (2 * j)) & 3;
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
    for (int h = 0; h < 2; ++h)
      for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 32; ++i) {
          const int low = (b.quants[32 * h + i] >> (2 * j)) & 3;
          const int high = (b.third_bits[i] >> (4 * h + j)) & 1;
          q[128 * h + 32 * j + i] = static_cast<uint8_t>(low | (high << 2));
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
    for (int c = 0; c < 4; ++c) split_nibbles(b.nibbles + 32 * c, 32, q + 64 * c);
  }
};

struct FormatQ5_K {
  using Block = ops::BlockQ5_K;
  static constexpr int kBlock = 256, kGroup = 32, kZero = 0;
  static constexpr bool kHasMin = true, kWide = false;
  HWTV_INLINE void expand(const Block& b, uint8_t* q, float* scales, float* mins) {
    expand_k_scales(b.scales, half_bits_to_float(b.scale), half_bits_to_float(b.min), scales, mins);
    for (int c = 0; c < 4; ++c)
      for (int i = 0; i < 32; ++i) {
        const int nibbles = b.nibbles[32 * c + i], fifth = b.fifth_bits[i] >> (2 * c);
        q[64 * c + i] = static_cast<uint8_t>((nibbles & 15) | ((fifth & 1) << 4));
        q[64 * c + 32 + i] = static_cast<uint8_t>((nibbles >> 4) | ((fifth & 2) << 3));
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
    for (int h = 0; h < 2; ++h)
      for (int i = 0; i < 32; ++i) {
        const int first = b.nibbles[64 * h + i], second = b.nibbles[64 * h + 32 + i];
        const int high = b.high_bits[32 * h + i];
        uint8_t* const out = q + 128 * h + i;
        out[0] = static_cast<uint8_t>((first & 15) | ((high & 3) << 4));
        out[32] = static_cast<uint8_t>((second & 15) | ((high & 12) << 2));
        out[64] = static_cast<uint8_t>((first >> 4) | (high & 48));
        out[96] = static_cast<uint8_t>((second >> 4) | ((high & 192) >> 2));
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
    look_up_nibbles(b.nibbles, kIq4Bytes, q);
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
      look_up_nibbles(b.nibbles + 16 * g, kIq4Bytes, q + 32 * g);
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
    look_up_nibbles(b.nibbles, kMxfp4Bytes, q);
  }
};

}  // namespace
}  // namespace hwtv::cpu
