#include "ops/quantize_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "ops/dequantize.h"

namespace hwtv::ops {
namespace {

using Row = std::vector<float>;
constexpr int64_t kWidth = 1024;

// The quantized types, and the plain quantizer that each must not be worse than: whole numbers in
// [low, high] by rounding to nearest, the extreme of each group at an end of the range.
struct Type {
  DType dtype;
  int group;
  int low, high;  // low 0: with a min, at the group's least element
};
constexpr Type kTypes[] = {
    {DType::Q4_0, 32, -8, 7},  {DType::Q4_1, 32, 0, 15},    {DType::Q5_0, 32, -16, 15},
    {DType::Q5_1, 32, 0, 31},  {DType::Q8_0, 32, -127, 127}, {DType::Q2_K, 16, 0, 3},
    {DType::Q3_K, 16, -4, 3},  {DType::Q4_K, 32, 0, 15},    {DType::Q5_K, 32, 0, 31},
    {DType::Q6_K, 16, -32, 31}, {DType::IQ4_NL, 32, -8, 7},  {DType::IQ4_XS, 32, -8, 7},
    {DType::MXFP4, 32, -4, 3},
};

Row round_trip(DType dtype, const Row& x, const float* importance = nullptr) {
  const auto n = static_cast<int64_t>(x.size());
  std::vector<std::byte> bytes(static_cast<size_t>(dtype_bytes(dtype, n)));
  quantize_weights(dtype, x.data(), importance, bytes.data(), n);
  Row out(x.size());
  dequantize_row(dtype, bytes.data(), out.data(), n);
  return out;
}

double error_of(const Row& x, const Row& y) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    sum += std::pow(static_cast<double>(x[i]) - static_cast<double>(y[i]), 2);
  return sum;
}

Row plain_round_trip(const Type& type, const Row& x) {
  Row out(x.size());
  for (size_t begin = 0; begin < x.size(); begin += static_cast<size_t>(type.group)) {
    float least = 0, most = 0, extreme = 0;
    for (int i = 0; i < type.group; ++i) {
      const float v = x[begin + static_cast<size_t>(i)];
      least = std::min(least, v), most = std::max(most, v);
      if (std::fabs(v) > std::fabs(extreme)) extreme = v;
    }
    const float min = type.low == 0 ? least : 0;
    const float scale = type.low == 0 ? (most - least) / static_cast<float>(type.high)
                                      : extreme / static_cast<float>(type.low);
    for (int i = 0; i < type.group; ++i) {
      const size_t at = begin + static_cast<size_t>(i);
      const float q = scale == 0 ? 0 : std::round((x[at] - min) / scale);
      out[at] = min + scale * std::min(std::max(q, static_cast<float>(type.low)),
                                       static_cast<float>(type.high));
    }
  }
  return out;
}

template <typename Distribution>
Row random_row(Distribution distribution, unsigned seed) {
  std::mt19937 generator(seed);
  Row row(kWidth);
  for (float& v : row) v = distribution(generator);
  return row;
}

Row normal_row() { return random_row(std::normal_distribution<float>(0, 0.02f), 1); }
Row uniform_row() { return random_row(std::uniform_real_distribution<float>(-1, 1), 2); }
Row outlier_row() {
  Row row = normal_row();
  for (size_t i = 0; i < row.size(); i += 97) row[i] *= 20;
  return row;
}

// The search tries what the plain quantizer does, so its error is smaller.  In blocks of 256 the scales
// are quantized too, which the plain one's are not: up to half a step of 1 / 32 of the largest, which
// moves the ends of the range by a few percent where all groups are alike.
TEST(QuantizeWeights, IsNoWorseThanRoundingToNearest) {
  for (const Type& type : kTypes)
    for (const Row& x : {normal_row(), uniform_row(), outlier_row()}) {
      // Uneven values suit weights; on even spread they have wider gaps at the ends.
      if (x[0] == uniform_row()[0] &&
          (type.dtype == DType::IQ4_NL || type.dtype == DType::IQ4_XS))
        continue;
      const double room = dtype_info(type.dtype).block_elements == 256 ? 1.05 : 1.0;
      EXPECT_LE(error_of(x, round_trip(type.dtype, x)), room * error_of(x, plain_round_trip(type, x)))
          << dtype_name(type.dtype);
    }
}

// In normal rows a step of b bits over about +-2.2 sigma gives an error near 2.2 / 2^b / sqrt(3).
TEST(QuantizeWeights, ErrorOfNormalRowsHalvesWithEachBit) {
  const Row x = normal_row();
  const double squares = error_of(x, Row(x.size()));
  const auto relative = [&](DType dtype) {
    return std::sqrt(error_of(x, round_trip(dtype, x)) / squares);
  };
  const struct {
    DType dtype;
    int bits;
  } cases[] = {{DType::Q2_K, 2}, {DType::Q3_K, 3}, {DType::Q4_0, 4}, {DType::Q4_1, 4},
               {DType::Q4_K, 4}, {DType::Q5_0, 5}, {DType::Q5_1, 5}, {DType::Q5_K, 5},
               {DType::Q6_K, 6}, {DType::Q8_0, 8}, {DType::IQ4_NL, 4}, {DType::IQ4_XS, 4}};
  for (const auto& c : cases)
    EXPECT_NEAR(std::log2(relative(c.dtype)), std::log2(2.2 / std::exp2(c.bits) / std::sqrt(3.0)),
                0.35)
        << dtype_name(c.dtype) << " " << relative(c.dtype);
}

TEST(QuantizeWeights, ConstantRows) {
  for (const Type& type : kTypes) {
    EXPECT_EQ(round_trip(type.dtype, Row(kWidth)), Row(kWidth)) << dtype_name(type.dtype);
    for (const float value : {1.0f, -0.75f})
      for (const float y : round_trip(type.dtype, Row(kWidth, value)))
        // One half scale (2^-11), or a product of one with whole numbers.  MXFP4: its own grid.
        ASSERT_NEAR(y, value, 0x1p-10f) << dtype_name(type.dtype);
  }
}

TEST(QuantizeWeights, ImportantColumnsAreKeptBetter) {
  const Row x = normal_row();
  Row importance(kWidth, 1.0f);
  for (size_t i = 0; i < importance.size(); i += 8) importance[i] = 100;
  const auto important_error = [&](const Row& y) {
    double sum = 0;
    for (size_t i = 0; i < x.size(); i += 8)
      sum += std::pow(static_cast<double>(x[i]) - static_cast<double>(y[i]), 2);
    return sum;
  };
  for (const Type& type : kTypes)
    EXPECT_LT(important_error(round_trip(type.dtype, x, importance.data())),
              0.99 * important_error(round_trip(type.dtype, x)))
        << dtype_name(type.dtype);
}

// A column that the text never drove still gets its values, and so does a matrix of such columns.
TEST(QuantizeWeights, ImportanceOfZero) {
  const Row x = normal_row();
  const Row never(kWidth, 0.0f);
  for (const Type& type : kTypes)
    EXPECT_EQ(round_trip(type.dtype, x, never.data()), round_trip(type.dtype, x));
}

// Sizes that no model has: nothing undefined happens, and each element comes back within a step.
TEST(QuantizeWeights, TinyAndHugeElements) {
  for (const Type& type : kTypes)
    for (const float size : {1e-30f, 1e-9f, 1e-6f, 6e4f}) {
      Row x = normal_row();
      for (float& v : x) v *= size * 10;
      for (float& v : x) v = std::min(std::max(v, -65504.0f), 65504.0f);
      const Row y = round_trip(type.dtype, x);
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_TRUE(std::isfinite(y[i]) && std::fabs(y[i] - x[i]) <= std::max(3 * size, 1e-7f))
            << dtype_name(type.dtype) << " " << x[i] << " -> " << y[i];
    }
}

}  // namespace
}  // namespace hwtv::ops
