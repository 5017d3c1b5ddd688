#include "backends/cpu/simd_avx2_inl.h"
// after the words, the kernels
#include "backends/cpu/table_inl.h"

namespace hwtv::cpu {

extern const Kernels kAvxVnniKernels;
constinit const Kernels kAvxVnniKernels = make_kernels("avxvnni");

}  // namespace hwtv::cpu
