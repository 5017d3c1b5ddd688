// The quant_blocks of GGUF's types, byte for byte as they lie in a file.  Included by kernels that
// are built for one instruction set, so: plain data only.  Layouts: the GGUF specification.
#pragma once
#include <cstdint>

namespace hwtv::ops {

// Scales named `scale` and `min` are IEEE half bits unless said otherwise.  "Split nibbles":
// element i is the low nibble of byte i, element i + n/2 the high one, over groups of n elements.

// x = scale * (q - 8)
struct BlockQ4_0 {
  uint16_t scale;
  uint8_t nibbles[16];  // split, n = 32
};

// x = scale * q + min
struct BlockQ4_1 {
  uint16_t scale;
  uint16_t min;
  uint8_t nibbles[16];  // split, n = 32
};

// x = scale * (q - 16)
struct BlockQ5_0 {
  uint16_t scale;
  uint8_t fifth_bits[4];  // bit i (little-endian) is bit 4 of element i
  uint8_t nibbles[16];    // split, n = 32
};

// x = scale * q + min
struct BlockQ5_1 {
  uint16_t scale;
  uint16_t min;
  uint8_t fifth_bits[4];  // as in Q5_0
  uint8_t nibbles[16];    // split, n = 32
};

// x = scale * q
struct BlockQ8_0 {
  uint16_t scale;
  int8_t quants[32];
};

// x = scale * s * q - min * m; s, m for each 16 elements
struct BlockQ2_K {
  uint8_t scales[16];  // low nibble s, high nibble m
  uint8_t quants[64];  // 2 bits: element 128 h + 32 j + i is at bit 2 j of byte 32 h + i
  uint16_t scale;
  uint16_t min;
};

// x = scale * (s - 32) * (q - 4); s of 6 bits for each 16 elements
struct BlockQ3_K {
  uint8_t third_bits[32];  // element 32 j + i: bit 2 of q is bit j of byte i
  uint8_t quants[64];      // the low 2 bits, as in Q2_K
  uint8_t scales[12];  // s_k: low 4 bits in nibble k / 8 of byte k % 8, high 2 at bit 2 (k / 4) of
                       // byte 8 + k % 4
  uint16_t scale;
};

// x = scale * s * q - min * m; s, m of 6 bits for each 32 elements
struct BlockQ4_K {
  uint16_t scale;
  uint16_t min;
  uint8_t scales[12];    // k < 4: s_k, m_k are the low 6 bits of bytes k, k + 4.  k >= 4: their low
                         // 4 bits are the nibbles of byte k + 4, high 2 the top of bytes k - 4, k
  uint8_t nibbles[128];  // split, n = 64
};

// x = scale * s * q - min * m
struct BlockQ5_K {
  uint16_t scale;
  uint16_t min;
  uint8_t scales[12];      // as in Q4_K
  uint8_t fifth_bits[32];  // element 32 j + i: bit 4 of q is bit j of byte i
  uint8_t nibbles[128];    // split, n = 64
};

// x = scale * s * (q - 32); s for each 16 elements
struct BlockQ6_K {
  uint8_t nibbles[128];   // the low 4 bits: split, n = 128
  uint8_t high_bits[64];  // the high 2 bits, as `quants` in Q2_K
  int8_t scales[16];
  uint16_t scale;
};

// x = scale * kIq4Values[q]
struct BlockIQ4_NL {
  uint16_t scale;
  uint8_t nibbles[16];  // split, n = 32
};

// x = scale * (s - 32) * kIq4Values[q]; s of 6 bits for each 32 elements
struct BlockIQ4_XS {
  uint16_t scale;
  uint16_t scales_high;   // s_k: high 2 bits at bit 2 k
  uint8_t scales_low[4];  // s_k: low 4 bits in nibble k % 2 of byte k / 2
  uint8_t nibbles[128];   // split, n = 32
};

// x = 2^(exponent - 128) * kMxfp4Values[q]
struct BlockMXFP4 {
  uint8_t exponent;
  uint8_t nibbles[16];  // split, n = 32
};

static_assert(sizeof(BlockQ4_0) == 18);
static_assert(sizeof(BlockQ4_1) == 20);
static_assert(sizeof(BlockQ5_0) == 22);
static_assert(sizeof(BlockQ5_1) == 24);
static_assert(sizeof(BlockQ8_0) == 34);
static_assert(sizeof(BlockQ2_K) == 84);
static_assert(sizeof(BlockQ3_K) == 110);
static_assert(sizeof(BlockQ4_K) == 144);
static_assert(sizeof(BlockQ5_K) == 176);
static_assert(sizeof(BlockQ6_K) == 210);
static_assert(sizeof(BlockIQ4_NL) == 18);
static_assert(sizeof(BlockIQ4_XS) == 136);
static_assert(sizeof(BlockMXFP4) == 17);

constexpr int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                   1,    13,   25,  38,  53,  69,  89,  113};
// Twice the values of the OCP microscaling format's FP4 (E2M1).
constexpr int8_t kMxfp4Values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

}  // namespace hwtv::ops
