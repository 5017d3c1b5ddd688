#include "ops/quantize.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "ops/dequantize.h"

namespace hwtv::ops {
namespace {

using Row = std::array<float, 64>;

Row round_trip(DType dtype, const Row& x) {
  std::array<std::byte, 64 * sizeof(float)> bytes;
  quantize_row(dtype, x.data(), bytes.data(), 64);
  Row out;
  dequantize_row(dtype, bytes.data(), out.data(), 64);
  return out;
}

TEST(QuantizeRow, ErrorIsWithinHalfAStep) {
  Row x;
  for (size_t i = 0; i < 64; ++i) x[i] = std::sin(static_cast<float>(i * i));
  const Row q8 = round_trip(DType::Q8_0, x), q4 = round_trip(DType::Q4_0, x);
  for (size_t i = 0; i < 64; ++i) {
    // Half a step, and the scale's own rounding to a half (2^-11).
    EXPECT_NEAR(q8[i], x[i], 0.5f / 127 + 0x1p-11f);
    // +8 steps do not fit in 4 bits: the far end of the range may be off by a whole step.
    EXPECT_NEAR(q4[i], x[i], 1.0f / 8 + 0x1p-11f);
  }
}

TEST(QuantizeRow, PlainTypesRoundToNearest) {
  Row x{};
  x[0] = 1.00048828125f;  // half way between two halfs: to the even one
  x[1] = 1.00146484375f;
  x[2] = 3.14159274f;
  EXPECT_EQ(round_trip(DType::F32, x), x);
  EXPECT_EQ(round_trip(DType::F16, x)[0], 1.0f);
  EXPECT_EQ(round_trip(DType::F16, x)[1], 1.001953125f);
  EXPECT_EQ(round_trip(DType::BF16, x)[2], 3.140625f);
}

// Blocks that no model has, but a broken one may: nothing undefined happens, neighbours are intact.
TEST(QuantizeRow, ExtremeBlocks) {
  for (const DType dtype : {DType::Q8_0, DType::Q4_0}) {
    for (const float extreme :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
          std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()}) {
      Row x{};
      x[3] = extreme;
      for (size_t i = 32; i < 64; ++i) x[i] = -8;
      const Row out = round_trip(dtype, x);
      for (size_t i = 32; i < 64; ++i) EXPECT_NEAR(out[i], -8, 0.01);
    }
    EXPECT_EQ(round_trip(dtype, Row{}), Row{});
  }
}

TEST(QuantizeRow, SaysWhatACacheCanBe) {
  EXPECT_TRUE(can_quantize_row(DType::BF16));
  EXPECT_FALSE(can_quantize_row(DType::Q4_K));
  EXPECT_FALSE(can_quantize_row(DType::I32));
}

}  // namespace
}  // namespace hwtv::ops
