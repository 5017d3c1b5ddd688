// Rows of float into the types that a cache can be kept in: how KvWrite stores keys and values.
// Each row depends on its own elements only, and every backend stores the same bits.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace hwtv::ops {

// F32, F16, BF16, Q8_0, Q4_0.
bool can_quantize_row(DType dtype);

// Reads n floats.  Requires: can_quantize_row(dtype); n is a multiple of the dtype's quant_block.
void quantize_row(DType dtype, const float* x, void* row, int64_t n);

}  // namespace hwtv::ops
