#include "backends/cpu/isa.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/packing.h"
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

enum class Layout { in_place, packed };

// A product of n_out weights of one dtype with n_rows activations, by one table.
std::vector<float> multiply(const Kernels& kernels, DType dtype, Layout layout,
                            const std::vector<uint8_t>& weight, const std::vector<float>& x,
                            int64_t n_in, int64_t n_out) {
  const int64_t n_rows = static_cast<int64_t>(x.size()) / n_in;
  const bool packed = layout == Layout::packed;
  const int64_t block_rows = packed && n_rows > 1 ? kBlockRows : 1;
  const auto room = static_cast<size_t>((n_rows + block_rows - 1) / block_rows * block_rows * n_in);
  std::vector<int8_t> quants(room);
  std::vector<float> scales(room / 32);
  std::vector<int16_t> sums(room / 16);
  std::vector<float> out(static_cast<size_t>(n_rows * n_out));
  const QuantizedRows quantized = {quants.data(), scales.data(), sums.data(), block_rows};
  kernels.quantize(x.data(), n_in, 0, n_rows, quantized);
  const WeightType type = *weight_type(dtype);
  std::vector<uint8_t> tiles;
  if (packed) {
    tiles.resize(static_cast<size_t>(packed_bytes(type, n_out, n_in)));
    pack_tiles(type, weight.data(), n_out, n_in, 0, (n_out + kTileOutputs - 1) / kTileOutputs,
               tiles.data());
  }
  const MatMulArgs args = {.weight = packed ? tiles.data() : weight.data(),
                           .row_bytes = dtype_bytes(dtype, n_in),
                           .n_in = n_in,
                           .n_out = n_out,
                           .bias = nullptr,
                           .x = x.data(),
                           .quantized = quantized,
                           .out = out.data()};
  const auto* const table = packed ? kernels.matmul_packed : kernels.matmul;
  table[static_cast<size_t>(type)](args, {0, n_out, 0, n_rows});
  return out;
}

// Any bytes are quants; scales must be finite for the comparison to mean something.
std::vector<uint8_t> random_weight(DType dtype, int64_t n_out, int64_t n_in, std::mt19937& random) {
  const int64_t row_bytes = dtype_bytes(dtype, n_in);
  std::vector<uint8_t> weight(static_cast<size_t>(n_out * row_bytes));
  std::vector<float> decoded(static_cast<size_t>(n_in * n_out));
  for (bool finite = false; !finite;) {
    for (uint8_t& byte : weight) byte = static_cast<uint8_t>(random() & 0xbfu);
    for (int64_t row = 0; row < n_out; ++row)
      ops::dequantize_row(dtype, weight.data() + row * row_bytes, decoded.data() + row * n_in,
                          n_in);
    finite = true;
    for (const float w : decoded) finite &= std::isfinite(w);
  }
  return weight;
}

// Integer dots are exact and the float sums have one order: the same bits from every table, with
// and without packing, and for a row alone and among others.
TEST(Isa, IntegerProductsAreTheSameBitsOnEveryTable) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  size_t n_types = 0;
  const DTypeInfo* types = dtype_table(&n_types);
  for (size_t i = 0; i < n_types; ++i) {
    const DType dtype = types[i].dtype;
    if (!is_quantized(dtype)) continue;
    const int64_t n_in = types[i].block_elements == 256 ? 768 : 608, n_out = 21 + 32;
    const std::vector<uint8_t> weight = random_weight(dtype, n_out, n_in, random);
    std::vector<float> x(static_cast<size_t>(31 * n_in));
    for (float& value : x) value = normal(random);
    const std::vector<float> first_row(x.begin(), x.begin() + n_in);
    const auto expected =
        multiply(*isas().back().kernels, dtype, Layout::in_place, weight, x, n_in, n_out);
    for (const Isa& isa : isas()) {
      if (!isa.can_run()) continue;
      for (const Layout layout : {Layout::in_place, Layout::packed}) {
        const auto out = multiply(*isa.kernels, dtype, layout, weight, x, n_in, n_out);
        EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)), 0)
            << dtype_name(dtype) << " on " << isa.name()
            << (layout == Layout::packed ? " packed" : "");
        const auto alone = multiply(*isa.kernels, dtype, layout, weight, first_row, n_in, n_out);
        EXPECT_EQ(std::memcmp(alone.data(), expected.data(), alone.size() * sizeof(float)), 0)
            << dtype_name(dtype) << " on " << isa.name() << ", one row"
            << (layout == Layout::packed ? " packed" : "");
      }
    }
  }
}

// A tile holds its rows' quant_blocks, each bit once.
TEST(Isa, PackedBlocksComeBackAsTheyWere) {
  std::mt19937 random(3);
  for (int i = 0; i < kNWeightTypes; ++i) {
    const auto type = static_cast<WeightType>(i);
    if (!is_packed(type)) continue;
    const PackedFormat format = packed_format(type);
    const int64_t n_rows = 37, width = 3 * format.block_elements, n_tiles = 3;
    std::vector<uint8_t> rows(static_cast<size_t>(n_rows * 3 * format.block_bytes));
    for (uint8_t& byte : rows) byte = static_cast<uint8_t>(random());
    std::vector<uint8_t> tiles(static_cast<size_t>(packed_bytes(type, n_rows, width)), 0xff);
    EXPECT_EQ(static_cast<int64_t>(tiles.size()), 48 * 3 * format.block_bytes);
    pack_tiles(type, rows.data(), n_rows, width, 0, 1, tiles.data());
    pack_tiles(type, rows.data(), n_rows, width, 1, n_tiles, tiles.data());
    for (int64_t row = 0; row < n_rows; ++row)
      for (int64_t block = 0; block < 3; ++block) {
        std::vector<uint8_t> bytes(static_cast<size_t>(format.block_bytes));
        unpack_block(type, tiles.data(), width, row, block, bytes.data());
        EXPECT_EQ(std::memcmp(bytes.data(), rows.data() + (row * 3 + block) * format.block_bytes,
                              bytes.size()),
                  0)
            << "type " << i << " row " << row << " block " << block;
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
    isa.kernels->quantize(x.data(), 96, 0, 1, {quants.data(), scales.data(), sums.data(), 1});
    for (size_t i = 0; i < 64; ++i) EXPECT_EQ(quants[i], 0) << isa.name();
    for (size_t i = 64; i < 96; ++i) EXPECT_EQ(quants[i], i % 2 == 0 ? 127 : -127) << isa.name();
    for (const float scale : scales) EXPECT_TRUE(std::isfinite(scale)) << isa.name();
    for (const int16_t sum : sums) EXPECT_EQ(sum, 0) << isa.name();
  }
}

}  // namespace
}  // namespace hwtv::cpu
