// A fixed team of threads that works on one thing at a time.  The caller is member 0; the others park
// between runs after a short spin.  Owned by a device's context; used by backends and by the probes,
// so that both measure with the same threads.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace hwtv {

class ThreadTeam {
 public:
  // Requires: n_threads >= 1.  Starts n_threads - 1 threads.
  explicit ThreadTeam(int n_threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int n_threads() const { return n_threads_; }

  // Calls work(member) once for each member in [0, n_threads), in parallel, and returns when all have
  // returned.  Requires: called from one thread at a time, not from inside itself.
  template <typename Work>
  void run(const Work& work) {
    run_raw([](const void* context, int member) { (*static_cast<const Work*>(context))(member); },
            &work, Wait::for_all_members);
  }

  // Splits [0, n) into chunks of `grain`.  Each member has a share of them, one after the other, so
  // that it reads on where its last chunk ended and what it read ahead is its own; who is done with
  // its share takes the next chunks of the others'.  A member whose core is taken away stalls nobody:
  // the caller waits only for those that took one.  A single chunk wakes nobody.
  // work(begin, end, member).
  template <typename Work>
  void for_each_chunk(int64_t n, int64_t grain, const Work& work) {
    if (n <= grain) {
      if (n > 0) work(int64_t{0}, n, 0);
      return;
    }
    deal_shares(n, grain);
    const auto take_chunks = [&](int member) {
      for (int i = 0; i < n_threads_; ++i) {
        Share& share = shares_[static_cast<size_t>((member + i) % n_threads_)];
        for (;;) {
          const int64_t begin = share.next.fetch_add(grain, std::memory_order_relaxed);
          if (begin >= share.end) break;
          work(begin, begin + grain < share.end ? begin + grain : share.end, member);
        }
      }
    };
    run_raw([](const void* context,
               int member) { (*static_cast<const decltype(take_chunks)*>(context))(member); },
            &take_chunks, Wait::for_those_who_joined);
  }

 private:
  using RawWork = void (*)(const void* context, int member);
  enum class Wait { for_all_members, for_those_who_joined };

  // What one member begins with, on a cache line of its own.
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  void deal_shares(int64_t n, int64_t grain);
  void run_raw(RawWork work, const void* context, Wait wait);
  void publish(RawWork work, const void* context);
  void serve(int member);
  // Both return when a run other than `seen` is open or the team stops; the first gives up, false.
  bool spin_for_run(uint64_t seen) const;
  void park_for_run(uint64_t seen);

  const int n_threads_;
  const bool may_spin_;  // a core for each member
  RawWork work_ = nullptr;
  const void* context_ = nullptr;
  // The number of the run, whether it may still be joined, and how many are inside: see the .cc file.
  std::atomic<uint64_t> state_{0};
  std::atomic<int> n_finished_{0};  // members that are done with this run
  std::atomic<int> n_parked_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Share> shares_;  // for each member; of this run
  std::vector<std::thread> threads_;
};

}  // namespace hwtv
