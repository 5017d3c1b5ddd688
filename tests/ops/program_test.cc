#include "ops/program.h"

#include <gtest/gtest.h>

namespace hwtv::ops {
namespace {

// A program with one value of every kind that an op may be wrongly given.
class CheckProgram : public testing::Test {
 protected:
  CheckProgram() {
    program_.kv_groups.push_back({.n_layers = 2, .n_kv_heads = 2, .head_dim = 32, .value_dim = 16});
    program_.add_op("embed", Embed{weight(10, 64), x_});
    program_.add_op("embed", Embed{weight(10, 32), narrow_});
  }
  ValueId value(int64_t width, Rows rows = Rows::n_tokens) {
    return program_.add_value("v", rows, width);
  }
  WeightId weight(int64_t n_rows, int64_t width) {
    return program_.add_weight({"w", DType::F32, n_rows, width, WeightRole::matrix});
  }
  void expect_good(Op op) {
    program_.add_op("good", std::move(op));
    check_program(program_);
  }
  void expect_bad(Op op, const char* condition) {
    Program bad = program_;
    bad.add_op("bad", std::move(op));
    EXPECT_DEATH(check_program(bad), condition);
  }

  Program program_;
  const ValueId x_ = value(64);
  const ValueId narrow_ = value(32);
};
using CheckProgramDeathTest = CheckProgram;

TEST_F(CheckProgramDeathTest, IdsOutOfRange) {
  expect_bad(Add{x_, 99, value(64)}, "id >= 0");
  expect_bad(Add{x_, x_, -2}, "id >= 0");
  expect_bad(Embed{99, value(64)}, "id >= 0");
  expect_bad(KvWrite{x_, narrow_, 1, 0}, "id >= 0");
  expect_bad(KvWrite{x_, narrow_, 0, 2}, "layer < kv.n_layers");
}

TEST_F(CheckProgramDeathTest, WriteOnceThenRead) {
  expect_bad(Add{x_, x_, narrow_}, "width == width");
  expect_bad(Embed{weight(10, 64), x_}, "!written");
  expect_bad(Add{value(64), x_, value(64)}, "written");
}

TEST_F(CheckProgramDeathTest, Embed) { expect_bad(Embed{weight(10, 64), value(65)}, "width"); }

TEST_F(CheckProgramDeathTest, Softcap) {
  expect_good(Softcap{x_, 30, value(64)});
  expect_bad(Softcap{x_, 30, value(65)}, "width == width");
  expect_bad(Softcap{x_, 0, value(64)}, "cap > 0");
}

TEST_F(CheckProgramDeathTest, RmsNorm) {
  expect_good(RmsNorm{x_, weight(1, 32), 1e-5f, value(64)});
  expect_bad(RmsNorm{x_, weight(1, 48), 1e-5f, value(64)}, "width % weight");
  expect_bad(RmsNorm{x_, weight(2, 32), 1e-5f, value(64)}, "n_rows == 1");
  expect_bad(RmsNorm{x_, weight(1, 64), 1e-5f, value(64, Rows::n_outputs)}, "rows == rows");
}

TEST_F(CheckProgramDeathTest, LayerNorm) {
  expect_good(LayerNorm{x_, weight(1, 64), weight(1, 64), 1e-5f, value(64)});
  expect_bad(LayerNorm{x_, weight(1, 32), weight(1, 64), 1e-5f, value(64)}, "width ==");
  expect_bad(LayerNorm{x_, weight(1, 64), weight(2, 64), 1e-5f, value(64)}, "n_rows == 1");
}

TEST_F(CheckProgramDeathTest, Activate) {
  expect_good(Activate{x_, Activation::gelu, value(64)});
  expect_bad(Activate{x_, Activation::clamped_swish, value(64)}, "clamped_swish");
}

TEST_F(CheckProgramDeathTest, MatMul) {
  expect_good(MatMul{x_, weight(7, 64), weight(1, 7), value(7)});
  expect_bad(MatMul{x_, weight(7, 63), kNoWeight, value(7)}, "width");
  expect_bad(MatMul{x_, weight(7, 64), kNoWeight, value(8)}, "width == width");
  expect_bad(MatMul{x_, weight(7, 64), weight(1, 8), value(7)}, "bias");
}

TEST_F(CheckProgramDeathTest, Rope) {
  expect_good(Rope{x_, weight(1, 8), 32, {.n_rotated = 16}, value(64)});
  expect_bad(Rope{x_, kNoWeight, 48, {.n_rotated = 16}, value(64)}, "head_dim");
  expect_bad(Rope{x_, kNoWeight, 32, {.n_rotated = 34}, value(64)}, "n_rotated");
  expect_bad(Rope{x_, kNoWeight, 32, {.n_rotated = 15}, value(64)}, "n_rotated");
  expect_bad(Rope{x_, kNoWeight, 32, {.n_rotated = 0}, value(64)}, "n_rotated");
  expect_bad(Rope{x_, weight(1, 16), 32, {.n_rotated = 16}, value(64)}, "factors");
}

TEST_F(CheckProgramDeathTest, KvWriteAndAttention) {
  expect_good(KvWrite{x_, narrow_, 0, 1});
  expect_good(Attention{x_, 0, 1, 2, 1, value(32)});
  expect_bad(KvWrite{narrow_, narrow_, 0, 0}, "width == width");
  expect_bad(KvWrite{x_, x_, 0, 0}, "width == width");
  expect_bad(Attention{x_, 0, 0, 3, 1, value(48)}, "n_heads % kv.n_kv_heads");
  expect_bad(Attention{x_, 0, 0, 4, 1, value(64)}, "width == width");
}

TEST_F(CheckProgramDeathTest, GluAndSelectOutputs) {
  expect_good(Glu{x_, x_, Activation::silu, value(64)});
  expect_bad(Glu{x_, narrow_, Activation::silu, value(64)}, "width == width");
  const ValueId selected = value(64, Rows::n_outputs);
  expect_good(SelectOutputs{x_, selected});
  expect_bad(SelectOutputs{selected, value(64, Rows::n_outputs)}, "Rows::n_tokens");
  expect_bad(SelectOutputs{x_, value(64)}, "rows == rows");
}

TEST_F(CheckProgramDeathTest, OutputsAreWrittenRowsOfOutputs) {
  Program unwritten = program_;
  unwritten.outputs.push_back({OutputKind::logits, unwritten.add_value("u", Rows::n_outputs, 64)});
  EXPECT_DEATH(check_program(unwritten), "written");
  Program of_tokens = program_;
  of_tokens.outputs.push_back({OutputKind::logits, x_});
  EXPECT_DEATH(check_program(of_tokens), "Rows::n_outputs");
}

TEST(OpNames, AndTheirValues) {
  EXPECT_EQ(op_name(KvWrite{}), "KvWrite");
  EXPECT_EQ(op_name(SelectOutputs{}), "SelectOutputs");
  EXPECT_EQ(op_inputs(KvWrite{.k = 3, .v = 5, .kv_group = 0, .layer = 0}),
            (std::vector<ValueId>{3, 5}));
  EXPECT_EQ(op_output(KvWrite{}), -1);
  EXPECT_EQ(op_output(Add{1, 2, 9}), 9);
}

}  // namespace
}  // namespace hwtv::ops
