// 512-bit loops with the VNNI dot product.  Compiled with -mavx512f -mavx512bw -mavx512vnni:
// includes nothing that emits shared inline code.
#include <immintrin.h>

#include "hw/peak_avx512_inl.h"
#include "hw/peak_kernels.h"

namespace hwtv::hw {
namespace {

int32_t dot_int8(int64_t n_rounds) {
  __m512i sum[12];
  for (__m512i& part : sum) {
    part = _mm512_setzero_si512();
    asm volatile("" : "+v"(part));  // as if each were another value, or they would be one chain
  }
  const __m512i a = _mm512_set1_epi8(1), b = _mm512_set1_epi8(2);
  for (int64_t round = 0; round < n_rounds; ++round)
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) sum[i] = _mm512_dpbusd_epi32(sum[i], a, b);
  return first_of_sum(sum);
}

}  // namespace

const PeakKernels kPeakAvx512Vnni = {"avx512vnni",           read,       multiply_add, dot_int8,
                                     kAccumulators * 16 * 2, 12 * 64 * 2};

}  // namespace hwtv::hw
