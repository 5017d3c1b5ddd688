// Sixteen lanes as two registers of AVX2 with FMA and F16C.  Words: see simd_scalar_inl.h.
#pragma once
#include <immintrin.h>

#include <cstdint>

#define HWTV_INLINE static inline __attribute__((always_inline))

namespace hwtv::cpu {
namespace {

constexpr int kLanes = 16;
constexpr int kUnroll = 16;
constexpr int kMicroTokens = 4;
constexpr int kMicroRows = 2;
constexpr int kDotRows = 2;
constexpr int kDotTokens = 2;
constexpr int kValueSlices = 1;
constexpr int kAttentionRows = 4;
#ifdef __AVXVNNI__
constexpr bool kCentersWide = false;
#else
constexpr bool kCentersWide = true;
#endif

struct F {
  __m256 lo, hi;
};
struct I {
  __m256i lo, hi;
};

HWTV_INLINE F set_f(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
HWTV_INLINE F load_f(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
HWTV_INLINE void store_f(float* p, F a) {
  _mm256_storeu_ps(p, a.lo);
  _mm256_storeu_ps(p + 8, a.hi);
}
HWTV_INLINE F load_n(const float* p, int64_t n) {
  alignas(32) float lanes[kLanes] = {};
  for (int64_t i = 0; i < n; ++i) lanes[i] = p[i];
  return load_f(lanes);
}
HWTV_INLINE void store_n(float* p, F a, int64_t n) {
  alignas(32) float lanes[kLanes];
  store_f(lanes, a);
  for (int64_t i = 0; i < n; ++i) p[i] = lanes[i];
}

HWTV_INLINE F add_f(F a, F b) { return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)}; }
HWTV_INLINE F sub_f(F a, F b) { return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)}; }
HWTV_INLINE F mul_f(F a, F b) { return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)}; }
HWTV_INLINE F div_f(F a, F b) { return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)}; }
HWTV_INLINE F max_f(F a, F b) { return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)}; }
HWTV_INLINE F min_f(F a, F b) { return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)}; }
HWTV_INLINE F abs_f(F a) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_andnot_ps(sign, a.lo), _mm256_andnot_ps(sign, a.hi)};
}
HWTV_INLINE F madd_f(F a, F b, F c) {
  return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}

HWTV_INLINE F fma_f(F a, F b, F c) { return madd_f(a, b, c); }

HWTV_INLINE float sum_f(F a) {
  const __m256 s8 = _mm256_add_ps(a.lo, a.hi);
  const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
}
HWTV_INLINE float max_lane(F a) {
  const __m256 m8 = _mm256_max_ps(a.lo, a.hi);
  const __m128 m4 = _mm_max_ps(_mm256_castps256_ps128(m8), _mm256_extractf128_ps(m8, 1));
  const __m128 m2 = _mm_max_ps(m4, _mm_movehl_ps(m4, m4));
  return _mm_cvtss_f32(_mm_max_ss(m2, _mm_movehdup_ps(m2)));
}
HWTV_INLINE F keep_f(F a, int64_t begin, int64_t end, float other) {
  const __m256i first = _mm256_set1_epi32(static_cast<int>(begin) - 1);
  const __m256i last = _mm256_set1_epi32(static_cast<int>(end));
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i lane8 = _mm256_add_epi32(lane, _mm256_set1_epi32(8));
  const __m256i lo =
      _mm256_and_si256(_mm256_cmpgt_epi32(lane, first), _mm256_cmpgt_epi32(last, lane));
  const __m256i hi =
      _mm256_and_si256(_mm256_cmpgt_epi32(lane8, first), _mm256_cmpgt_epi32(last, lane8));
  const __m256 fill = _mm256_set1_ps(other);
  return {_mm256_blendv_ps(fill, a.lo, _mm256_castsi256_ps(lo)),
          _mm256_blendv_ps(fill, a.hi, _mm256_castsi256_ps(hi))};
}

