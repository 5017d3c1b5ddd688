// 256-bit loops.  Compiled with -mavx2 -mfma: includes nothing that emits shared inline code.
#include <immintrin.h>

#include "hw/peak_kernels.h"

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

// u8 x i8 pairs to i16, pairs of those to i32, and the sum: three instructions for 32 products.
int32_t dot_int8(int64_t n_rounds) {
  __m256i sum[8];
  for (__m256i& part : sum) part = _mm256_setzero_si256();
  __m256i a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = _mm256_set1_epi8(static_cast<char>(i + 1));
  for (int i = 0; i < 2; ++i) b[i] = _mm256_set1_epi8(static_cast<char>(i + 1));
  const __m256i ones = _mm256_set1_epi16(1);
  for (int64_t round = 0; round < n_rounds; ++round) {
    // As if the operands were new, or the products would be taken out of the loop.
    asm volatile("" : "+x"(a[0]), "+x"(a[1]), "+x"(a[2]), "+x"(a[3]), "+x"(b[0]), "+x"(b[1]));
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i)
      sum[i] = _mm256_add_epi32(sum[i],
                                _mm256_madd_epi16(_mm256_maddubs_epi16(a[i % 4], b[i / 4]), ones));
  }
  __m256i all = _mm256_setzero_si256();
  for (const __m256i& part : sum) all = _mm256_add_epi32(all, part);
  return _mm256_extract_epi32(all, 0);
}

}  // namespace

const PeakKernels kPeakAvx2 = {"avx2",    read, multiply_add, dot_int8, kAccumulators * 8 * 2,
                               8 * 32 * 2};

}  // namespace hwtv::hw
