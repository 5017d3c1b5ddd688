// Sixteen lanes in plain C++: the words that every kernel is written in.  The other simd_*_inl.h
// say the same words in one instruction set each.
#pragma once
#include <cstdint>

#define HWTV_INLINE static inline __attribute__((always_inline))

namespace hwtv::cpu {
namespace {

constexpr int kLanes = 16;
constexpr int kUnroll = 1;       // loops over a tile's 16 rows: 16 where lanes are registers
constexpr int kMicroTokens = 2;  // tokens of the integer kernels' inner loop
constexpr int kMicroRows = 2;    // rows of x in the inner loop over packed tiles
constexpr int kDotRows = 2;      // weight rows and tokens of the float kernels' inner loop
constexpr int kDotTokens = 2;
constexpr int kValueSlices = 1;   // sixteens of a value summed in one pass
constexpr int kAttentionRows = 2;
constexpr int kScoreTiles = 1;  // tiles of keys scored in one pass
constexpr bool kCentersWide = false;  // dot4_wide subtracts 128 from the unsigned side by itself

struct F {
  float v[kLanes];
};
struct I {
  int32_t v[kLanes];
};

HWTV_INLINE F set_f(float x) {
  F r;
  for (int i = 0; i < kLanes; ++i) r.v[i] = x;
  return r;
}
HWTV_INLINE F load_f(const float* p) {
  F r;
  __builtin_memcpy(r.v, p, sizeof r.v);
  return r;
}
HWTV_INLINE void store_f(float* p, F a) { __builtin_memcpy(p, a.v, sizeof a.v); }
HWTV_INLINE F load_n(const float* p, int64_t n) {  // the first n lanes, the rest 0
  F r = set_f(0);
  for (int i = 0; i < n; ++i) r.v[i] = p[i];
  return r;
}
HWTV_INLINE void store_n(float* p, F a, int64_t n) {
  for (int i = 0; i < n; ++i) p[i] = a.v[i];
}

#define HWTV_LANEWISE(name, expression)   \
  HWTV_INLINE F name(F a, F b) {          \
    F r;                                  \
    for (int i = 0; i < kLanes; ++i) {    \
      const float x = a.v[i], y = b.v[i]; \
      r.v[i] = (expression);              \
    }                                     \
    return r;                             \
  }
HWTV_LANEWISE(add_f, x + y)
HWTV_LANEWISE(sub_f, x - y)
HWTV_LANEWISE(mul_f, x* y)
HWTV_LANEWISE(div_f, x / y)
HWTV_LANEWISE(max_f, x > y ? x : y)
HWTV_LANEWISE(min_f, x < y ? x : y)
#undef HWTV_LANEWISE
HWTV_INLINE F abs_f(F a) {
  for (int i = 0; i < kLanes; ++i) a.v[i] = __builtin_fabsf(a.v[i]);
  return a;
}
// a * b + c, fused where the instruction set can: only for sums whose last bits may differ.
HWTV_INLINE F madd_f(F a, F b, F c) { return add_f(mul_f(a, b), c); }

// a * b + c with one rounding on every machine.
HWTV_INLINE F fma_f(F a, F b, F c) {
  for (int i = 0; i < kLanes; ++i) c.v[i] = __builtin_fmaf(a.v[i], b.v[i], c.v[i]);
  return c;
}

// Pairs lanes i and i + 8, then i + 4, i + 2, i + 1.
HWTV_INLINE float sum_f(F a) {
  for (int width = 8; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) a.v[i] += a.v[i + width];
  return a.v[0];
}
HWTV_INLINE float max_lane(F a) {
  float r = a.v[0];
  for (int i = 1; i < kLanes; ++i) r = a.v[i] > r ? a.v[i] : r;
  return r;
}
// Lanes [begin, end) of a, `other` elsewhere.
HWTV_INLINE F keep_f(F a, int64_t begin, int64_t end, float other) {
  for (int i = 0; i < kLanes; ++i) a.v[i] = i >= begin && i < end ? a.v[i] : other;
  return a;
}

HWTV_INLINE float half_bits_to_float(uint16_t h) {
  // Shifts the half into a float's place and rescales: subnormals come out right.
  uint32_t bits = static_cast<uint32_t>(h & 0x7fffu) << 13;
  float magnitude;
  __builtin_memcpy(&magnitude, &bits, 4);
  magnitude *= 0x1p112f;
  __builtin_memcpy(&bits, &magnitude, 4);
  bits |= bits >= 0x47800000u ? 0x7f800000u : 0u;  // infinity, NaN
  bits |= static_cast<uint32_t>(h & 0x8000u) << 16;
  float r;
  __builtin_memcpy(&r, &bits, 4);
  return r;
}
HWTV_INLINE F load_half(const uint16_t* p) {
  F r;
  for (int i = 0; i < kLanes; ++i) r.v[i] = half_bits_to_float(p[i]);
  return r;
}
HWTV_INLINE F load_bfloat(const uint16_t* p) {
  F r;
  for (int i = 0; i < kLanes; ++i) {
    const uint32_t bits = static_cast<uint32_t>(p[i]) << 16;
    __builtin_memcpy(&r.v[i], &bits, 4);
  }
  return r;
}
HWTV_INLINE F load_int8(const int8_t* p) {
  F r;
  for (int i = 0; i < kLanes; ++i) r.v[i] = p[i];
  return r;
}
// The low or high nibbles of 16 bytes, minus 8.
HWTV_INLINE F load_nibbles(const uint8_t* p, int shift) {
  F r;
  for (int i = 0; i < kLanes; ++i) r.v[i] = static_cast<float>(((p[i] >> shift) & 15) - 8);
  return r;
}
HWTV_INLINE uint16_t float_to_half_bits(float f) {  // rounds to nearest even
  uint32_t bits;
  __builtin_memcpy(&bits, &f, 4);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  bits &= 0x7fffffffu;
  if (bits > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (bits >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (bits < 0x38800000u) {  // subnormal: let the adder round at the half's last place
    float magnitude;
    __builtin_memcpy(&magnitude, &bits, 4);
    magnitude += 0.5f;
    __builtin_memcpy(&bits, &magnitude, 4);
    return static_cast<uint16_t>(sign | (bits - 0x3f000000u));
  }
  return static_cast<uint16_t>(sign | ((bits - 0x38000000u + 0xfffu + ((bits >> 13) & 1u)) >> 13));
}
HWTV_INLINE void store_half(uint16_t* p, F a) {
  for (int i = 0; i < kLanes; ++i) p[i] = float_to_half_bits(a.v[i]);
}

HWTV_INLINE I set_i(int32_t x) {
  I r;
  for (int i = 0; i < kLanes; ++i) r.v[i] = x;
  return r;
}
HWTV_INLINE F to_float(I a) {
  F r;
  for (int i = 0; i < kLanes; ++i) r.v[i] = static_cast<float>(a.v[i]);
  return r;
}
// To the nearest integer, ties to even.  Requires: |a| < 2^22.
HWTV_INLINE I round_i(F a) {
  I r;
  for (int i = 0; i < kLanes; ++i) {
    const float shifted = a.v[i] + 0x1.8p23f;
    int32_t bits;
    __builtin_memcpy(&bits, &shifted, 4);
    r.v[i] = bits - 0x4b400000;
  }
  return r;
}
HWTV_INLINE void store_int8(int8_t* p, I a) {
  for (int i = 0; i < kLanes; ++i) p[i] = static_cast<int8_t>(a.v[i]);
}
HWTV_INLINE int32_t sum_i(I a) {
  int32_t r = 0;
  for (int i = 0; i < kLanes; ++i) r += a.v[i];
  return r;
}
// a * 2^n.  Requires: a in [0.5, 2], n in [-126, 127].
HWTV_INLINE F scale_by_power(F a, I n) {
  for (int i = 0; i < kLanes; ++i) {
    const int32_t bits = (n.v[i] + 127) << 23;
    float power;
    __builtin_memcpy(&power, &bits, 4);
    a.v[i] *= power;
  }
  return a;
}

// Sixteen bytes or halves as integers.
HWTV_INLINE I load_u8_i(const uint8_t* p) {
  I r;
  for (int i = 0; i < kLanes; ++i) r.v[i] = p[i];
  return r;
}
HWTV_INLINE I load_u16_i(const uint8_t* p) {
  I r;
  for (int i = 0; i < kLanes; ++i) r.v[i] = p[2 * i] | (p[2 * i + 1] << 8);
  return r;
}
// Of each lane, which is not negative: (a >> shift) & mask; a << shift; a | b.
HWTV_INLINE I field_i(I a, int shift, int32_t mask) {
  for (int i = 0; i < kLanes; ++i) a.v[i] = (a.v[i] >> shift) & mask;
  return a;
}
HWTV_INLINE I raise_i(I a, int shift) {
  for (int i = 0; i < kLanes; ++i) a.v[i] <<= shift;
  return a;
}
HWTV_INLINE I or_i(I a, I b) {
  for (int i = 0; i < kLanes; ++i) a.v[i] |= b.v[i];
  return a;
}
HWTV_INLINE F bits_to_f(I a) {
  F r;
  __builtin_memcpy(r.v, a.v, sizeof r.v);
  return r;
}

// Sixteen words of four bytes: a slice of four elements of 16 weight rows.
struct W {
  uint8_t v[64];
};
HWTV_INLINE W load_w(const uint8_t* p) {
  W r;
  __builtin_memcpy(r.v, p, 64);
  return r;
}
HWTV_INLINE void store_w(uint8_t* p, W a) { __builtin_memcpy(p, a.v, 64); }
// Of each byte: (a >> shift) & mask; a | ((b << shift) & mask), b >> -shift where shift is
// negative; table[a], 16 entries.
HWTV_INLINE W field_w(W a, int shift, uint8_t mask) {
  for (int i = 0; i < 64; ++i) a.v[i] = static_cast<uint8_t>((a.v[i] >> shift) & mask);
  return a;
}
HWTV_INLINE W merge_w(W a, W b, int shift, uint8_t mask) {
  for (int i = 0; i < 64; ++i)
    a.v[i] |= static_cast<uint8_t>((shift >= 0 ? b.v[i] << shift : b.v[i] >> -shift) & mask);
  return a;
}
HWTV_INLINE W subtract_w(W a, int zero) {
  for (int i = 0; i < 64; ++i) a.v[i] = static_cast<uint8_t>(a.v[i] - zero);
  return a;
}
HWTV_INLINE W look_up_w(W a, const uint8_t* table) {
  for (int i = 0; i < 64; ++i) a.v[i] = table[a.v[i]];
  return a;
}

// acc lane i += sum over j of w byte 4 i + j * x byte j; w unsigned, at most 127 unless `wide`.
template <bool kWide>
HWTV_INLINE I dot4_w(I acc, W w, const int8_t* x) {
  for (int i = 0; i < kLanes; ++i)
    for (int j = 0; j < 4; ++j) acc.v[i] += static_cast<int32_t>(w.v[4 * i + j]) * x[j];
  return acc;
}
template <bool kWide>
HWTV_INLINE I dot4(I acc, const uint8_t* w, const int8_t* x) {
  return dot4_w<kWide>(acc, load_w(w), x);
}

// 32 bytes: the quants of half or all of a quant_block.
struct B {
  uint8_t v[32];
};
HWTV_INLINE B load_b(const void* p) {
  B r;
  __builtin_memcpy(r.v, p, 32);
  return r;
}
HWTV_INLINE void store_b(uint8_t* p, B a) { __builtin_memcpy(p, a.v, 32); }
// The low nibbles of 16 bytes, then the high ones.
HWTV_INLINE B unpack_nibbles(const uint8_t* p) {
  B r;
  for (int i = 0; i < 16; ++i) r.v[i] = p[i] & 15;
  for (int i = 0; i < 16; ++i) r.v[16 + i] = p[i] >> 4;
  return r;
}
// Byte i is 16 where bit i (little-endian) is set.
HWTV_INLINE B unpack_fifth_bits(const uint8_t* bits) {
  B r;
  for (int i = 0; i < 32; ++i) r.v[i] = static_cast<uint8_t>(((bits[i / 8] >> (i % 8)) & 1) << 4);
  return r;
}
// Of each byte: (a >> shift) & mask; a << shift; a | b; a ^ 0x80.
HWTV_INLINE B field_b(B a, int shift, uint8_t mask) {
  for (int i = 0; i < 32; ++i) a.v[i] = static_cast<uint8_t>((a.v[i] >> shift) & mask);
  return a;
}
HWTV_INLINE B raise_b(B a, int shift) {
  for (int i = 0; i < 32; ++i) a.v[i] = static_cast<uint8_t>(a.v[i] << shift);
  return a;
}
HWTV_INLINE B or_b(B a, B b) {
  for (int i = 0; i < 32; ++i) a.v[i] |= b.v[i];
  return a;
}
HWTV_INLINE B flip_sign_b(B a) {
  for (int i = 0; i < 32; ++i) a.v[i] ^= 0x80;
  return a;
}
// table[a], 16 entries.
HWTV_INLINE B look_up_b(B a, const uint8_t* table) {
  for (int i = 0; i < 32; ++i) a.v[i] = table[a.v[i]];
  return a;
}

// 64 bytes of one weight row.
struct R {
  uint8_t v[64];
};
HWTV_INLINE R join(B first, B second) {
  R r;
  __builtin_memcpy(r.v, first.v, 32);
  __builtin_memcpy(r.v + 32, second.v, 32);
  return r;
}
// 16 rows -> 16 lines of 64 bytes: line j holds bytes [4 j, 4 j + 4) of every row.
static void transpose(const R* rows, uint8_t* lines) {
  for (int j = 0; j < 16; ++j)
    for (int r = 0; r < 16; ++r) __builtin_memcpy(lines + 64 * j + 4 * r, rows[r].v + 4 * j, 4);
}
// Lane i: the sum over j of w[4 i + j] * x[4 i + j].  `wide` as in dot4.
template <bool kWide>
static I dot_row(const R& w, const int8_t* x) {
  I r = set_i(0);
  for (int i = 0; i < kLanes; ++i)
    for (int j = 0; j < 4; ++j) r.v[i] += static_cast<int32_t>(w.v[4 * i + j]) * x[4 * i + j];
  return r;
}
// sums[p] lane r = the sum of lanes 4 p .. 4 p + 3 of rows[r], for 16 rows.
static void add_quads(const I* rows, I* sums) {
  for (int p = 0; p < 4; ++p)
    for (int r = 0; r < kLanes; ++r) {
      const int32_t* const quad = rows[r].v + 4 * p;
      sums[p].v[r] = (quad[0] + quad[1]) + (quad[2] + quad[3]);
    }
}
HWTV_INLINE I add_i(I a, I b) {
  for (int i = 0; i < kLanes; ++i) a.v[i] += b.v[i];
  return a;
}

}  // namespace
}  // namespace hwtv::cpu
