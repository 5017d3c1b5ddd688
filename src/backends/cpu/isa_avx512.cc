#include "backends/cpu/simd_avx512_inl.h"
// after the words, the kernels
#include "backends/cpu/table_inl.h"

namespace hwtv::cpu {

extern const Kernels kAvx512Kernels;
constinit const Kernels kAvx512Kernels = make_kernels("avx512");

}  // namespace hwtv::cpu
