#include "app/bench_tests.h"

#include <gtest/gtest.h>

namespace hwtv::app {
namespace {

std::vector<std::string> names(const BenchFlags& flags) {
  std::vector<std::string> names;
  const std::vector<BenchTest> tests = bench_tests(flags).value();
  for (const BenchTest& test : tests) names.push_back(test.name());
  return names;
}

using Names = std::vector<std::string>;

TEST(BenchTests, WithoutFlagsEverythingIsMeasured) {
  EXPECT_EQ(names({}), (Names{"prefill 128", "prefill 512", "prefill 2048", "decode 64 at 0",
                              "decode 64 at 2048", "decode 64 at 8192", "batch 1 x 32 at 32",
                              "batch 2 x 32 at 32", "batch 4 x 32 at 32", "batch 8 x 32 at 32",
                              "batch 16 x 32 at 32", "batch 32 x 32 at 32"}));
}

TEST(BenchTests, WhatIsChosenLeavesTheRestOut) {
  EXPECT_EQ(names({.prefill = "7,9"}), (Names{"prefill 7", "prefill 9"}));
  EXPECT_EQ(names({.depth = "0,100"}), (Names{"decode 64 at 0", "decode 64 at 100"}));
  EXPECT_EQ(names({.n_decode = 5}), Names{"decode 5 at 0"});
  EXPECT_EQ(names({.prefill = "7", .n_decode = 5}), (Names{"prefill 7", "decode 5 at 0"}));
  EXPECT_EQ(names({.batch = "3", .n_decode = 5}), Names{"batch 3 x 5 at 32"});
  EXPECT_EQ(names({.depth = "none", .batch = "3"}), Names{"batch 3 x 32 at 32"});
  EXPECT_EQ(names({.prefill = "none"}), Names{});
}

TEST(BenchTests, RoomIsForPromptAnswerAndTheTokenBetween) {
  const auto tests = bench_tests({.prefill = "512", .depth = "0,63", .batch = "4"}).value();
  EXPECT_EQ(tests[0].context_tokens(), 512);
  EXPECT_EQ(tests[1].context_tokens(), 1 + 64 + 1);
  EXPECT_EQ(tests[2].context_tokens(), 63 + 64 + 1);
  EXPECT_EQ(tests[2].pool_tokens(), 128);
  EXPECT_EQ(tests[3].context_tokens(), 32 + 32 + 1);
  EXPECT_EQ(tests[3].pool_tokens(), 4 * 128);  // whole kv_blocks
}

TEST(BenchTests, NamesTheWordThatCannotBeMeasured) {
  for (const char* word : {"x", "0", "-1", "", "1.5", "99999999999999999999"}) {
    const auto tests = bench_tests({.prefill = std::string("5,") + word});
    ASSERT_FALSE(tests) << word;
    EXPECT_EQ(tests.error().code, ErrorCode::invalid_request);
    EXPECT_EQ(tests.error().what,
              "--prefill 5," + std::string(word) + ": '" + word + "' cannot be measured");
  }
  EXPECT_TRUE(bench_tests({.depth = "0"}));
  EXPECT_FALSE(bench_tests({.batch = "1025"}));
  EXPECT_FALSE(bench_tests({.n_decode = -1}));
}

}  // namespace
}  // namespace hwtv::app
