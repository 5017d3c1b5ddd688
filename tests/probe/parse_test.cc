#include "probe/parse.h"

#include <gtest/gtest.h>

#include <limits>

namespace hwtv::probe {
namespace {

using Cpus = std::vector<int>;

TEST(Parse, CpuLists) {
  EXPECT_EQ(parse_cpu_list("0-3,8\n"), (Cpus{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_cpu_list("5"), (Cpus{5}));
  EXPECT_EQ(parse_cpu_list("\n"), Cpus{});
  for (const char* bad :
       {"3-1", "a", "0-", "-1", "1,1", "2,1", "0-4294967295", "0--3", "0,,1", "1 2"})
    EXPECT_FALSE(parse_cpu_list(bad)) << bad;
}

TEST(Parse, Sizes) {
  EXPECT_EQ(parse_size("48K\n"), 49152);
  EXPECT_EQ(parse_size("260M"), int64_t{260} << 20);
  EXPECT_EQ(parse_size("512"), 512);
  for (const char* bad : {"", "K", "-1K", "9223372036854775807K", "4T"})
    EXPECT_FALSE(parse_size(bad)) << bad;
}

TEST(Parse, KibFields) {
  const char* text = "MemTotal:       24683584 kB\nMemFree: 1 kB\nHugePages_Total:       0\n";
  EXPECT_EQ(parse_kib_field(text, "MemTotal"), int64_t{24683584} * 1024);
  EXPECT_EQ(parse_kib_field(text, "Mem"), std::nullopt);
  EXPECT_EQ(parse_kib_field(text, "HugePages_Total"), std::nullopt);  // a count, not kB
  EXPECT_EQ(parse_kib_field("A: 9223372036854775807 kB", "A"), std::nullopt);
}

TEST(Parse, FlatFieldsMatchTheWholeKey) {
  EXPECT_EQ(parse_flat_field("inactive_file 3\ntotal_inactive_file 7\n", "total_inactive_file"), 7);
  EXPECT_EQ(parse_flat_field("total_inactive_file 7\n", "inactive_file"), std::nullopt);
}

TEST(Parse, CpuMax) {
  EXPECT_EQ(parse_cpu_max("150000 100000"), 1.5);
  EXPECT_EQ(parse_cpu_max("max 100000"), 0);
  for (const char* bad : {"", "plenty", "0 100000", "1 0", "1 2 3", "-1 100000"})
    EXPECT_FALSE(parse_cpu_max(bad)) << bad;
}

TEST(Parse, CgroupPathsMayHoldColons) {
  const auto paths = parse_cgroup_paths("4:cpu,cpuacct:/a\n0::/x:y\nnonsense\n");
  ASSERT_EQ(paths.size(), 2u);
  EXPECT_EQ(paths[0].controllers, (std::vector<std::string>{"cpu", "cpuacct"}));
  EXPECT_EQ(paths[1].path, "/x:y");
  EXPECT_TRUE(paths[1].controllers.empty());
}

TEST(Parse, MountsUndoEscapes) {
  const auto mounts =
      parse_mounts("35 24 0:30 /r /a\\040b rw shared:9 - cgroup cgroup rw,memory\nx\n");
  ASSERT_EQ(mounts.size(), 1u);
  EXPECT_EQ(mounts[0].folder, "/a b");
  EXPECT_EQ(mounts[0].root, "/r");
  EXPECT_EQ(mounts[0].options, (std::vector<std::string>{"rw", "memory"}));
}

TEST(Parse, SmapsSumsTheMappingsThatOverlap) {
  const char* text =
      "1000-3000 r--p 00000000 fe:00 2 /m\nSize: 8 kB\nRss: 8 kB\nPss: 1 kB\n"
      "3000-4000 r--p 00000000 fe:00 2 /m\nRss: 4 kB\n"
      "7000-8000 rw-p 00000000 00:00 0\nRss: 4 kB\n";
  EXPECT_EQ(parse_smaps_rss(text, 0x1000, 0x3000), 8192);
  EXPECT_EQ(parse_smaps_rss(text, 0x1800, 0x3001), 12288);
  EXPECT_EQ(parse_smaps_rss(text, 0x7000, 0x9000), 4096);
  EXPECT_EQ(parse_smaps_rss(text, 0x5000, 0x6000), std::nullopt);
}

}  // namespace
}  // namespace hwtv::probe
