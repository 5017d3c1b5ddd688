#include "base/thread_team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

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

// A member that is still in an earlier run, or late, must never enter the next one with old work.
TEST(ThreadTeam, RunsFollowEachOtherWithoutMixing) {
  for (int n_threads : {2, 3, 5}) {
    ThreadTeam team(n_threads);
    for (int64_t round = 0; round < 3000; ++round) {
      std::atomic<int64_t> sum{0};
      team.for_each_chunk(7, 1, [&](int64_t begin, int64_t, int) { sum += round + begin; });
      ASSERT_EQ(sum.load(), 7 * round + 21);
    }
  }
}

// One member is held back outside its chunks; the caller finishes all of them alone.
TEST(ThreadTeam, ALateMemberStallsNobody) {
  ThreadTeam team(2);
  std::atomic<int64_t> n_done{0};
  std::atomic<bool> release{false};
  std::thread helper([&] {
    while (n_done.load() < 99) std::this_thread::yield();
    release.store(true);
  });
  team.for_each_chunk(100, 1, [&](int64_t begin, int64_t, int) {
    // Whoever takes the first chunk is stuck in it until all others are done.
    while (begin == 0 && !release.load()) std::this_thread::yield();
    ++n_done;
  });
  helper.join();
  EXPECT_EQ(n_done.load(), 100);
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
