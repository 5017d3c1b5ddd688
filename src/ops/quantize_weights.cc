#include "ops/quantize_weights.h"

#include <algorithm>
#include <cfloat>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "base/half.h"
#include "ops/quantize.h"
#include "ops/quantize_blocks.h"

namespace hwtv::ops {
namespace {

// What the squared error of each column counts.  A column that was never seen at work still counts
// a little.
std::vector<float> error_weights(const float* importance, int64_t n) {
  std::vector<float> weights(static_cast<size_t>(n), 1.0f);
  if (!importance) return weights;
  const double sum = std::accumulate(importance, importance + n, 0.0);
  if (!(sum > 0)) return weights;
  const float least = static_cast<float>(1e-4 * sum / static_cast<double>(n));
  for (int64_t i = 0; i < n; ++i) weights[static_cast<size_t>(i)] = std::max(importance[i], least);
  return weights;
}

template <typename Block>
void encode_row(DType dtype, const float* x, const float* importance, void* row, int64_t n) {
  const std::vector<float> weights = error_weights(importance, n);
  const int64_t block_elements = dtype_info(dtype).block_elements;
  auto* bytes = static_cast<unsigned char*>(row);
  for (int64_t i = 0; i < n; i += block_elements, bytes += sizeof(Block)) {
    Block block;
    encode_weights(x + i, weights.data() + i, block);
    std::memcpy(bytes, &block, sizeof(Block));
  }
}

}  // namespace

float weight_limit(DType dtype) {
  return dtype == DType::F32 || dtype == DType::BF16 ? FLT_MAX : 65504.0f;
}

void quantize_weights(DType dtype, const float* x, const float* importance, void* row, int64_t n) {
  CHECK(n % dtype_info(dtype).block_elements == 0);
  switch (dtype) {
    case DType::F32:
    case DType::F16:
    case DType::BF16:
      return quantize_row(dtype, x, row, n);
    case DType::Q4_0:
      return encode_row<BlockQ4_0>(dtype, x, importance, row, n);
    case DType::Q4_1:
      return encode_row<BlockQ4_1>(dtype, x, importance, row, n);
    case DType::Q5_0:
      return encode_row<BlockQ5_0>(dtype, x, importance, row, n);
    case DType::Q5_1:
      return encode_row<BlockQ5_1>(dtype, x, importance, row, n);
    case DType::Q8_0:
      return encode_row<BlockQ8_0>(dtype, x, importance, row, n);
    case DType::Q2_K:
      return encode_row<BlockQ2_K>(dtype, x, importance, row, n);
    case DType::Q3_K:
      return encode_row<BlockQ3_K>(dtype, x, importance, row, n);
    case DType::Q4_K:
      return encode_row<BlockQ4_K>(dtype, x, importance, row, n);
    case DType::Q5_K:
      return encode_row<BlockQ5_K>(dtype, x, importance, row, n);
    case DType::Q6_K:
      return encode_row<BlockQ6_K>(dtype, x, importance, row, n);
    case DType::IQ4_NL:
      return encode_row<BlockIQ4_NL>(dtype, x, importance, row, n);
    case DType::IQ4_XS:
      return encode_row<BlockIQ4_XS>(dtype, x, importance, row, n);
    case DType::MXFP4:
      return encode_row<BlockMXFP4>(dtype, x, importance, row, n);
    case DType::I32:
      break;
  }
  CHECK(false);
}

}  // namespace hwtv::ops
