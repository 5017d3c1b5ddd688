#include "backends/cpu/simd_avx2_inl.h"
// after the words, the kernels
#include "backends/cpu/table_inl.h"

namespace hwtv::cpu {

extern const Kernels kAvx2Kernels;
constinit const Kernels kAvx2Kernels = make_kernels("avx2");

}  // namespace hwtv::cpu