HWTV_INLINE __m128i load_128(const void* p) {
  return _mm_loadu_si128(static_cast<const __m128i*>(p));
}
HWTV_INLINE float half_bits_to_float(uint16_t h) { return _cvtsh_ss(h); }
HWTV_INLINE uint16_t float_to_half_bits(float f) {
  return static_cast<uint16_t>(_cvtss_sh(f, _MM_FROUND_TO_NEAREST_INT));
}
HWTV_INLINE F load_half(const uint16_t* p) {
  return {_mm256_cvtph_ps(load_128(p)), _mm256_cvtph_ps(load_128(p + 8))};
}
HWTV_INLINE void store_half(uint16_t* p, F a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(a.lo, _MM_FROUND_TO_NEAREST_INT));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 8),
                   _mm256_cvtps_ph(a.hi, _MM_FROUND_TO_NEAREST_INT));
}
HWTV_INLINE F load_bfloat(const uint16_t* p) {
  const auto widen = [](__m128i bits) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
  };
  return {widen(load_128(p)), widen(load_128(p + 8))};
}
HWTV_INLINE F bytes_to_f(__m128i bytes) {
  return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)),
          _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8)))};
}
HWTV_INLINE F load_int8(const int8_t* p) { return bytes_to_f(load_128(p)); }
HWTV_INLINE F load_nibbles(const uint8_t* p, int shift) {
  const __m128i nibbles = _mm_and_si128(_mm_srli_epi16(load_128(p), shift), _mm_set1_epi8(15));
  return bytes_to_f(_mm_sub_epi8(nibbles, _mm_set1_epi8(8)));
}

HWTV_INLINE I set_i(int32_t x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
HWTV_INLINE F to_float(I a) { return {_mm256_cvtepi32_ps(a.lo), _mm256_cvtepi32_ps(a.hi)}; }
HWTV_INLINE I round_i(F a) { return {_mm256_cvtps_epi32(a.lo), _mm256_cvtps_epi32(a.hi)}; }
HWTV_INLINE void store_int8(int8_t* p, I a) {
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a.lo, a.hi), 0xd8);
  const __m128i bytes =
      _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bytes);
}
HWTV_INLINE int32_t sum_i(I a) {
  const __m256i s8 = _mm256_add_epi32(a.lo, a.hi);
  __m128i s = _mm_add_epi32(_mm256_castsi256_si128(s8), _mm256_extracti128_si256(s8, 1));
  s = _mm_add_epi32(s, _mm_unpackhi_epi64(s, s));
  return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 1)));
}
HWTV_INLINE F scale_by_power(F a, I n) {
  const auto power = [](__m256i e) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(e, _mm256_set1_epi32(127)), 23));
  };
  return {_mm256_mul_ps(a.lo, power(n.lo)), _mm256_mul_ps(a.hi, power(n.hi))};
}

HWTV_INLINE I load_u8_i(const uint8_t* p) {
  const __m128i bytes = load_128(p);
  return {_mm256_cvtepu8_epi32(bytes), _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8))};
}
HWTV_INLINE I load_u16_i(const uint8_t* p) {
  return {_mm256_cvtepu16_epi32(load_128(p)), _mm256_cvtepu16_epi32(load_128(p + 16))};
}
HWTV_INLINE I field_i(I a, int shift, int32_t mask) {
  const __m256i m = _mm256_set1_epi32(mask);
  return {_mm256_and_si256(_mm256_srli_epi32(a.lo, shift), m),
          _mm256_and_si256(_mm256_srli_epi32(a.hi, shift), m)};
}
HWTV_INLINE I raise_i(I a, int shift) {
  return {_mm256_slli_epi32(a.lo, shift), _mm256_slli_epi32(a.hi, shift)};
}
HWTV_INLINE I or_i(I a, I b) { return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)}; }
HWTV_INLINE F bits_to_f(I a) { return {_mm256_castsi256_ps(a.lo), _mm256_castsi256_ps(a.hi)}; }

