#include "ops/work.h"

#include <gtest/gtest.h>

namespace hwtv::ops {
namespace {

// 3 tokens in one step of 2 sequences, 2 outputs; caches of 10 + 20 tokens after it.
constexpr SliceSize kSlices[] = {{.n_cached = 8, .n_tokens = 2}, {.n_cached = 19, .n_tokens = 1}};
constexpr StepSizes kSizes{.n_tokens = 3,
                           .n_outputs = 2,
                           .n_seqs = 2,
                           .slices = kSlices,
                           .k_dtype = DType::Q8_0,
                           .v_dtype = DType::F16};

class WorkTest : public testing::Test {
 protected:
  ValueId tokens(int64_t width) { return program_.add_value("t", Rows::n_tokens, width); }
  ValueId outputs(int64_t width) { return program_.add_value("o", Rows::n_outputs, width); }
  WeightId weight(DType dtype, int64_t n_rows, int64_t width) {
    return program_.add_weight({"w", dtype, n_rows, width, WeightRole::matrix});
  }
  void expect(const Op& op, const hw::Work& expected) {
    const hw::Work actual = work(program_, op, kSizes);
    EXPECT_EQ(actual.read_bytes, expected.read_bytes);
    EXPECT_EQ(actual.written_bytes, expected.written_bytes);
    EXPECT_EQ(actual.flops, expected.flops);
    EXPECT_EQ(actual.int8_ops, expected.int8_ops);
  }
  Program program_;
};

TEST_F(WorkTest, EmbedReadsOneRowForEachToken) {
  // A row of 64 elements in Q4_0 is 2 blocks of 18 bytes.
  expect(Embed{weight(DType::Q4_0, 1000, 64), tokens(64)},
         {.read_bytes = 3 * 36, .written_bytes = 3 * 64 * 4});
}

TEST_F(WorkTest, MatMulOfQuantizedWeightsIsInt8) {
  // 10 rows of 64: 360 bytes of weights, 10 x 4 of bias, 3 x 64 x 4 of x.
  expect(MatMul{tokens(64), weight(DType::Q4_0, 10, 64), weight(DType::F32, 1, 10), tokens(10)},
         {.read_bytes = 360 + 40 + 768, .written_bytes = 120, .int8_ops = 2 * 3 * 64 * 10});
}

TEST_F(WorkTest, MatMulOfPlainWeightsIsFloat) {
  expect(MatMul{outputs(64), weight(DType::F16, 10, 64), kNoWeight, outputs(10)},
         {.read_bytes = 1280 + 512, .written_bytes = 80, .flops = 2 * 2 * 64 * 10});
}

TEST_F(WorkTest, RmsNorm) {
  expect(RmsNorm{tokens(64), weight(DType::F32, 1, 32), 1e-5f, tokens(64)},
         {.read_bytes = 768 + 128, .written_bytes = 768, .flops = 4 * 192});
}

TEST_F(WorkTest, LayerNorm) {
  expect(LayerNorm{tokens(64), weight(DType::F32, 1, 64), weight(DType::F32, 1, 64), 1e-5f,
                   tokens(64)},
         {.read_bytes = 768 + 2 * 256, .written_bytes = 768, .flops = 7 * 192});
}

TEST_F(WorkTest, Rope) {
  expect(Rope{tokens(64), kNoWeight, 32, {.n_rotated = 32}, tokens(64)},
         {.read_bytes = 768, .written_bytes = 768, .flops = 3 * 192});
}

TEST_F(WorkTest, KvWriteCountsTheCachesDtypes) {
  program_.kv_groups.push_back({.n_layers = 5, .n_kv_heads = 2, .head_dim = 32, .value_dim = 64});
  // A token of a layer: 2 heads x (34 bytes of Q8_0 + 64 x 2 of F16).
  expect(KvWrite{tokens(64), tokens(128), 0, 4},
         {.read_bytes = 768 + 1536, .written_bytes = 3 * 2 * (34 + 128)});
}

TEST_F(WorkTest, AttentionReadsEachCacheOnce) {
  program_.kv_groups.push_back({.n_layers = 5, .n_kv_heads = 2, .head_dim = 32, .value_dim = 64});
  // 39 attended positions x 6 heads x 2 x (32 + 64).
  expect(Attention{tokens(192), 0, 4, 6, 1, tokens(384)},
         {.read_bytes = 2304 + 30 * 324, .written_bytes = 4608, .flops = 39 * 6 * 2 * 96});
}

TEST_F(WorkTest, AnEncodersTokensSeeTheWholeSequence) {
  program_.kv_groups.push_back({.n_layers = 5, .n_kv_heads = 2, .head_dim = 32, .value_dim = 64});
  // The first sequence's 2 tokens see 10 positions each, the second's sees all its 20.
  expect(Attention{tokens(192), 0, 4, 6, 1, tokens(384), 0, kNoWeight, false},
         {.read_bytes = 2304 + 30 * 324, .written_bytes = 4608, .flops = 40 * 6 * 2 * 96});
}

TEST_F(WorkTest, AWindowIsReadAndNoMore) {
  program_.kv_groups.push_back(
      {.n_layers = 5, .n_kv_heads = 2, .head_dim = 32, .value_dim = 64, .window_tokens = 9});
  // The first sequence's tokens see positions 0 to 8 and 1 to 9, the second's sees its last 9.
  expect(Attention{tokens(192), 0, 4, 6, 1, tokens(384)}, {.read_bytes = 2304 + (10 + 9) * 324,
                                                           .written_bytes = 4608,
                                                           .flops = (9 + 9 + 9) * 6 * 2 * 96});
}

TEST_F(WorkTest, Elementwise) {
  expect(Glu{tokens(10), tokens(10), Activation::silu, tokens(10)},
         {.read_bytes = 240, .written_bytes = 120, .flops = 180});
  expect(Activate{tokens(10), Activation::gelu, tokens(10)},
         {.read_bytes = 120, .written_bytes = 120, .flops = 180});
  expect(Add{tokens(10), tokens(10), tokens(10)},
         {.read_bytes = 240, .written_bytes = 120, .flops = 30});
  expect(Softcap{tokens(10), 30, tokens(10)},
         {.read_bytes = 120, .written_bytes = 120, .flops = 180});
  expect(SelectOutputs{tokens(10), outputs(10)}, {.read_bytes = 80, .written_bytes = 80});
}

TEST_F(WorkTest, ExpertsAreReadWhereTokensTouchThem) {
  const auto experts = [&](int64_t n_rows, int64_t width) {
    WeightDecl decl{"w", DType::Q4_0, n_rows, width, WeightRole::matrix};
    decl.n_experts = 8;
    return program_.add_weight(decl);
  };
  const ExpertMatMul op{tokens(64), tokens(8), experts(10, 64), weight(DType::F32, 8, 10),
                        2,          tokens(20)};
  // 2 of 8 experts for each of 3 tokens: 8 (1 - (3/4)^3) of them, of 360 bytes and 40 of bias.
  expect(op, {.read_bytes = 768 + 96 + 4.625 * 400,
              .written_bytes = 240,
              .int8_ops = 2 * 3 * 2 * 64 * 10});
  constexpr StepSizes kOneToken{.n_tokens = 1, .n_outputs = 1, .n_seqs = 1};
  EXPECT_EQ(work(program_, op, kOneToken).read_bytes, 256 + 32 + 2 * 400);
  expect(ExpertSum{tokens(20), tokens(8), 2, tokens(10)},
         {.read_bytes = 240 + 96, .written_bytes = 120, .flops = 120});
}

TEST_F(WorkTest, ProgramIsTheSumOfItsOps) {
  const ValueId x = tokens(64), y = tokens(10), z = tokens(10);
  program_.add_op("embed", Embed{weight(DType::F32, 9, 64), x});
  program_.add_op("mat_mul", MatMul{x, weight(DType::F32, 10, 64), kNoWeight, y});
  program_.add_op("add", Add{y, y, z});
  const hw::Work total = work(program_, kSizes);
  EXPECT_EQ(total.read_bytes, 768 + (768 + 2560) + 240);
  EXPECT_EQ(total.written_bytes, 768 + 120 + 120);
  EXPECT_EQ(total.flops, 3840 + 30);
  EXPECT_EQ(total.int8_ops, 0);
}

TEST(KvGroup, TokenBytes) {
  const KvGroup group{.n_layers = 30, .n_kv_heads = 3, .head_dim = 64, .value_dim = 64};
  EXPECT_EQ(kv_token_bytes(group, DType::F16, DType::F16), 30 * 3 * 256);
  EXPECT_EQ(kv_token_bytes(group, DType::Q8_0, DType::Q4_0), 30 * 3 * (68 + 36));
}

}  // namespace
}  // namespace hwtv::ops
