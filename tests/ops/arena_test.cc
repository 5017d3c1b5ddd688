#include "ops/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace hwtv::ops {
namespace {

class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : random_(seed) {
    add_embed(64);
    while (program.ops.size() < 40) add_random_op();
    for (size_t id = 0; id < program.values.size(); ++id)
      if (program.values[id].rows == Rows::n_outputs && pick(3) == 0)
        program.outputs.push_back({OutputKind::logits, static_cast<ValueId>(id)});
    check_program(program);
  }
  Program program;

 private:
  size_t pick(size_t n) { return random_() % n; }
  ValueId any_value() { return static_cast<ValueId>(pick(program.values.size())); }
  WeightId add_weight(int64_t n_rows, int64_t width) {
    return program.add_weight({"w", DType::F32, n_rows, width, WeightRole::matrix});
  }
  void add_embed(int64_t width) {
    const ValueId out = program.add_value("x", Rows::n_tokens, width);
    program.add_op("embed", Embed{add_weight(10, width), out});
  }
  void add_random_op() {
    const ValueId x = any_value();
    const Value value = program.value(x);
    switch (pick(4)) {
      case 0: {
        const int64_t width = static_cast<int64_t>(1 + pick(300));
        const ValueId out = program.add_value("m", value.rows, width);
        program.add_op("mat_mul", MatMul{x, add_weight(width, value.width), kNoWeight, out});
        return;
      }
      case 1: {
        const ValueId out = program.add_value("a", value.rows, value.width);
        program.add_op("add", Add{x, x, out});
        return;
      }
      case 2:
        if (value.rows == Rows::n_tokens) {
          const ValueId out = program.add_value("s", Rows::n_outputs, value.width);
          program.add_op("select", SelectOutputs{x, out});
        }
        return;
      default:
        add_embed(static_cast<int64_t>(1 + pick(100)));
    }
  }

  std::mt19937_64 random_;
};

struct Extent {
  int64_t begin, end;  // bytes
};

Extent extent_of(const Program& program, ValueId id, const ArenaPlan& plan, const Limits& limits) {
  const Value& value = program.value(id);
  const int64_t rows = value.rows == Rows::n_tokens ? limits.n_tokens_max : limits.n_outputs_max;
  const int64_t begin = plan.offsets[static_cast<size_t>(id)];
  return {begin, begin + rows * value.width * 4};
}

// Values that must be intact while op `at` runs: written by it or before, read by it or after.
std::vector<ValueId> live_at(const Program& program, size_t at) {
  std::vector<ValueId> live;
  for (size_t id = 0; id < program.values.size(); ++id) {
    const ValueId value = static_cast<ValueId>(id);
    bool written = false, needed = false;
    for (size_t i = 0; i < program.ops.size(); ++i) {
      const auto inputs = op_inputs(program.ops[i].op);
      const bool reads = std::count(inputs.begin(), inputs.end(), value) > 0;
      const bool writes = op_output(program.ops[i].op) == value;
      written |= writes && i <= at;
      needed |= (reads && i >= at) || (writes && i == at);
    }
    for (const Output& output : program.outputs) needed |= output.value == value;
    if (written && needed) live.push_back(value);
  }
  return live;
}

TEST(Arena, LiveValuesNeverOverlap) {
  const Limits limits{.n_tokens_max = 7, .n_outputs_max = 3};
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const Program program = RandomProgram(seed).program;
    const ArenaPlan plan = plan_arena(program, limits);
    for (size_t at = 0; at < program.ops.size(); ++at) {
      std::vector<Extent> extents;
      for (const ValueId id : live_at(program, at))
        extents.push_back(extent_of(program, id, plan, limits));
      std::sort(extents.begin(), extents.end(),
                [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
      for (size_t i = 0; i < extents.size(); ++i) {
        EXPECT_GE(extents[i].begin, 0);
        EXPECT_EQ(extents[i].begin % 64, 0);
        EXPECT_LE(extents[i].end, plan.n_bytes);
        if (i > 0) {
          EXPECT_LE(extents[i - 1].end, extents[i].begin) << "seed " << seed;
        }
      }
    }
  }
}

TEST(Arena, ValuesOfAChainShareSpace) {
  Program program;
  ValueId x = program.add_value("x0", Rows::n_tokens, 100);
  program.add_op("embed",
                 Embed{program.add_weight({"w", DType::F32, 5, 100, WeightRole::embedding}), x});
  for (int i = 0; i < 50; ++i) {
    const ValueId out = program.add_value("x", Rows::n_tokens, 100);
    program.add_op("add", Add{x, x, out});
    x = out;
  }
  // Two values of 8 x 100 floats at a time, each rounded up to 64 bytes.
  EXPECT_EQ(plan_arena(program, {.n_tokens_max = 8}).n_bytes, 2 * 3200);
  EXPECT_EQ(plan_arena(program, {.n_tokens_max = 1}).n_bytes, 2 * 448);
}

// Row by row, an op's rows are written while an earlier op's later rows are not.
TEST(Arena, ValuesOfAStageShareNoSpace) {
  Program program;
  ValueId x = program.add_value("x0", Rows::n_tokens, 100);
  program.add_op("embed",
                 Embed{program.add_weight({"w", DType::F32, 5, 100, WeightRole::embedding}), x});
  for (int i = 0; i < 5; ++i) {
    const ValueId out = program.add_value("x", Rows::n_tokens, 100);
    program.add_op("add", Add{x, x, out});
    x = out;
  }
  const Limits limits{.n_tokens_max = 8};
  EXPECT_EQ(plan_arena(program, limits, std::vector<int32_t>{0, 0, 0, 0, 0, 0}).n_bytes, 6 * 3200);
  EXPECT_EQ(plan_arena(program, limits, std::vector<int32_t>{0, 1, 1, 2, 2, 3}).n_bytes, 3 * 3200);
}

TEST(Arena, ValueThatNothingWritesHasNoPlace) {
  Program program;
  program.add_value("unused", Rows::n_tokens, 100);
  const ArenaPlan plan = plan_arena(program, {});
  EXPECT_EQ(plan.offsets, std::vector<int64_t>{-1});
  EXPECT_EQ(plan.n_bytes, 0);
}

}  // namespace
}  // namespace hwtv::ops
