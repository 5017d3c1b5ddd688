#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

namespace hwtv {
namespace {

std::string temporary_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "hwtv_file_XXXXXX").string();
  return ::mkdtemp(name.data());
}

TEST(File, AtomicWriteReplacesAndLeavesNothingBeside) {
  const std::string folder = temporary_folder(), path = folder + "/a";
  ASSERT_TRUE(write_file_atomically(path, "one"));
  ASSERT_TRUE(write_file_atomically(path, "two"));
  EXPECT_EQ(*read_file(path), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
}

TEST(File, AFailedWriteKeepsTheOldFile) {
  const std::string folder = temporary_folder(), path = folder + "/a";
  ASSERT_TRUE(write_file_atomically(path, "old"));
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 16;  // stands for a full disk
  setrlimit(RLIMIT_FSIZE, &small);
  const auto written = write_file_atomically(path, std::string(1000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::io);
  EXPECT_EQ(*read_file(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
}

TEST(File, MissingFileNamesThePath) {
  const auto mapped = MappedFile::open("/nonexistent/model.gguf");
  ASSERT_FALSE(mapped);
  EXPECT_NE(mapped.error().what.find("/nonexistent/model.gguf"), std::string::npos);
}

}  // namespace
}  // namespace hwtv
