// What the two AVX-512 files share; everything here is static, so each keeps its own copy.
#pragma once
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

namespace hwtv::hw {
namespace {

constexpr size_t kBlockBytes = 256, kAheadBytes = 4096;
constexpr int kAccumulators = 12;  // 2 FMAs per cycle x 4-5 cycles

uint64_t read(const void* data, size_t n_bytes) {
  const char* at = static_cast<const char*>(data);
  const char* const end = at + n_bytes;
  __m512i sum[4];
  for (__m512i& part : sum) part = _mm512_setzero_si512();
  for (; end - at >= static_cast<ptrdiff_t>(kBlockBytes); at += kBlockBytes)
#pragma GCC unroll 4
    for (size_t i = 0; i < kBlockBytes / 64; ++i) {
      _mm_prefetch(at + kAheadBytes + 64 * i, _MM_HINT_T0);
      sum[i] = _mm512_add_epi64(sum[i], _mm512_loadu_si512(at + 64 * i));
    }
  const __m512i all =
      _mm512_add_epi64(_mm512_add_epi64(sum[0], sum[1]), _mm512_add_epi64(sum[2], sum[3]));
  uint64_t parts[8];
  _mm512_storeu_si512(parts, all);
  uint64_t total = 0;
  for (const uint64_t part : parts) total += part;
  for (; at < end; ++at) total += static_cast<unsigned char>(*at);
  return total;
}

float multiply_add(int64_t n_rounds) {
  __m512 sum[kAccumulators];
  for (__m512& part : sum) {
    part = _mm512_set1_ps(1);
    asm volatile("" : "+v"(part));  // as if each were another value, or they would be one chain
  }
  const __m512 a = _mm512_set1_ps(1e-9f), b = _mm512_set1_ps(2);
  for (int64_t round = 0; round < n_rounds; ++round)
#pragma GCC unroll 12
    for (int i = 0; i < kAccumulators; ++i) sum[i] = _mm512_fmadd_ps(a, b, sum[i]);
  __m512 all = _mm512_setzero_ps();
  for (const __m512& part : sum) all = _mm512_add_ps(all, part);
  return _mm512_cvtss_f32(all);
}

template <int n>
int32_t first_of_sum(const __m512i (&sum)[n]) {
  __m512i all = _mm512_setzero_si512();
  for (const __m512i& part : sum) all = _mm512_add_epi32(all, part);
  int32_t parts[16];  // gcc 12 warns of its own _mm512_reduce_*
  _mm512_storeu_si512(parts, all);
  return parts[0];
}

}  // namespace
}  // namespace hwtv::hw
