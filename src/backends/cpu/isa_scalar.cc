#include "backends/cpu/simd_scalar_inl.h"
// after the words, the kernels
#include "backends/cpu/table_inl.h"

namespace hwtv::cpu {

extern const Kernels kScalarKernels;
constinit const Kernels kScalarKernels = make_kernels("scalar");

}  // namespace hwtv::cpu
