// 256-bit loops with the VNNI dot product.  Compiled with -mavx2 -mfma -mavxvnni: includes nothing that
// emits shared inline code.
#include <immintrin.h>

#include "hw/peak_avx2_inl.h"
#include "hw/peak_kernels.h"

namespace hwtv::hw {
namespace {

int32_t dot_int8(int64_t n_rounds) {
  __m256i sum[12];
  for (__m256i& part : sum) {
    part = _mm256_setzero_si256();
    asm volatile("" : "+x"(part));  // as if each were another value, or they would be one chain
  }
  const __m256i a = _mm256_set1_epi8(1), b = _mm256_set1_epi8(2);
  for (int64_t round = 0; round < n_rounds; ++round)
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) sum[i] = _mm256_dpbusd_avx_epi32(sum[i], a, b);
  return first_of_sum(sum);
}

}  // namespace

const PeakKernels kPeakAvxVnni = {"avxvnni", read, multiply_add, dot_int8, kAccumulators * 8 * 2,
                                  12 * 32 * 2};

}  // namespace hwtv::hw
