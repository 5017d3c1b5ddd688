// Rows of any DType back to float, in plain portable C++: what every backend's kernels are held
// against.  Bit for bit what the GGUF format's own Python package computes.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace hwtv::ops {

// Writes n floats.  `row` may have any alignment.
// Requires: dtype is not I32; n is a multiple of the dtype's quant_block.
void dequantize_row(DType dtype, const void* row, float* out, int64_t n);

}  // namespace hwtv::ops
