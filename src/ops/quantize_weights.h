// Rows of float into the types that a model's weights are kept in.  Slow and careful: the scales
// are searched for, so that the weighted squared error is small.  (What a cache stores in each step
// is quantized by ops/quantize.h.)
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace hwtv::ops {

// The largest magnitude that quantize_weights() takes for this type.
float weight_limit(DType dtype);

// Reads n floats.  `importance` (n) says what the squared error of each column counts, null: all
// alike.  The row's bits depend on these inputs only.
// Requires: dtype is not I32; n is a multiple of its quant_block; every x is finite and within
// weight_limit(dtype); every importance is finite and >= 0.
void quantize_weights(DType dtype, const float* x, const float* importance, void* row, int64_t n);

}  // namespace hwtv::ops
