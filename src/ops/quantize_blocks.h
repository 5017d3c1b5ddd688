// One quant_block of each type: 32 or 256 elements x with the weights of their squared errors.  For
// ops/quantize_weights.cc only.
#pragma once
#include "ops/quant_blocks.h"

namespace hwtv::ops {

// One scale, or scale and min, for 32 elements.
void encode_weights(const float* x, const float* weights, BlockQ4_0& block);
void encode_weights(const float* x, const float* weights, BlockQ4_1& block);
void encode_weights(const float* x, const float* weights, BlockQ5_0& block);
void encode_weights(const float* x, const float* weights, BlockQ5_1& block);
void encode_weights(const float* x, const float* weights, BlockQ8_0& block);
void encode_weights(const float* x, const float* weights, BlockIQ4_NL& block);
void encode_weights(const float* x, const float* weights, BlockMXFP4& block);

// Groups of 16 or 32 whose scales are themselves quantized: 256 elements.
void encode_weights(const float* x, const float* weights, BlockQ2_K& block);
void encode_weights(const float* x, const float* weights, BlockQ3_K& block);
void encode_weights(const float* x, const float* weights, BlockQ4_K& block);
void encode_weights(const float* x, const float* weights, BlockQ5_K& block);
void encode_weights(const float* x, const float* weights, BlockQ6_K& block);
void encode_weights(const float* x, const float* weights, BlockIQ4_XS& block);

}  // namespace hwtv::ops
