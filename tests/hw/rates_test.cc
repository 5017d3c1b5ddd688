#include "hw/rates.h"

#include <gtest/gtest.h>

#include "hw/rates_file.h"

namespace hwtv::hw {
namespace {

const std::string kFingerprint = "0123456789abcdef";
const std::vector<std::string> kIsas = {"avx2", "scalar"};

Rates some_rates() {
  return {.n_threads = 2,
          .read = {{1 << 20, 100e9, 90e9, 400, "L2"}, {1 << 30, 10e9, 9e9, 3, "DRAM"}},
          .isas = {{"avx2", 100e9, 400e9}, {"scalar", 10e9, 20e9}},
          .measured_in_s = 1.5};
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
  const auto read = parse_rates(rates_document(rates, kFingerprint), kFingerprint, 2, kIsas);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(rates_document(*read, kFingerprint), rates_document(rates, kFingerprint));
}

TEST(RatesFile, AnythingElseIsRefused) {
  const std::string good = rates_document(some_rates(), kFingerprint);
  const auto refused = [](const std::string& text, int n_threads = 2,
                          const std::vector<std::string>& isas = kIsas) {
    const auto read = parse_rates(text, kFingerprint, n_threads, isas);
    return !read && read.error().code == ErrorCode::corrupt_file;
  };
  for (size_t length = 0; length + 2 < good.size(); ++length)
    EXPECT_TRUE(refused(good.substr(0, length))) << length;
  EXPECT_TRUE(refused(good, 3));
  EXPECT_TRUE(refused(good, 2, {"scalar"}));
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

}  // namespace
}  // namespace hwtv::hw
