#include "app/lost_page.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/file.h"

namespace hwtv::app {
namespace {

TEST(LostPageDeathTest, EndsWithOneErrorThatNamesTheFile) {
  const std::string path = testing::TempDir() + "hwtv-lost-page-" + std::to_string(getpid());
  ASSERT_TRUE(write_file_atomically(path, std::string(1 << 20, 'x')));
  auto mapped = MappedFile::open(path);
  ASSERT_TRUE(mapped);
  std::filesystem::resize_file(path, 4096);
  const volatile std::byte* bytes = mapped->data();
  EXPECT_TRUE(bytes[4095] == std::byte{'x'});
  EXPECT_EXIT(
      {
        report_lost_pages();
        std::_Exit(static_cast<int>(bytes[500'000]));
      },
      testing::ExitedWithCode(5),
      "^hwtv: .*hwtv-lost-page-[0-9]+ cannot be read at byte 500000 .*\n +put");
  std::filesystem::remove(path);
}

TEST(LostPageDeathTest, LeavesOtherFaultsAsTheyAre) {
  EXPECT_EXIT(
      {
        report_lost_pages();
        std::raise(SIGBUS);
      },
      testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace hwtv::app
