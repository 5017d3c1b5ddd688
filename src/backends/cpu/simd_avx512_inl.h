// Sixteen lanes as one register of AVX-512 (F, BW, VL, DQ), with VNNI where the file is built for
// it.  Words: see simd_scalar_inl.h.
#pragma once
#if defined(__GNUC__) && !defined(__clang__)
// _mm512_undefined_ps and its kin in g++ 12's headers.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include <cstdint>

#define HWTV_INLINE static inline __attribute__((always_inline))

namespace hwtv::cpu {
namespace {

constexpr int kLanes = 16;
constexpr int kUnroll = 16;
constexpr int kMicroTokens = 8;
constexpr int kMicroRows = 8;
constexpr int kDotRows = 4;
constexpr int kDotTokens = 4;
constexpr int kValueSlices = 4;
constexpr int kAttentionRows = 4;
constexpr int kScoreTiles = 2;
#ifdef __AVX512VNNI__
constexpr bool kCentersWide = false;
#else
constexpr bool kCentersWide = true;
#endif

struct F {
  __m512 v;
};
struct I {
  __m512i v;
};

HWTV_INLINE F set_f(float x) { return {_mm512_set1_ps(x)}; }
HWTV_INLINE F load_f(const float* p) { return {_mm512_loadu_ps(p)}; }
HWTV_INLINE void store_f(float* p, F a) { _mm512_storeu_ps(p, a.v); }
HWTV_INLINE __mmask16 first_lanes(int64_t n) { return static_cast<__mmask16>((1u << n) - 1); }
HWTV_INLINE F load_n(const float* p, int64_t n) {
  return {_mm512_maskz_loadu_ps(first_lanes(n), p)};
}
HWTV_INLINE void store_n(float* p, F a, int64_t n) {
  _mm512_mask_storeu_ps(p, first_lanes(n), a.v);
}

HWTV_INLINE F add_f(F a, F b) { return {_mm512_add_ps(a.v, b.v)}; }
HWTV_INLINE F sub_f(F a, F b) { return {_mm512_sub_ps(a.v, b.v)}; }
HWTV_INLINE F mul_f(F a, F b) { return {_mm512_mul_ps(a.v, b.v)}; }
HWTV_INLINE F div_f(F a, F b) { return {_mm512_div_ps(a.v, b.v)}; }
HWTV_INLINE F max_f(F a, F b) { return {_mm512_max_ps(a.v, b.v)}; }
HWTV_INLINE F min_f(F a, F b) { return {_mm512_min_ps(a.v, b.v)}; }
HWTV_INLINE F abs_f(F a) { return {_mm512_andnot_ps(_mm512_set1_ps(-0.0f), a.v)}; }
HWTV_INLINE F madd_f(F a, F b, F c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }

HWTV_INLINE F fma_f(F a, F b, F c) { return madd_f(a, b, c); }

HWTV_INLINE float sum_f(F a) {
  const __m256 s8 = _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
}
HWTV_INLINE float max_lane(F a) { return _mm512_reduce_max_ps(a.v); }
HWTV_INLINE F keep_f(F a, int64_t begin, int64_t end, float other) {
  const uint32_t below_end = end >= kLanes ? 0xffffu : (end <= 0 ? 0u : (1u << end) - 1);
  const uint32_t below_begin = begin >= kLanes ? 0xffffu : (begin <= 0 ? 0u : (1u << begin) - 1);
  return {_mm512_mask_mov_ps(_mm512_set1_ps(other),
                             static_cast<__mmask16>(below_end & ~below_begin), a.v)};
}

HWTV_INLINE __m128i load_128(const void* p) {
  return _mm_loadu_si128(static_cast<const __m128i*>(p));
}
HWTV_INLINE __m256i load_256(const void* p) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
HWTV_INLINE float half_bits_to_float(uint16_t h) { return _cvtsh_ss(h); }
HWTV_INLINE uint16_t float_to_half_bits(float f) {
  return static_cast<uint16_t>(_cvtss_sh(f, _MM_FROUND_TO_NEAREST_INT));
}
HWTV_INLINE F load_half(const uint16_t* p) { return {_mm512_cvtph_ps(load_256(p))}; }
HWTV_INLINE void store_half(uint16_t* p, F a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                      _mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT));
}
HWTV_INLINE F load_bfloat(const uint16_t* p) {
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(load_256(p)), 16))};
}
HWTV_INLINE F bytes_to_f(__m128i bytes) {
  return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes))};
}
HWTV_INLINE F load_int8(const int8_t* p) { return bytes_to_f(load_128(p)); }
HWTV_INLINE F load_nibbles(const uint8_t* p, int shift) {
  const __m128i nibbles = _mm_and_si128(_mm_srli_epi16(load_128(p), shift), _mm_set1_epi8(15));
  return bytes_to_f(_mm_sub_epi8(nibbles, _mm_set1_epi8(8)));
}

