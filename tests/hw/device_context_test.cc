#include "hw/device_context.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "base/file.h"
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

class RatesFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "hwtv_rates_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string only_file() const {
    return std::filesystem::directory_iterator(folder)->path().string();
  }
  std::string folder;
};

TEST_F(RatesFolder, RatesAreMeasuredOnceAndKept) {
  double first_s = 0;
  {
    DeviceContext context(small_machine(), {.n_threads = 2, .rates_folder = folder});
    const auto rates = context.rates();
    ASSERT_TRUE(rates);
    EXPECT_EQ(context.rates_warning(), "");
    EXPECT_EQ((*rates)->n_threads, 2);
    EXPECT_EQ((*rates)->isas.size(), runnable_isas().size());
    EXPECT_EQ(*context.rates(), *rates);
    first_s = (*rates)->measured_in_s;
  }
  DeviceContext again(small_machine(), {.n_threads = 2, .rates_folder = folder});
  EXPECT_EQ((*again.rates())->measured_in_s,
            first_s);  // not measured: a clock never repeats itself
}

TEST_F(RatesFolder, ACorruptFileIsMeasuredAnew) {
  { ASSERT_TRUE(DeviceContext(small_machine(), {.n_threads = 1, .rates_folder = folder}).rates()); }
  const std::string path = only_file(), good = *read_file(path);
  ASSERT_TRUE(write_file_atomically(path, good.substr(0, good.size() / 2)));
  DeviceContext context(small_machine(), {.n_threads = 1, .rates_folder = folder});
  ASSERT_TRUE(context.rates());
  EXPECT_EQ(context.rates_warning(), "");
  EXPECT_NE(*read_file(path), good);
  EXPECT_GT(read_file(path)->size(), good.size() / 2);
}

TEST_F(RatesFolder, AFullDiskIsAWarning) {
  DeviceContext context(small_machine(), {.n_threads = 1, .rates_folder = folder + "/new"});
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 16;  // stands for a full disk
  setrlimit(RLIMIT_FSIZE, &small);
  const auto rates = context.rates();
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_TRUE(rates);
  EXPECT_NE(context.rates_warning().find("not kept"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder + "/new"));
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
