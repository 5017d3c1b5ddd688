#include "base/thread_team.h"

#include <gtest/gtest.h>

#include <chrono>

namespace hwtv {
namespace {

TEST(ThreadTeam, EachMemberRunsOnceEachTime) {
  for (int n_threads : {1, 2, 3}) {
    ThreadTeam team(n_threads);
    std::vector<int> calls(static_cast<size_t>(n_threads));
    for (int round = 0; round < 1000; ++round)
      team.run([&](int member) { ++calls[static_cast<size_t>(member)]; });
    for (int n : calls) EXPECT_EQ(n, 1000);
  }
}

TEST(ThreadTeam, ChunksCoverTheRangeOnce) {
  ThreadTeam team(3);
  std::vector<int> hits(1003);
  team.for_each_chunk(1003, 10, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) ++hits[static_cast<size_t>(i)];
  });
  for (int n : hits) EXPECT_EQ(n, 1);
}

TEST(ThreadTeam, WakesAfterParking) {
  ThreadTeam team(2);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::atomic<int> n{0};
  team.run([&](int) { ++n; });
  EXPECT_EQ(n, 2);
}

}  // namespace
}  // namespace hwtv