// Pairs of products fit 16 bits: 2 * 127 * 127.  `wide` weights have 128 subtracted and their sign
// moved to x, since 2 * 255 * 127 would not fit.
#ifdef __AVXVNNI__
template <bool kWide>
HWTV_INLINE __m256i dot4_half(__m256i acc, __m256i weights, __m256i x) {
  return _mm256_dpbusd_avx_epi32(acc, weights, x);
}
#else
template <bool kWide>
HWTV_INLINE __m256i dot4_half(__m256i acc, __m256i weights, __m256i x) {
  if constexpr (kWide) {
    const __m256i centered = _mm256_xor_si256(weights, _mm256_set1_epi8(-128));
    weights = _mm256_abs_epi8(centered);
    x = _mm256_sign_epi8(x, centered);
  }
  const __m256i pairs = _mm256_maddubs_epi16(weights, x);
  return _mm256_add_epi32(acc, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
#endif
struct W {
  __m256i lo, hi;
};
HWTV_INLINE W load_w(const uint8_t* p) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)),
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32))};
}
HWTV_INLINE void store_w(uint8_t* p, W a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a.lo);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 32), a.hi);
}
HWTV_INLINE W field_w(W a, int shift, uint8_t mask) {
  const __m256i m = _mm256_set1_epi8(static_cast<char>(mask));
  return {_mm256_and_si256(_mm256_srli_epi16(a.lo, shift), m),
          _mm256_and_si256(_mm256_srli_epi16(a.hi, shift), m)};
}
HWTV_INLINE W merge_w(W a, W b, int shift, uint8_t mask) {
  const __m256i m = _mm256_set1_epi8(static_cast<char>(mask));
  const auto moved = [&](__m256i v) {
    return shift >= 0 ? _mm256_slli_epi16(v, shift) : _mm256_srli_epi16(v, -shift);
  };
  return {_mm256_or_si256(a.lo, _mm256_and_si256(moved(b.lo), m)),
          _mm256_or_si256(a.hi, _mm256_and_si256(moved(b.hi), m))};
}
HWTV_INLINE W subtract_w(W a, int zero) {
  const __m256i z = _mm256_set1_epi8(static_cast<char>(zero));
  return {_mm256_sub_epi8(a.lo, z), _mm256_sub_epi8(a.hi, z)};
}
HWTV_INLINE W look_up_w(W a, const uint8_t* table) {
  const __m256i entries = _mm256_broadcastsi128_si256(load_128(table));
  return {_mm256_shuffle_epi8(entries, a.lo), _mm256_shuffle_epi8(entries, a.hi)};
}

template <bool kWide>
HWTV_INLINE I dot4_w(I acc, W w, const int8_t* x) {
  int32_t four;
  __builtin_memcpy(&four, x, 4);
  const __m256i broadcast = _mm256_set1_epi32(four);
  return {dot4_half<kWide>(acc.lo, w.lo, broadcast), dot4_half<kWide>(acc.hi, w.hi, broadcast)};
}
template <bool kWide>
HWTV_INLINE I dot4(I acc, const uint8_t* w, const int8_t* x) {
  return dot4_w<kWide>(acc, load_w(w), x);
}

struct B {
  __m256i v;
};
HWTV_INLINE B load_b(const void* p) { return {_mm256_loadu_si256(static_cast<const __m256i*>(p))}; }
HWTV_INLINE void store_b(uint8_t* p, B a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a.v);
}
HWTV_INLINE B unpack_nibbles(const uint8_t* p) {
  const __m128i packed = load_128(p);
  return {
      _mm256_and_si256(_mm256_set_m128i(_mm_srli_epi16(packed, 4), packed), _mm256_set1_epi8(15))};
}
HWTV_INLINE B unpack_fifth_bits(const uint8_t* bits) {
  int32_t word;
  __builtin_memcpy(&word, bits, 4);
  // Byte i of the vector gets byte i / 8 of the word, then keeps bit i % 8 alone.
  const __m256i spread = _mm256_shuffle_epi8(
      _mm256_set1_epi32(word),
      _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303));
  const __m256i bit = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201u));
  const __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(spread, bit), bit);
  return {_mm256_and_si256(set, _mm256_set1_epi8(16))};
}
HWTV_INLINE B field_b(B a, int shift, uint8_t mask) {
  return {
      _mm256_and_si256(_mm256_srli_epi16(a.v, shift), _mm256_set1_epi8(static_cast<char>(mask)))};
}
HWTV_INLINE B raise_b(B a, int shift) {  // Requires: no bit leaves its byte.
  return {_mm256_slli_epi16(a.v, shift)};
}
HWTV_INLINE B or_b(B a, B b) { return {_mm256_or_si256(a.v, b.v)}; }
HWTV_INLINE B flip_sign_b(B a) { return {_mm256_xor_si256(a.v, _mm256_set1_epi8(-128))}; }
HWTV_INLINE B look_up_b(B a, const uint8_t* table) {
  return {_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(load_128(table)), a.v)};
}