HWTV_INLINE I set_i(int32_t x) { return {_mm512_set1_epi32(x)}; }
HWTV_INLINE F to_float(I a) { return {_mm512_cvtepi32_ps(a.v)}; }
HWTV_INLINE I round_i(F a) { return {_mm512_cvtps_epi32(a.v)}; }
HWTV_INLINE void store_int8(int8_t* p, I a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a.v));
}
HWTV_INLINE int32_t sum_i(I a) { return _mm512_reduce_add_epi32(a.v); }
HWTV_INLINE F scale_by_power(F a, I n) {
  const __m512i bits = _mm512_slli_epi32(_mm512_add_epi32(n.v, _mm512_set1_epi32(127)), 23);
  return {_mm512_mul_ps(a.v, _mm512_castsi512_ps(bits))};
}

HWTV_INLINE I load_i16_i(const int16_t* p) { return {_mm512_cvtepi16_epi32(load_256(p))}; }
HWTV_INLINE I load_i(const int32_t* p) { return {_mm512_load_si512(p)}; }
HWTV_INLINE I load_u8_i(const uint8_t* p) { return {_mm512_cvtepu8_epi32(load_128(p))}; }
HWTV_INLINE I load_u16_i(const uint8_t* p) { return {_mm512_cvtepu16_epi32(load_256(p))}; }
HWTV_INLINE I field_i(I a, int shift, int32_t mask) {
  const __m512i moved = shift == 0 ? a.v : _mm512_srli_epi32(a.v, static_cast<unsigned>(shift));
  return {_mm512_and_si512(moved, _mm512_set1_epi32(mask))};
}
HWTV_INLINE I raise_i(I a, int shift) {
  return {_mm512_slli_epi32(a.v, static_cast<unsigned>(shift))};
}
HWTV_INLINE I or_i(I a, I b) { return {_mm512_or_si512(a.v, b.v)}; }
HWTV_INLINE F bits_to_f(I a) { return {_mm512_castsi512_ps(a.v)}; }

