#include "base/thread_team.h"

#include "base/check.h"

namespace hwtv {
namespace {

// About 50 us: longer than the gap between two ops of a step, far shorter than a scheduler tick.
constexpr int kSpins = 20000;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

ThreadTeam::ThreadTeam(int n_threads) : n_threads_(n_threads) {
  CHECK(n_threads >= 1);
  threads_.reserve(static_cast<size_t>(n_threads - 1));
  for (int member = 1; member < n_threads; ++member)
    threads_.emplace_back([this, member] { serve(member); });
}

ThreadTeam::~ThreadTeam() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_.store(true);
    generation_.fetch_add(1);
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::run_raw(RawWork work, const void* context) {
  if (n_threads_ > 1) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      work_ = work;
      context_ = context;
      n_running_.store(n_threads_ - 1, std::memory_order_relaxed);
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
  }
  work(context, 0);
  for (int spins = 0; n_running_.load(std::memory_order_acquire) != 0; ++spins)
    spins < kSpins ? relax() : std::this_thread::yield();
}

bool ThreadTeam::spin_for_generation(uint64_t seen) const {
  for (int spins = 0; spins < kSpins; ++spins) {
    if (generation_.load(std::memory_order_acquire) != seen) return true;
    relax();
  }
  return false;
}

void ThreadTeam::serve(int member) {
  uint64_t seen = 0;
  for (;;) {
    if (!spin_for_generation(seen)) {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [&] { return generation_.load(std::memory_order_acquire) != seen; });
    }
    seen = generation_.load(std::memory_order_acquire);
    if (stop_.load()) return;
    work_(context_, member);
    n_running_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace hwtv
