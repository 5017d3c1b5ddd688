#include "backends/cpu/isa.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/types.h"
#include "ops/dequantize.h"

namespace hwtv::cpu {
namespace {

// Sets HWTV_ISA for one test.
class Forced {
 public:
  explicit Forced(const char* name) {
    if (const char* before = std::getenv("HWTV_ISA")) before_ = before;
    setenv("HWTV_ISA", name, 1);
  }
  ~Forced() { setenv("HWTV_ISA", before_.c_str(), 1); }

 private:
  std::string before_;
};

TEST(Isa, EnvironmentForcesEachTableThatRunsHere) {
  for (const Isa& isa : isas()) {
    const Forced forced(isa.kernels->name);
    const auto kernels = chosen_kernels();
    ASSERT_EQ(kernels.has_value(), isa.can_run()) << isa.name();
    if (kernels) {
      EXPECT_EQ((*kernels)->name, isa.name());
    } else {
      EXPECT_EQ(kernels.error().code, ErrorCode::unsupported);
    }
  }
}

TEST(Isa, UnknownNameFailsWithTheListOfThoseThatRun) {
  const Forced forced("mmx");
  const auto kernels = chosen_kernels();
  ASSERT_FALSE(kernels);
  EXPECT_EQ(kernels.error().code, ErrorCode::invalid_request);
  EXPECT_NE(kernels.error().what.find("HWTV_ISA"), std::string::npos) << kernels.error().what;
  EXPECT_NE(kernels.error().what.find("mmx"), std::string::npos) << kernels.error().what;
  for (const Isa& isa : isas())
    EXPECT_EQ(kernels.error().advice.find(isa.name()) != std::string::npos, isa.can_run())
        << kernels.error().advice;
}

TEST(Isa, EmptyNameTakesTheBest) {
  const Forced forced("");
  const auto kernels = chosen_kernels();
  ASSERT_TRUE(kernels);
  for (const Isa& isa : isas()) {
    if (!isa.can_run()) continue;
    EXPECT_EQ((*kernels)->name, isa.name());
    break;
  }
}

// A product of n_out weights of one dtype with n_rows activations, by one table.
std::vector<float> multiply(const Kernels& kernels, DType dtype, const std::vector<uint8_t>& weight,
                            const std::vector<float>& x, int64_t n_in, int64_t n_out) {
  const int64_t n_rows = static_cast<int64_t>(x.size()) / n_in;
  std::vector<int8_t> quants(x.size());
  std::vector<float> scales(x.size() / 32);
  std::vector<int16_t> sums(x.size() / 16);
  std::vector<float> out(static_cast<size_t>(n_rows * n_out));
  const QuantizedRows quantized = {quants.data(), scales.data(), sums.data()};
  kernels.quantize(x.data(), n_in, 0, n_rows, quantized);
  const MatMulArgs args = {.weight = weight.data(),
                           .row_bytes = dtype_bytes(dtype, n_in),
                           .n_in = n_in,
                           .n_out = n_out,
                           .bias = nullptr,
                           .x = x.data(),
                           .quantized = quantized,
                           .out = out.data()};
  kernels.matmul[static_cast<size_t>(*weight_type(dtype))](args, {0, n_out, 0, n_rows});
  return out;
}

// Integer dots are exact and the float sums have one order without fused steps: the same bits from
// every table.
TEST(Isa, IntegerProductsAreTheSameBitsOnEveryTable) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  size_t n_types = 0;
  const DTypeInfo* types = dtype_table(&n_types);
  for (size_t i = 0; i < n_types; ++i) {
    const DType dtype = types[i].dtype;
    if (!is_quantized(dtype)) continue;
    const int64_t n_in = types[i].block_elements == 256 ? 768 : 608, n_out = 21;
    std::vector<uint8_t> weight(static_cast<size_t>(n_out * dtype_bytes(dtype, n_in)));
    // Any bytes are quants; scales must be finite for the comparison to mean something.
    std::vector<float> decoded(static_cast<size_t>(n_in * n_out));
    for (bool finite = false; !finite;) {
      for (uint8_t& byte : weight) byte = static_cast<uint8_t>(random() & 0xbfu);
      for (int64_t row = 0; row < n_out; ++row)
        ops::dequantize_row(dtype, weight.data() + row * dtype_bytes(dtype, n_in),
                            decoded.data() + row * n_in, n_in);
      finite = true;
      for (const float w : decoded) finite &= std::isfinite(w);
    }
    std::vector<float> x(static_cast<size_t>(13 * n_in));
    for (float& value : x) value = normal(random);
    const auto expected = multiply(*isas().back().kernels, dtype, weight, x, n_in, n_out);
    for (const Isa& isa : isas()) {
      if (!isa.can_run()) continue;
      const auto out = multiply(*isa.kernels, dtype, weight, x, n_in, n_out);
      EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)), 0)
          << dtype_name(dtype) << " on " << isa.name();
    }
  }
}

// Zeros, the smallest and the largest floats of a block: no quant or scale that is not finite.
TEST(Isa, QuantizationOfExtremesIsFinite) {
  std::vector<float> x(96);
  for (size_t i = 32; i < 64; ++i) x[i] = 1e-40f;
  for (size_t i = 64; i < 96; ++i) x[i] = i % 2 == 0 ? 3e38f : -3e38f;
  for (const Isa& isa : isas()) {
    if (!isa.can_run()) continue;
    std::vector<int8_t> quants(96, 1);
    std::vector<float> scales(3);
    std::vector<int16_t> sums(6);
    isa.kernels->quantize(x.data(), 96, 0, 1, {quants.data(), scales.data(), sums.data()});
    for (size_t i = 0; i < 64; ++i) EXPECT_EQ(quants[i], 0) << isa.name();
    for (size_t i = 64; i < 96; ++i) EXPECT_EQ(quants[i], i % 2 == 0 ? 127 : -127) << isa.name();
    for (const float scale : scales) EXPECT_TRUE(std::isfinite(scale)) << isa.name();
    for (const int16_t sum : sums) EXPECT_EQ(sum, 0) << isa.name();
  }
}

}  // namespace
}  // namespace hwtv::cpu
