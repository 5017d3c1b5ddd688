#include "backends/cpu/kernel_trials_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "backends/cpu/isa.h"
#include "base/file.h"
#include "tests/backends/cpu/one_product.h"

namespace hwtv::cpu {
namespace {

// All tables of the build stand for candidates: nothing is run.
TrialsKey some_key() {
  TrialsKey key{"0123456789abcdef", 2, {}};
  for (const Isa& isa : isas()) key.candidates.push_back(isa.kernels);
  return key;
}

// Each candidate gains 0.5 more than the one before it.
KernelTrial some_trial(RowsClass rows, const TrialsKey& key) {
  KernelTrial trial{one_product_key(rows), rows == RowsClass::one ? 1 : 256, "2026-12-02", {}};
  for (const Kernels* kernels : key.candidates)
    trial.times.push_back({kernels, 0.00125, 1 + 0.5 * static_cast<double>(trial.times.size())});
  return trial;
}

std::vector<KernelTrial> some_trials(const TrialsKey& key) {
  return {some_trial(RowsClass::one, key), some_trial(RowsClass::many, key)};
}

TEST(TrialsFile, WhatIsWrittenIsRead) {
  const TrialsKey key = some_key();
  const std::vector<KernelTrial> trials = some_trials(key);
  const auto read = parse_trials(trials_document(trials, key), key);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(trials_document(*read, key), trials_document(trials, key));
  EXPECT_EQ(choices_of(*read), choices_of(trials));
  EXPECT_EQ((*read)[1].key, trials[1].key);
  EXPECT_TRUE(parse_trials(trials_document({}, key), key));
}

TEST(TrialsFile, AnythingElseIsRefused) {
  const TrialsKey key = some_key();
  const std::string good = trials_document(some_trials(key), key);
  const auto refused = [](const std::string& text, const TrialsKey& of) {
    const auto read = parse_trials(text, of);
    return !read && read.error().code == ErrorCode::corrupt_file;
  };
  for (size_t length = 0; length + 2 < good.size(); ++length)
    EXPECT_TRUE(refused(good.substr(0, length), key)) << length;
  EXPECT_TRUE(refused(good, {key.fingerprint, 3, key.candidates}));
  EXPECT_TRUE(refused(good, {"0123456789abcde0", 2, key.candidates}));
  TrialsKey other = key;
  other.candidates.push_back(key.candidates[0]);
  EXPECT_TRUE(refused(good, other));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  EXPECT_TRUE(refused(with("\"format\": 1", "\"format\": 0"), key));
  EXPECT_TRUE(refused(with("0.00125", "0.0"), key));
  EXPECT_TRUE(refused(with("0.00125", "1e300"), key));
  EXPECT_TRUE(refused(with("0.00125", "\"fast\""), key));
  EXPECT_TRUE(refused(with("\"gain\": 1.0", "\"gain\": -1.0"), key));
  EXPECT_TRUE(refused(with("\"n_out\": 40", "\"n_out\": 0"), key));
  EXPECT_TRUE(refused(with("\"n_in\": 64", "\"n_in\": -64"), key));
  EXPECT_TRUE(refused(with("\"n_in\": 64", "\"n_in\": 1e30"), key));
  EXPECT_TRUE(refused(with("\"n_rows\": 256", "\"n_rows\": 1"), key));  // the other's key
  EXPECT_TRUE(refused(with("\"packed\": true", "\"packed\": 1"), key));
  EXPECT_TRUE(refused(with("Q8_0", "I32"), key));
  EXPECT_TRUE(refused(with("Q8_0", "Q9_9"), key));
  EXPECT_TRUE(refused(with("2026-12-02", "\\u001b[31m"), key));
  EXPECT_TRUE(refused(with("\"isa\": \"scalar\"", "\"isa\": \"mmx\""), key));
  EXPECT_TRUE(refused("[]", key));
  EXPECT_TRUE(refused("{\"format\": {}}", key));
}

class TrialsFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "hwtv_trials_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name + "/cache";
    if (const char* before = std::getenv("HWTV_ISA")) forced = before;
    ::unsetenv("HWTV_ISA");
  }
  void TearDown() override {
    std::filesystem::remove_all(std::filesystem::path(folder).parent_path());
    if (!forced.empty()) ::setenv("HWTV_ISA", forced.c_str(), 1);
  }

  // The kernel of OneProduct's product in a backend made for one thread of this machine.
  std::string kernel() {
    hw::DeviceContext device(hw::this_machine(), {.n_threads = 1, .rates_folder = folder});
    const auto backend = CpuBackend::make(device);
    EXPECT_TRUE(backend);
    const auto executable = model.prepare(**backend);
    EXPECT_TRUE(executable);
    return (*executable)->kernels()[1];
  }

  std::string folder, forced;
  OneProduct model;
};

TEST_F(TrialsFolder, TheLastOfThemAreKept) {
  const TrialsKey key = some_key();
  EXPECT_EQ(read_trials(folder, key).error().code, ErrorCode::io);
  std::vector<KernelTrial> trials;
  for (size_t i = 0; i < kMostTrials + 3; ++i) {
    trials.push_back(some_trial(RowsClass::one, key));
    trials.back().key.n_out = static_cast<int64_t>(i + 1);
  }
  ASSERT_TRUE(keep_trials(folder, key, trials));
  const auto read = read_trials(folder, key);
  ASSERT_TRUE(read) << read.error().what;
  ASSERT_EQ(read->size(), kMostTrials);
  EXPECT_EQ(read->front().key.n_out, 4);
}

TEST_F(TrialsFolder, ABackendTakesWhatIsKeptAndTheRuleWhereThatIsBroken) {
  const Kernels& rule = **chosen_kernels();
  const std::string by_rule = std::string("q8_0_packed_") + rule.name;
  EXPECT_EQ(kernel(), by_rule);  // there is no file
  const TrialsKey key = {hw::this_machine().fingerprint, 1, candidates(rule)};
  if (key.candidates.size() < 2) GTEST_SKIP() << "only " << rule.name << " runs here";
  const std::vector<KernelTrial> trials = {some_trial(RowsClass::many, key)};
  ASSERT_TRUE(keep_trials(folder, key, trials));
  EXPECT_EQ(kernel(), by_rule + "/" + key.candidates.back()->name);
  ::setenv("HWTV_ISA", rule.name, 1);
  EXPECT_EQ(kernel(), by_rule);
  ::unsetenv("HWTV_ISA");
  const std::string document = trials_document(trials, key);
  ASSERT_TRUE(write_file_atomically(key.path(folder), document.substr(0, document.size() / 2)));
  EXPECT_EQ(kernel(), by_rule);
}

}  // namespace
}  // namespace hwtv::cpu