struct R {
  __m256i half[2];
};
HWTV_INLINE R join(B first, B second) { return {{first.v, second.v}}; }

// 8 rows of 32 bytes -> 8 lines, 64 bytes apart, of which this fills 32.
HWTV_INLINE void transpose8(const R* rows, int half, uint8_t* lines) {
  __m256i a[8], b[8];
#pragma GCC unroll 4
  for (int r = 0; r < 8; r += 2) {
    b[r] = _mm256_unpacklo_epi32(rows[r].half[half], rows[r + 1].half[half]);
    b[r + 1] = _mm256_unpackhi_epi32(rows[r].half[half], rows[r + 1].half[half]);
  }
#pragma GCC unroll 2
  for (int r = 0; r < 8; r += 4) {
    a[r] = _mm256_unpacklo_epi64(b[r], b[r + 2]);
    a[r + 1] = _mm256_unpackhi_epi64(b[r], b[r + 2]);
    a[r + 2] = _mm256_unpacklo_epi64(b[r + 1], b[r + 3]);
    a[r + 3] = _mm256_unpackhi_epi64(b[r + 1], b[r + 3]);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(lines + 64 * j),
                       _mm256_permute2x128_si256(a[j], a[j + 4], 0x20));
    _mm256_store_si256(reinterpret_cast<__m256i*>(lines + 64 * (j + 4)),
                       _mm256_permute2x128_si256(a[j], a[j + 4], 0x31));
  }
}
HWTV_INLINE void transpose(const R* rows, uint8_t* lines) {
  for (int eight = 0; eight < 2; ++eight)
    for (int half = 0; half < 2; ++half)
      transpose8(rows + 8 * eight, half, lines + 512 * half + 32 * eight);
}

template <bool kWide>
HWTV_INLINE I dot_row(const R& w, const int8_t* x) {
  const __m256i zero = _mm256_setzero_si256();
  return {dot4_half<kWide>(zero, w.half[0], load_b(x).v),
          dot4_half<kWide>(zero, w.half[1], load_b(x + 32).v)};
}
// Rows of 8 lanes, two quads each -> quad sums of 4 rows: [quad 0 of rows r .. r + 3 | quad 1].
HWTV_INLINE __m256i add_quads_of_4(__m256i r0, __m256i r1, __m256i r2, __m256i r3) {
  const __m256i pairs01 =
      _mm256_add_epi32(_mm256_unpacklo_epi32(r0, r1), _mm256_unpackhi_epi32(r0, r1));
  const __m256i pairs23 =
      _mm256_add_epi32(_mm256_unpacklo_epi32(r2, r3), _mm256_unpackhi_epi32(r2, r3));
  return _mm256_add_epi32(_mm256_unpacklo_epi64(pairs01, pairs23),
                          _mm256_unpackhi_epi64(pairs01, pairs23));
}
HWTV_INLINE void add_quads(const I* rows, I* sums) {
  __m256i lo[4], hi[4];
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) {
    const I* const r = rows + 4 * q;
    lo[q] = add_quads_of_4(r[0].lo, r[1].lo, r[2].lo, r[3].lo);
    hi[q] = add_quads_of_4(r[0].hi, r[1].hi, r[2].hi, r[3].hi);
  }
  sums[0] = {_mm256_permute2x128_si256(lo[0], lo[1], 0x20),
             _mm256_permute2x128_si256(lo[2], lo[3], 0x20)};
  sums[1] = {_mm256_permute2x128_si256(lo[0], lo[1], 0x31),
             _mm256_permute2x128_si256(lo[2], lo[3], 0x31)};
  sums[2] = {_mm256_permute2x128_si256(hi[0], hi[1], 0x20),
             _mm256_permute2x128_si256(hi[2], hi[3], 0x20)};
  sums[3] = {_mm256_permute2x128_si256(hi[0], hi[1], 0x31),
             _mm256_permute2x128_si256(hi[2], hi[3], 0x31)};
}
HWTV_INLINE I add_i(I a, I b) {
  return {_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)};
}

}  // namespace
}  // namespace hwtv::cpu
