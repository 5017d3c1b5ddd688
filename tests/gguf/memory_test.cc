// What opening a file may cost: measured in a child process, by its peak resident memory.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "gguf/file.h"
#include "gguf/parser.h"
#include "tests/gguf/bad_files.h"
#include "tests/gguf/temporary_folder.h"

namespace hwtv::gguf {
namespace {

constexpr int64_t kPeakBytesMax = int64_t{64} << 20;

int64_t peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

struct Cost {
  bool opened;
  std::string what;  // the error, where not opened
  int64_t peak_bytes;
  double seconds;
};

// Opens the file in a child of its own, so that its peak is not another test's.
Cost cost_of_opening(const std::string& path) {
  int ends[2];
  if (::pipe(ends) != 0) return {false, "no pipe", 0, 0};
  const pid_t child = ::fork();
  if (child == 0) {
    const int64_t before = peak_bytes();
    const auto begin = std::chrono::steady_clock::now();
    const auto file = File::open(path);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const std::string line = fmt::format("{} {} {} {}", file ? 1 : 0, peak_bytes() - before,
                                         took.count(), file ? "" : file.error().what);
    ::_exit(::write(ends[1], line.data(), line.size()) > 0 ? 0 : 1);
  }
  ::close(ends[1]);
  std::string line;
  char buffer[512];
  for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    line.append(buffer, static_cast<size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  int opened = 0, text = 0;
  long long peak = 0;
  double seconds = 0;
  EXPECT_EQ(std::sscanf(line.c_str(), "%d %lld %lf %n", &opened, &peak, &seconds, &text), 3);
  return {opened == 1, line.substr(static_cast<size_t>(text)), peak, seconds};
}

class Memory : public testing::Test {
 protected:
  // A sparse file: `bytes`, then zeros up to n_bytes.
  Cost cost_of(const std::string& bytes, int64_t n_bytes) {
    return cost_of(std::vector<std::pair<int64_t, std::string>>{{0, bytes}}, n_bytes);
  }
  // The same from pieces, each at its offset, zeros between them.
  Cost cost_of(const std::vector<std::pair<int64_t, std::string>>& pieces, int64_t n_bytes) {
    const std::string path = folder_ / "model.gguf";
    std::ofstream file(path, std::ios::binary);
    for (const auto& [offset, bytes] : pieces) file.seekp(offset) << bytes;
    file.close();
    EXPECT_TRUE(file);
    std::filesystem::resize_file(path, static_cast<uintmax_t>(n_bytes));
    const Cost cost = cost_of_opening(path);
    EXPECT_LT(cost.peak_bytes, kPeakBytesMax);
    EXPECT_LT(cost.seconds, 10);  // a hang, not a speed
    return cost;
  }
  TemporaryFolder folder_;
};

// Stands for a model of 400 GB: only its header may cost time and memory.
TEST_F(Memory, AHugeModelOpensInNoTime) {
  Bytes bytes = header(1000, 1).array("tokens", ValueType::STRING, 250000);
  for (int i = 0; i < 250000; ++i) bytes.string(fmt::format("token {}", i));
  constexpr uint64_t kRows = 100000, kTensorBytes = 4096 * kRows;
  for (uint64_t i = 0; i < 1000; ++i)
    bytes.tensor(fmt::format("blk.{}.weight", i), {1024, kRows}, 0, i * kTensorBytes);
  const Cost cost = cost_of(bytes.take(), int64_t{400} << 30);
  EXPECT_TRUE(cost.opened) << cost.what;
  EXPECT_LT(cost.seconds, 0.5);
}

// Zeros are strings of length 0: the length fits the file, so only a limit stops the walk.
TEST_F(Memory, AnEndlessArrayOfStringsIsRefused) {
  const Cost cost = cost_of(header(0, 1).array("k", ValueType::STRING, uint64_t{1} << 32).take(),
                            int64_t{64} << 30);
  EXPECT_NE(cost.what.find("an array of at most 4194304 elements"), std::string::npos) << cost.what;
}

// Arrays each within its limit, one after another, pass through memory without staying.
TEST_F(Memory, AnEndlessHeaderIsRefused) {
  std::vector<std::pair<int64_t, std::string>> pieces = {{0, header(0, 16).take()}};
  int64_t offset = 24;
  for (int i = 0; i < 16; ++i) {
    pieces.push_back({offset, Bytes()
                                  .array(std::string(1, static_cast<char>('a' + i)),
                                         ValueType::STRING, kArrayElementsMax)
                                  .take()});
    offset += static_cast<int64_t>(pieces.back().second.size()) + 8 * kArrayElementsMax;
  }
  const Cost cost = cost_of(pieces, int64_t{16} << 30);
  EXPECT_NE(cost.what.find("a header of at most 128.0 MiB"), std::string::npos) << cost.what;
}

TEST_F(Memory, ManyTensorsAreCheap) {
  Bytes bytes = header(kTensorsMax, 0);
  for (int64_t i = 0; i < kTensorsMax; ++i)
    bytes.tensor(fmt::format("{:0>256}", i), {8, 1, 1, 1}, 0, static_cast<uint64_t>(i) * 32);
  const Cost cost = cost_of(bytes.take(), int64_t{1} << 30);
  EXPECT_TRUE(cost.opened) << cost.what;
}

TEST_F(Memory, MoreTensorsAreRefused) {
  const Cost cost = cost_of(header(kTensorsMax + 1, 0).take(), int64_t{1} << 40);
  EXPECT_NE(cost.what.find("at most 65536 tensors, found 65537"), std::string::npos) << cost.what;
}

TEST_F(Memory, MoreEntriesAreRefused) {
  const Cost cost = cost_of(header(0, kEntriesMax + 1).take(), int64_t{1} << 40);
  EXPECT_NE(cost.what.find("at most 16384 metadata entries"), std::string::npos) << cost.what;
}

TEST_F(Memory, BadFilesAreCheap) {
  for (const BadFile& bad : bad_files()) {
    SCOPED_TRACE(bad.name);
    EXPECT_FALSE(cost_of(bad.bytes, static_cast<int64_t>(bad.bytes.size())).opened);
  }
}

}  // namespace
}  // namespace hwtv::gguf
