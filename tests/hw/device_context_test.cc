#include "hw/device_context.h"

#include <gtest/gtest.h>

#include "hw/measure.h"

namespace hwtv::hw {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

// A machine of which the buffers to measure stay small.
Machine small_machine() {
  Machine machine = this_machine();
  machine.devices[0].available_bytes = 64 * kMiB;
  return machine;
}

TEST(DeviceContext, TheThreadsAskedForKeepTheMachinesReason) {
  const DeviceContext suggested(small_machine(), {});
  EXPECT_EQ(suggested.thread_reason(), suggested.machine().cpu().thread_reason);
  DeviceContext asked(small_machine(), {.n_threads = 3});
  EXPECT_EQ(asked.n_threads(), 3);
  EXPECT_EQ(asked.thread_reason().rfind("as asked; the machine suggests ", 0), 0u);
  EXPECT_EQ(asked.ledger().budget_bytes(), 64 * kMiB);
}

TEST(DeviceContext, ABandwidthProbeIsInTheLedger) {
  DeviceContext context(small_machine(), {.n_threads = 2, .budget_bytes = 32 * kMiB});
  const auto read = context.measure_read(20'000'001);  // not a multiple of anything
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->buffer_bytes, 20'000'001);
  EXPECT_GT(read->bytes_per_s, 1e8);
  EXPECT_GE(read->bytes_per_s, read->median_bytes_per_s);
  EXPECT_GE(read->n_passes, 3);
  EXPECT_EQ(read->level, memory_level(context.machine().cpu(), 20'000'001));
  EXPECT_EQ(context.ledger().reserved_bytes(), 0);
  EXPECT_TRUE(context.measure_read(4 * kMiB, Pages::huge));
  const auto too_much = context.measure_read(33 * kMiB);
  ASSERT_FALSE(too_much);
  EXPECT_EQ(too_much.error().code, ErrorCode::out_of_memory);
}

TEST(Measure, BetterInstructionSetsComputeFaster) {
  ThreadTeam team(1);
  const Machine machine = small_machine();
  const auto rates = measure_rates(team, machine.cpu());
  ASSERT_TRUE(rates);
  ASSERT_FALSE(rates->isas.empty());
  EXPECT_EQ(rates->isas.back().isa, "scalar");
  for (const IsaPeak& peak : rates->isas) {
    EXPECT_GT(peak.flops_per_s, 1e7) << peak.isa;
    EXPECT_GT(peak.int8_ops_per_s, 1e7) << peak.isa;
    EXPECT_LT(peak.flops_per_s, 1e12) << peak.isa;  // one core: nothing was optimized away
    EXPECT_LT(peak.int8_ops_per_s, 1e13) << peak.isa;
  }
  if (rates->isas.size() > 1) {
    EXPECT_GT(rates->isas.front().int8_ops_per_s, 1.5 * rates->isas.back().int8_ops_per_s);
    EXPECT_GT(rates->isas.front().flops_per_s, 1.5 * rates->isas.back().flops_per_s);
  }
}

}  // namespace
}  // namespace hwtv::hw
