// 256-bit loops.  Compiled with -mavx2 -mfma: includes nothing that emits shared inline code.
#include <immintrin.h>

#include "hw/peak_avx2_inl.h"
#include "hw/peak_kernels.h"

namespace hwtv::hw {
namespace {

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
  return first_of_sum(sum);
}

}  // namespace

const PeakKernels kPeakAvx2 = {"avx2",    read, multiply_add, dot_int8, kAccumulators * 8 * 2,
                               8 * 32 * 2};

}  // namespace hwtv::hw
