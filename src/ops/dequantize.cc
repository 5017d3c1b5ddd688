#include "ops/dequantize.h"

#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/half.h"
#include "ops/quant_blocks.h"

namespace hwtv::ops {
namespace {

// Element i of n whose nibbles are split: the first half low, the second half high.
int split_nibble(const uint8_t* bytes, int i, int n) {
  return i < n / 2 ? bytes[i] & 15 : bytes[i - n / 2] >> 4;
}

int bit(const uint8_t* bytes, int i) { return bytes[i / 8] >> (i % 8) & 1; }

// Two bits of element i in the order of Q2_K: 128 h + 32 j + b is at bit 2 j of byte 32 h + b.
int two_bits(const uint8_t* bytes, int i) {
  return bytes[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
}

struct ScaleMin {
  float scale;
  float min;
};

// The k-th of the eight 6-bit pairs of Q4_K and Q5_K.
ScaleMin six_bit_pair(const uint8_t* scales, int k) {
  if (k < 4) return {static_cast<float>(scales[k] & 63), static_cast<float>(scales[k + 4] & 63)};
  return {static_cast<float>((scales[k + 4] & 15) | (scales[k - 4] >> 6 << 4)),
          static_cast<float>((scales[k + 4] >> 4) | (scales[k] >> 6 << 4))};
}

void decode(const BlockQ4_0& block, float* out) {
  const float scale = half_to_float(block.scale);
  for (int i = 0; i < 32; ++i)
    out[i] = scale * static_cast<float>(split_nibble(block.nibbles, i, 32) - 8);
}

void decode(const BlockQ4_1& block, float* out) {
  const float scale = half_to_float(block.scale);
  const float min = half_to_float(block.min);
  for (int i = 0; i < 32; ++i)
    out[i] = scale * static_cast<float>(split_nibble(block.nibbles, i, 32)) + min;
}

void decode(const BlockQ5_0& block, float* out) {
  const float scale = half_to_float(block.scale);
  for (int i = 0; i < 32; ++i) {
    const int q = split_nibble(block.nibbles, i, 32) | bit(block.fifth_bits, i) << 4;
    out[i] = scale * static_cast<float>(q - 16);
  }
}

void decode(const BlockQ5_1& block, float* out) {
  const float scale = half_to_float(block.scale);
  const float min = half_to_float(block.min);
  for (int i = 0; i < 32; ++i) {
    const int q = split_nibble(block.nibbles, i, 32) | bit(block.fifth_bits, i) << 4;
    out[i] = scale * static_cast<float>(q) + min;
  }
}

void decode(const BlockQ8_0& block, float* out) {
  const float scale = half_to_float(block.scale);
  for (int i = 0; i < 32; ++i) out[i] = scale * static_cast<float>(block.quants[i]);
}

void decode(const BlockQ2_K& block, float* out) {
  const float scale = half_to_float(block.scale);
  const float min = half_to_float(block.min);
  for (int i = 0; i < 256; ++i) {
    const float s = scale * static_cast<float>(block.scales[i / 16] & 15);
    const float m = min * static_cast<float>(block.scales[i / 16] >> 4);
    out[i] = s * static_cast<float>(two_bits(block.quants, i)) - m;
  }
}

void decode(const BlockQ3_K& block, float* out) {
  const float scale = half_to_float(block.scale);
  for (int k = 0; k < 16; ++k) {
    const int low = block.scales[k % 8] >> (k / 8 * 4) & 15;
    const int high = block.scales[8 + k % 4] >> (k / 4 * 2) & 3;
    const float s = scale * static_cast<float>((low | high << 4) - 32);
    for (int i = 16 * k; i < 16 * (k + 1); ++i) {
      const int third = block.third_bits[i % 32] >> (i / 32) & 1;
      out[i] = s * static_cast<float>((two_bits(block.quants, i) | third << 2) - 4);
    }
  }
}

void decode(const BlockQ4_K& block, float* out) {
  const float scale = half_to_float(block.scale);
  const float min = half_to_float(block.min);
  for (int k = 0; k < 8; ++k) {
    const ScaleMin pair = six_bit_pair(block.scales, k);
    const float s = scale * pair.scale;
    const float m = min * pair.min;
    for (int i = 0; i < 32; ++i) {
      const int q = split_nibble(block.nibbles + k / 2 * 32, k % 2 * 32 + i, 64);
      out[32 * k + i] = s * static_cast<float>(q) - m;
    }
  }
}

void decode(const BlockQ5_K& block, float* out) {
  const float scale = half_to_float(block.scale);
  const float min = half_to_float(block.min);
  for (int k = 0; k < 8; ++k) {
    const ScaleMin pair = six_bit_pair(block.scales, k);
    const float s = scale * pair.scale;
    const float m = min * pair.min;
    for (int i = 0; i < 32; ++i) {
      const int low = split_nibble(block.nibbles + k / 2 * 32, k % 2 * 32 + i, 64);
      const int q = low | (block.fifth_bits[i] >> k & 1) << 4;
      out[32 * k + i] = s * static_cast<float>(q) - m;
    }
  }
}

void decode(const BlockQ6_K& block, float* out) {
  const float scale = half_to_float(block.scale);
  for (int i = 0; i < 256; ++i) {
    const float s = scale * static_cast<float>(block.scales[i / 16]);
    const int low = split_nibble(block.nibbles + i / 128 * 64, i % 128, 128);
    out[i] = s * static_cast<float>((low | two_bits(block.high_bits, i) << 4) - 32);
  }
}

void decode(const BlockIQ4_NL& block, float* out) {
  const float scale = half_to_float(block.scale);
  for (int i = 0; i < 32; ++i)
    out[i] = scale * static_cast<float>(kIq4Values[split_nibble(block.nibbles, i, 32)]);
}

void decode(const BlockIQ4_XS& block, float* out) {
  const float scale = half_to_float(block.scale);
  for (int k = 0; k < 8; ++k) {
    const int low = block.scales_low[k / 2] >> (k % 2 * 4) & 15;
    const int high = block.scales_high >> (2 * k) & 3;
    const float s = scale * static_cast<float>((low | high << 4) - 32);
    for (int i = 0; i < 32; ++i) {
      const int q = split_nibble(block.nibbles + 16 * k, i, 32);
      out[32 * k + i] = s * static_cast<float>(kIq4Values[q]);
    }
  }
}

void decode(const BlockMXFP4& block, float* out) {
  // 2^(exponent - 128); the two smallest are subnormal floats.
  const uint32_t e = block.exponent;
  const float scale = std::bit_cast<float>(e < 2 ? 0x00200000u << e : (e - 1) << 23);
  for (int i = 0; i < 32; ++i)
    out[i] = scale * static_cast<float>(kMxfp4Values[split_nibble(block.nibbles, i, 32)]);
}

template <typename Block>
void decode_row(const void* row, float* out, int64_t n, int64_t block_elements) {
  const auto* bytes = static_cast<const unsigned char*>(row);
  for (int64_t i = 0; i < n; i += block_elements, bytes += sizeof(Block)) {
    Block block;
    std::memcpy(&block, bytes, sizeof(Block));
    decode(block, out + i);
  }
}

void decode_half_row(const void* row, float* out, int64_t n, float (*to_float)(uint16_t)) {
  const auto* bytes = static_cast<const unsigned char*>(row);
  for (int64_t i = 0; i < n; ++i) {
    uint16_t bits;
    std::memcpy(&bits, bytes + 2 * i, 2);
    out[i] = to_float(bits);
  }
}

}  // namespace

void dequantize_row(DType dtype, const void* row, float* out, int64_t n) {
  const int64_t block = dtype_info(dtype).block_elements;
  CHECK(n % block == 0);
  switch (dtype) {
    case DType::F32:
      std::memcpy(out, row, static_cast<size_t>(n) * sizeof(float));
      return;
    case DType::F16:
      return decode_half_row(row, out, n, half_to_float);
    case DType::BF16:
      return decode_half_row(row, out, n, bfloat16_to_float);
    case DType::Q4_0:
      return decode_row<BlockQ4_0>(row, out, n, block);
    case DType::Q4_1:
      return decode_row<BlockQ4_1>(row, out, n, block);
    case DType::Q5_0:
      return decode_row<BlockQ5_0>(row, out, n, block);
    case DType::Q5_1:
      return decode_row<BlockQ5_1>(row, out, n, block);
    case DType::Q8_0:
      return decode_row<BlockQ8_0>(row, out, n, block);
    case DType::Q2_K:
      return decode_row<BlockQ2_K>(row, out, n, block);
    case DType::Q3_K:
      return decode_row<BlockQ3_K>(row, out, n, block);
    case DType::Q4_K:
      return decode_row<BlockQ4_K>(row, out, n, block);
    case DType::Q5_K:
      return decode_row<BlockQ5_K>(row, out, n, block);
    case DType::Q6_K:
      return decode_row<BlockQ6_K>(row, out, n, block);
    case DType::IQ4_NL:
      return decode_row<BlockIQ4_NL>(row, out, n, block);
    case DType::IQ4_XS:
      return decode_row<BlockIQ4_XS>(row, out, n, block);
    case DType::MXFP4:
      return decode_row<BlockMXFP4>(row, out, n, block);
    case DType::I32:
      break;
  }
  CHECK(false);
}

}  // namespace hwtv::ops
