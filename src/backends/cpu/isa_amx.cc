#include "backends/cpu/simd_avx512_inl.h"
// after the words, the kernels
#include "backends/cpu/table_inl.h"

namespace hwtv::cpu {

extern const Kernels kAmxKernels;
constinit const Kernels kAmxKernels = make_kernels("amx");

}  // namespace hwtv::cpu
