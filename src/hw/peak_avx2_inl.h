// What the two 256-bit files share; everything here is static, so each keeps its own copy.
#pragma once
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

namespace hwtv::hw {
namespace {

constexpr size_t kBlockBytes = 256, kAheadBytes = 4096;
constexpr int kAccumulators = 12;  // 2 FMAs per cycle x 4-5 cycles, within 16 registers

uint64_t read(const void* data, size_t n_bytes) {
  const char* at = static_cast<const char*>(data);
  const char* const end = at + n_bytes;
  __m256i sum[4] = {};
  for (; end - at >= static_cast<ptrdiff_t>(kBlockBytes); at += kBlockBytes) {
    for (size_t line = 0; line < kBlockBytes; line += 64)
      _mm_prefetch(at + kAheadBytes + line, _MM_HINT_T0);
#pragma GCC unroll 8
    for (size_t i = 0; i < kBlockBytes / 32; ++i)
      sum[i % 4] = _mm256_add_epi64(sum[i % 4],
                                    _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at) + i));
  }
  const __m256i all =
      _mm256_add_epi64(_mm256_add_epi64(sum[0], sum[1]), _mm256_add_epi64(sum[2], sum[3]));
  uint64_t parts[4];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(parts), all);
  uint64_t total = parts[0] + parts[1] + parts[2] + parts[3];
  for (; at < end; ++at) total += static_cast<unsigned char>(*at);
  return total;
}

float multiply_add(int64_t n_rounds) {
  __m256 sum[kAccumulators];
  for (__m256& part : sum) {
    part = _mm256_set1_ps(1);
    asm volatile("" : "+x"(part));  // as if each were another value, or they would be one chain
  }
  const __m256 a = _mm256_set1_ps(1e-9f), b = _mm256_set1_ps(2);
  for (int64_t round = 0; round < n_rounds; ++round)
#pragma GCC unroll 12
    for (int i = 0; i < kAccumulators; ++i) sum[i] = _mm256_fmadd_ps(a, b, sum[i]);
  __m256 all = _mm256_setzero_ps();
  for (const __m256& part : sum) all = _mm256_add_ps(all, part);
  return _mm256_cvtss_f32(all);
}

template <int n>
int32_t first_of_sum(const __m256i (&sum)[n]) {
  __m256i all = _mm256_setzero_si256();
  for (const __m256i& part : sum) all = _mm256_add_epi32(all, part);
  return _mm256_extract_epi32(all, 0);
}

}  // namespace
}  // namespace hwtv::hw
