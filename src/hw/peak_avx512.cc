// 512-bit loops without VNNI.  Compiled with -mavx512f -mavx512bw: includes nothing that emits
// shared inline code.
#include <immintrin.h>

#include "hw/peak_avx512_inl.h"
#include "hw/peak_kernels.h"

namespace hwtv::hw {
namespace {

// u8 x i8 pairs to i16, pairs of those to i32, and the sum: three instructions for 64 products.
int32_t dot_int8(int64_t n_rounds) {
  __m512i sum[12];
  for (__m512i& part : sum) part = _mm512_setzero_si512();
  __m512i a[4], b[3];
  for (int i = 0; i < 4; ++i) a[i] = _mm512_set1_epi8(static_cast<char>(i + 1));
  for (int i = 0; i < 3; ++i) b[i] = _mm512_set1_epi8(static_cast<char>(i + 1));
  const __m512i ones = _mm512_set1_epi16(1);
  for (int64_t round = 0; round < n_rounds; ++round) {
    // As if the operands were new, or the products would be taken out of the loop.
    asm volatile(""
                 : "+v"(a[0]), "+v"(a[1]), "+v"(a[2]), "+v"(a[3]), "+v"(b[0]), "+v"(b[1]),
                   "+v"(b[2]));
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i)
      sum[i] = _mm512_add_epi32(sum[i],
                                _mm512_madd_epi16(_mm512_maddubs_epi16(a[i % 4], b[i / 4]), ones));
  }
  return first_of_sum(sum);
}

}  // namespace

const PeakKernels kPeakAvx512 = {"avx512",   read, multiply_add, dot_int8, kAccumulators * 16 * 2,
                                 12 * 64 * 2};

}  // namespace hwtv::hw
