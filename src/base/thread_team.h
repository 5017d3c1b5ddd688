// A fixed team of threads that runs one function at a time, all members together.  The caller is
// member 0; the others park between runs after a short spin.  Owned by a device's context; used by
// backends and by the probes, so that both measure with the same threads.
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
            &work);
  }

  // Splits [0, n) into chunks of `grain`; members take the next free chunk until none is left, so a
  // member whose core is taken away does not stall the rest; a single chunk wakes nobody.
  // work(begin, end, member).
  template <typename Work>
  void for_each_chunk(int64_t n, int64_t grain, const Work& work) {
    if (n <= grain) {
      if (n > 0) work(int64_t{0}, n, 0);
      return;
    }
    std::atomic<int64_t> next{0};
    run([&](int member) {
      for (;;) {
        const int64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
        if (begin >= n) return;
        work(begin, begin + grain < n ? begin + grain : n, member);
      }
    });
  }

 private:
  using RawWork = void (*)(const void* context, int member);
  void run_raw(RawWork work, const void* context);
  void serve(int member);
  bool spin_for_generation(uint64_t seen) const;

  const int n_threads_;
  RawWork work_ = nullptr;
  const void* context_ = nullptr;
  std::atomic<uint64_t> generation_{0};
  std::atomic<int> n_running_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> threads_;
};

}  // namespace hwtv
