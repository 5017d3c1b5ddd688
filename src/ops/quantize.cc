#include "ops/quantize.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/half.h"
#include "ops/quant_blocks.h"

namespace hwtv::ops {
namespace {

// 1 / scale, or 0 where a block is so small that its scale would be 0 as a half anyway.
float inverse(float scale) { return std::fabs(scale) < FLT_MIN ? 0.0f : 1.0f / scale; }

// A whole number in [low, high]; what is not a number becomes low.
int clamp_to_int(float value, float low, float high) {
  return static_cast<int>(value > low ? std::min(value, high) : low);
}

// The largest magnitude maps to 127.
void encode(const float* x, BlockQ8_0& block) {
  float largest = 0;
  for (int i = 0; i < 32; ++i) largest = std::max(largest, std::fabs(x[i]));
  const float scale = largest / 127.0f;
  const float factor = inverse(scale);
  block.scale = float_to_half(scale);
  for (int i = 0; i < 32; ++i)
    block.quants[i] = static_cast<int8_t>(clamp_to_int(std::round(x[i] * factor), -127, 127));
}

// The element of largest magnitude, with its sign, maps to -8.
void encode(const float* x, BlockQ4_0& block) {
  float extreme = 0;
  for (int i = 0; i < 32; ++i)
    if (std::fabs(x[i]) > std::fabs(extreme)) extreme = x[i];
  const float scale = extreme / -8.0f;
  const float factor = inverse(scale);
  block.scale = float_to_half(scale);
  for (int i = 0; i < 16; ++i) {
    const int low = clamp_to_int(x[i] * factor + 8.5f, 0, 15);
    const int high = clamp_to_int(x[i + 16] * factor + 8.5f, 0, 15);
    block.nibbles[i] = static_cast<uint8_t>(low | high << 4);
  }
}

template <typename Block>
void encode_row(const float* x, void* row, int64_t n) {
  auto* bytes = static_cast<unsigned char*>(row);
  for (int64_t i = 0; i < n; i += 32, bytes += sizeof(Block)) {
    Block block;
    encode(x + i, block);
    std::memcpy(bytes, &block, sizeof(Block));
  }
}

void encode_half_row(const float* x, void* row, int64_t n, uint16_t (*from_float)(float)) {
  auto* bytes = static_cast<unsigned char*>(row);
  for (int64_t i = 0; i < n; ++i) {
    const uint16_t bits = from_float(x[i]);
    std::memcpy(bytes + 2 * i, &bits, 2);
  }
}

}  // namespace

bool can_quantize_row(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16 ||
         dtype == DType::Q8_0 || dtype == DType::Q4_0;
}

void quantize_row(DType dtype, const float* x, void* row, int64_t n) {
  CHECK(can_quantize_row(dtype) && n % dtype_info(dtype).block_elements == 0);
  switch (dtype) {
    case DType::F32:
      std::memcpy(row, x, static_cast<size_t>(n) * sizeof(float));
      return;
    case DType::F16:
      return encode_half_row(x, row, n, float_to_half);
    case DType::BF16:
      return encode_half_row(x, row, n, float_to_bfloat16);
    case DType::Q8_0:
      return encode_row<BlockQ8_0>(x, row, n);
    default:
      return encode_row<BlockQ4_0>(x, row, n);
  }
}

}  // namespace hwtv::ops
