#include "base/units.h"

#include <gtest/gtest.h>

#include "base/dtype.h"

namespace hwtv {
namespace {

TEST(Units, PrintAsPeopleExpect) {
  EXPECT_EQ(format_bytes(98362432), "93.8 MiB");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(6.1 * (1u << 30)), "6.10 GiB");
  EXPECT_EQ(format_bandwidth(10.3e9), "10.3 GB/s");
  EXPECT_EQ(format_seconds(1.21), "1.21 s");
  EXPECT_EQ(format_seconds(0.0142), "14.2 ms");
  EXPECT_EQ(format_seconds(310e-6), "310 us");
  EXPECT_EQ(format_rate(71.94), "71.9");
  EXPECT_EQ(format_count(92299), "92,299");
  EXPECT_EQ(format_count(-1000), "-1,000");
  EXPECT_EQ(format_tokens(1), "1 token");
  EXPECT_EQ(format_tokens(0), "0 tokens");
  EXPECT_EQ(format_tokens(92299), "92299 tokens");
}

TEST(DType, BytesFollowTheBlocks) {
  EXPECT_EQ(dtype_bytes(DType::Q4_K, 512), 288);
  EXPECT_EQ(dtype_bytes(DType::F16, 3), 6);
  EXPECT_EQ(dtype_from_name("q4_k"), DType::Q4_K);
  EXPECT_FALSE(dtype_from_gguf_id(16));
  EXPECT_EQ(unsupported_dtype_name(16), "IQ2_XXS");
}

}  // namespace
}  // namespace hwtv