// acc += the dot products of 4 bytes.  Without VNNI, pairs of products must fit 16 bits (2 * 127 *
// 127 does): `wide` weights have 128 subtracted and their sign moved to x.
template <bool kWide>
HWTV_INLINE __m512i dot4_lanes(__m512i acc, __m512i weights, __m512i x) {
#ifdef __AVX512VNNI__
  return _mm512_dpbusd_epi32(acc, weights, x);
#else
  if constexpr (kWide) {
    const __m512i centered = _mm512_xor_si512(weights, _mm512_set1_epi8(-128));
    weights = _mm512_abs_epi8(centered);
    x = _mm512_mask_sub_epi8(x, _mm512_movepi8_mask(centered), _mm512_setzero_si512(), x);
  }
  const __m512i pairs = _mm512_maddubs_epi16(weights, x);
  return _mm512_add_epi32(acc, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
#endif
}
struct W {
  __m512i v;
};
HWTV_INLINE W load_w(const uint8_t* p) { return {_mm512_loadu_si512(p)}; }
HWTV_INLINE void store_w(uint8_t* p, W a) { _mm512_storeu_si512(p, a.v); }
HWTV_INLINE W field_w(W a, int shift, uint8_t mask) {
  const __m512i moved = shift == 0 ? a.v : _mm512_srli_epi16(a.v, static_cast<unsigned>(shift));
  return {_mm512_and_si512(moved, _mm512_set1_epi8(static_cast<char>(mask)))};
}
HWTV_INLINE W merge_w(W a, W b, int shift, uint8_t mask) {
  const __m512i moved = shift > 0   ? _mm512_slli_epi16(b.v, static_cast<unsigned>(shift))
                        : shift < 0 ? _mm512_srli_epi16(b.v, static_cast<unsigned>(-shift))
                                    : b.v;
  const __m512i m = _mm512_set1_epi8(static_cast<char>(mask));
  return {_mm512_ternarylogic_epi32(moved, m, a.v, 0xea)};  // moved & m | a
}
HWTV_INLINE W subtract_w(W a, int zero) {
  return {_mm512_sub_epi8(a.v, _mm512_set1_epi8(static_cast<char>(zero)))};
}
HWTV_INLINE W look_up_w(W a, const uint8_t* table) {
  return {_mm512_shuffle_epi8(_mm512_broadcast_i32x4(load_128(table)), a.v)};
}

template <bool kWide>
HWTV_INLINE I dot4_w(I acc, W w, const int8_t* x) {
  int32_t four;
  __builtin_memcpy(&four, x, 4);
  return {dot4_lanes<kWide>(acc.v, w.v, _mm512_set1_epi32(four))};
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
  __m512i v;
};
HWTV_INLINE R join(B first, B second) {
  return {_mm512_inserti64x4(_mm512_castsi256_si512(first.v), second.v, 1)};
}

// Four registers of four 128-bit parts -> part p of each, in order, to out[p].
HWTV_INLINE void transpose_parts(const __m512i* in, __m512i* out) {
  const __m512i even01 = _mm512_shuffle_i32x4(in[0], in[1], 0x88);  // parts 0, 2
  const __m512i odd01 = _mm512_shuffle_i32x4(in[0], in[1], 0xdd);   // parts 1, 3
  const __m512i even23 = _mm512_shuffle_i32x4(in[2], in[3], 0x88);
  const __m512i odd23 = _mm512_shuffle_i32x4(in[2], in[3], 0xdd);
  out[0] = _mm512_shuffle_i32x4(even01, even23, 0x88);
  out[1] = _mm512_shuffle_i32x4(odd01, odd23, 0x88);
  out[2] = _mm512_shuffle_i32x4(even01, even23, 0xdd);
  out[3] = _mm512_shuffle_i32x4(odd01, odd23, 0xdd);
}
HWTV_INLINE void transpose(const R* rows, uint8_t* lines) {
  __m512i columns[4][4];  // [c][q], part p: column 4 p + c of rows 4 q .. 4 q + 3
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) {
    const R* const r = rows + 4 * q;
    const __m512i lo01 = _mm512_unpacklo_epi32(r[0].v, r[1].v);
    const __m512i hi01 = _mm512_unpackhi_epi32(r[0].v, r[1].v);
    const __m512i lo23 = _mm512_unpacklo_epi32(r[2].v, r[3].v);
    const __m512i hi23 = _mm512_unpackhi_epi32(r[2].v, r[3].v);
    columns[0][q] = _mm512_unpacklo_epi64(lo01, lo23);
    columns[1][q] = _mm512_unpackhi_epi64(lo01, lo23);
    columns[2][q] = _mm512_unpacklo_epi64(hi01, hi23);
    columns[3][q] = _mm512_unpackhi_epi64(hi01, hi23);
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    __m512i parts[4];
    transpose_parts(columns[c], parts);
#pragma GCC unroll 4
    for (int p = 0; p < 4; ++p) _mm512_store_si512(lines + 64 * (4 * p + c), parts[p]);
  }
}

template <bool kWide>
HWTV_INLINE I dot_row(const R& w, const int8_t* x) {
  return {dot4_lanes<kWide>(_mm512_setzero_si512(), w.v, _mm512_loadu_si512(x))};
}
HWTV_INLINE void add_quads(const I* rows, I* sums) {
  __m512i quads[4];  // [q], part p: quad p of rows 4 q .. 4 q + 3
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) {
    const I* const r = rows + 4 * q;
    const __m512i pairs01 = _mm512_add_epi32(_mm512_unpacklo_epi32(r[0].v, r[1].v),
                                             _mm512_unpackhi_epi32(r[0].v, r[1].v));
    const __m512i pairs23 = _mm512_add_epi32(_mm512_unpacklo_epi32(r[2].v, r[3].v),
                                             _mm512_unpackhi_epi32(r[2].v, r[3].v));
    quads[q] = _mm512_add_epi32(_mm512_unpacklo_epi64(pairs01, pairs23),
                                _mm512_unpackhi_epi64(pairs01, pairs23));
  }
  __m512i parts[4];
  transpose_parts(quads, parts);
  for (int p = 0; p < 4; ++p) sums[p].v = parts[p];
}
HWTV_INLINE I add_i(I a, I b) { return {_mm512_add_epi32(a.v, b.v)}; }

}  // namespace
}  // namespace hwtv::cpu
