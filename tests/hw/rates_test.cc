#include "hw/rates.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "base/file.h"
#include "hw/device_context.h"
#include "hw/measure.h"
#include "hw/rates_file.h"

namespace hwtv::hw {
namespace {

const std::string kFingerprint = "0123456789abcdef";
const RatesKey kKey = {kFingerprint, 2, {"avx2", "scalar"}};

Rates some_rates() {
  return {.n_threads = 2,
          .read = {{1 << 20, 100e9, 90e9, 400, "L2"}, {1 << 30, 10e9, 9e9, 3, "DRAM"}},
          .isas = {{"avx2", 100e9, 400e9}, {"scalar", 10e9, 20e9}},
          .measured_in_s = 1.5,
          .cpu_share = 0.97};
}

TEST(Rates, BandwidthBetweenTheMeasuredSizes) {
  const Rates rates = some_rates();
  EXPECT_DOUBLE_EQ(rates.read_bytes_per_s(1), 100e9);
  EXPECT_DOUBLE_EQ(rates.read_bytes_per_s(1 << 20), 100e9);
  EXPECT_DOUBLE_EQ(rates.read_bytes_per_s(1e12), 10e9);
  // Half way on the logarithm: half of the bytes take each time.
  EXPECT_DOUBLE_EQ(rates.read_bytes_per_s(1 << 25), 1 / (0.5 / 100e9 + 0.5 / 10e9));
}

TEST(Rates, PeakOfAnInstructionSet) {
  const Rates rates = some_rates();
  EXPECT_EQ(rates.peak(1 << 30).int8_ops_per_s, 400e9);
  EXPECT_EQ(rates.peak(1 << 30, "scalar").int8_ops_per_s, 20e9);
}

TEST(Work, TheLongerTimeBinds) {
  const Peak peak = {10e9, 100e9, 400e9};
  Work work = {.read_bytes = 9e9, .written_bytes = 1e9, .flops = 50e9, .int8_ops = 100e9};
  EXPECT_DOUBLE_EQ(memory_seconds(peak, work), 1);
  EXPECT_DOUBLE_EQ(compute_seconds(peak, work), 0.75);
  EXPECT_DOUBLE_EQ(seconds(peak, work), 1);
  work += Work{.flops = 50e9};
  EXPECT_DOUBLE_EQ(seconds(peak, work), 1.25);
  EXPECT_DOUBLE_EQ(work.n_ops(), 200e9);
  EXPECT_EQ(seconds(Peak{}, Work{}), 0);
}

TEST(RatesFile, WhatIsWrittenIsRead) {
  const Rates rates = some_rates();
  const auto read = parse_rates(rates_document(rates, kFingerprint), kKey);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(rates_document(*read, kFingerprint), rates_document(rates, kFingerprint));
}

TEST(RatesFile, AnythingElseIsRefused) {
  const std::string good = rates_document(some_rates(), kFingerprint);
  const auto refused = [](const std::string& text, const RatesKey& key = kKey) {
    const auto read = parse_rates(text, key);
    return !read && read.error().code == ErrorCode::corrupt_file;
  };
  for (size_t length = 0; length + 2 < good.size(); ++length)
    EXPECT_TRUE(refused(good.substr(0, length))) << length;
  EXPECT_TRUE(refused(good, {kFingerprint, 3, kKey.isas}));
  EXPECT_TRUE(refused(good, {kFingerprint, 2, {"scalar"}}));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  EXPECT_TRUE(refused(with(kFingerprint, "0123456789abcde0")));
  EXPECT_TRUE(refused(with("\"format\": 1", "\"format\": 0")));
  EXPECT_TRUE(refused(with("100000000000.0", "-1.0")));
  EXPECT_TRUE(refused(with("100000000000.0", "1e300")));
  EXPECT_TRUE(refused(with("100000000000.0", "\"fast\"")));
  EXPECT_TRUE(refused(with("\"buffer_bytes\": 1048576", "\"buffer_bytes\": 1073741824")));
  EXPECT_TRUE(refused(with("\"avx2\"", "\"avx9\"")));
  EXPECT_TRUE(refused(with("\"L2\"", "2")));
  EXPECT_TRUE(refused("[]"));
  EXPECT_TRUE(refused("{\"format\": {}}"));
}

class RatesFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "hwtv_rates_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name + "/cache";
  }
  void TearDown() override {
    std::filesystem::remove_all(std::filesystem::path(folder).parent_path());
  }
  std::string folder;
};

TEST_F(RatesFolder, IsMadeWhenMissing) {
  EXPECT_EQ(read_rates(folder, kKey).error().code, ErrorCode::io);
  ASSERT_TRUE(keep_rates(folder, kKey, some_rates()));
  EXPECT_EQ(read_rates(folder, kKey)->measured_in_s, 1.5);
}

TEST_F(RatesFolder, AFullDiskLeavesWhatWasThere) {
  ASSERT_TRUE(keep_rates(folder, kKey, some_rates()));
  Rates other = some_rates();
  other.measured_in_s = 9;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 16;  // stands for a full disk
  setrlimit(RLIMIT_FSIZE, &small);
  const auto kept = keep_rates(folder, kKey, other);
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, ErrorCode::io);
  EXPECT_EQ(read_rates(folder, kKey)->measured_in_s, 1.5);
}

// A context uses what is kept, measures when that is broken, and keeps what it measured on a
// machine that was quiet enough.
TEST_F(RatesFolder, ServesADeviceContext) {
  Machine machine = this_machine();
  machine.devices[0].available_bytes = int64_t{32} << 20;  // small buffers
  const RatesKey key = {machine.fingerprint, 1, runnable_isas()};
  Rates known = some_rates();
  known.n_threads = 1;
  known.isas.clear();
  for (const std::string& isa : key.isas) known.isas.push_back({isa, 1e9, 1e9});
  ASSERT_TRUE(keep_rates(folder, key, known));
  {
    DeviceContext context(machine, {.n_threads = 1, .rates_folder = folder});
    EXPECT_EQ((*context.rates())->measured_in_s, 1.5);
    EXPECT_EQ(context.rates_warning(), "");
  }
  const std::string broken = rates_document(known, machine.fingerprint).substr(0, 200);
  ASSERT_TRUE(write_file_atomically(key.path(folder), broken));
  DeviceContext context(machine, {.n_threads = 1, .rates_folder = folder});
  const Rates* measured = *context.rates();
  EXPECT_EQ(*context.rates(), measured);
  EXPECT_NE(measured->measured_in_s, 1.5);
  EXPECT_EQ(measured->is_disturbed(), context.rates_warning().find("busy") != std::string::npos);
  EXPECT_EQ(measured->is_disturbed(), *read_file(key.path(folder)) == broken);
}

TEST_F(RatesFolder, WhatCannotBeKeptIsAWarning) {
  ASSERT_TRUE(write_file_atomically(folder, "a file where the folder should be"));
  Machine machine = this_machine();
  machine.devices[0].available_bytes = int64_t{32} << 20;
  DeviceContext context(machine, {.n_threads = 1, .rates_folder = folder});
  ASSERT_TRUE(context.rates());
  EXPECT_NE(context.rates_warning().find("not kept"), std::string::npos);
}

}  // namespace
}  // namespace hwtv::hw
