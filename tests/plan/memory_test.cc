#include "plan/memory.h"

#include <gtest/gtest.h>

namespace hwtv::plan {
namespace {

constexpr int64_t kMib = int64_t{1} << 20;

// A backend whose needs are plain to see.
class FakeSpec : public ops::BackendSpec {
 public:
  std::string_view name() const override { return "fake"; }
  Result<void> supports(const ops::Program&, const ops::Limits&) const override { return {}; }
  ops::BytesByUse memory(const ops::Program&, const ops::Limits& limits) const override {
    ops::BytesByUse bytes;
    bytes.weights = 100 * kMib;
    bytes.packed_weights = 20 * kMib;
    bytes.kv = limits.context_tokens_max * 1024;
    bytes.activations = 3 * kMib;
    bytes.staging = 2 * kMib;
    return bytes;
  }
};

MemoryPlan plan_for(int64_t context_tokens) {
  ops::Limits limits;
  limits.context_tokens_max = context_tokens;
  return predict_memory(FakeSpec(), ops::Program(), limits, {.n_threads = 2, .vocab_size = 1000});
}

hw::Device device_with(int64_t available_bytes) {
  hw::Device device;
  device.name = "cpu:0";
  device.available_bytes = available_bytes;
  device.memory_limit = "as the test says";
  return device;
}

TEST(Memory, IsWhatTheBackendSaysAndTheRuntime) {
  const MemoryPlan plan = plan_for(1024);
  EXPECT_EQ(plan.device.total(), 126 * kMib);
  EXPECT_EQ(plan.total_bytes(), plan.device.total() + plan.runtime_bytes);
}

TEST(Memory, TheRuntimeGrowsWithThreadsAndVocabulary) {
  const auto runtime = [](RuntimeShape shape) {
    return predict_memory(FakeSpec(), ops::Program(), {}, shape).runtime_bytes;
  };
  const int64_t base = runtime({});
  EXPECT_GT(base, 0);
  EXPECT_GT(runtime({.n_threads = 2}), base);
  EXPECT_GT(runtime({.vocab_size = 50000}), base);
  EXPECT_GT(runtime({.n_seqs = 2, .vocab_size = 50000}), runtime({.vocab_size = 50000}));
  EXPECT_EQ(runtime({.tokenizer_bytes = 5000, .metadata_bytes = 700}), base + 5700);
}

TEST(Memory, ASecondModelAddsAllButTheProcess) {
  const RuntimeShape shape{.n_threads = 2, .vocab_size = 1000, .metadata_bytes = 700};
  RuntimeShape second = shape;
  second.is_second = true;
  const MemoryPlan one = predict_memory(FakeSpec(), ops::Program(), {}, shape);
  const MemoryPlan beside = predict_memory(FakeSpec(), ops::Program(), {}, second);
  EXPECT_EQ(beside.runtime_bytes, 1000 * 8 + 700);
  MemoryPlan both = one;
  both += beside;
  EXPECT_EQ(both.total_bytes(), one.total_bytes() + beside.total_bytes());
  EXPECT_EQ(both.device.kv, 2 * one.device.kv);
}

TEST(Memory, FitsToTheLastByte) {
  const MemoryPlan plan = plan_for(1024);
  EXPECT_TRUE(check_fit(plan, 1024, device_with(plan.total_bytes()), plan_for));
  EXPECT_FALSE(check_fit(plan, 1024, device_with(plan.total_bytes() - 1), plan_for));
}

TEST(Memory, ARefusalNamesThePartsTheLimitAndTheLargestContext) {
  const MemoryPlan plan = plan_for(1 << 20);
  const int64_t available = plan_for(5000).total_bytes();
  const auto fits = check_fit(plan, 1 << 20, device_with(available), plan_for);
  ASSERT_FALSE(fits);
  EXPECT_EQ(fits.error().code, ErrorCode::out_of_memory);
  for (const char* part : {"weights 120.0 MiB", "kv 1.00 GiB", "activations 5.0 MiB", "runtime ",
                           "context of 1048576", "cpu:0 has", "as the test says"})
    EXPECT_NE(fits.error().what.find(part), std::string::npos) << part << ": " << fits.error().what;
  EXPECT_EQ(fits.error().advice, "the largest context that fits is 5000: --ctx 5000");
}

TEST(Memory, WeightsThatDoNotFitLeaveNoContext) {
  const auto fits = check_fit(plan_for(512), 512, device_with(50 * kMib), plan_for);
  ASSERT_FALSE(fits);
  EXPECT_NE(fits.error().advice.find("no context fits"), std::string::npos);
}

}  // namespace
}  // namespace hwtv::plan
