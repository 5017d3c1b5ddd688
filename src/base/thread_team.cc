#include "base/thread_team.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"

namespace hwtv {
namespace {

// state_: run number << 32 | open << 31 | members inside.  One word, so that a member joins a run and
// learns that it is still open in one step, and no member enters a run that the caller has left.
constexpr uint64_t kOpen = uint64_t{1} << 31;
constexpr uint64_t kInside = kOpen - 1;
constexpr uint64_t run_number(uint64_t state) { return state >> 32; }

// Longer than the gap between two ops of a step and than most samplers take between two steps, far
// shorter than a scheduler tick.
constexpr std::chrono::microseconds kSpin{200};

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

bool is_new_run(uint64_t state, uint64_t seen) {
  return (state & kOpen) != 0 && run_number(state) != seen;
}

// Spins a little, then gives the core to whoever is waited for.
template <typename Done>
void wait_until(const Done& done, bool may_spin) {
  for (int spins = 0; !done(); ++spins)
    may_spin && spins < 1000 ? relax() : std::this_thread::yield();
}

}  // namespace

ThreadTeam::ThreadTeam(int n_threads)
    : n_threads_(n_threads),
      may_spin_(static_cast<unsigned>(n_threads) <= std::thread::hardware_concurrency()) {
  CHECK(n_threads >= 1);
  shares_ = std::vector<Share>(static_cast<size_t>(n_threads));
  threads_.reserve(static_cast<size_t>(n_threads - 1));
  for (int member = 1; member < n_threads; ++member)
    threads_.emplace_back([this, member] { serve(member); });
}

ThreadTeam::~ThreadTeam() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_.store(true);
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::deal_shares(int64_t n, int64_t grain) {
  const int64_t n_chunks = (n + grain - 1) / grain;
  for (int64_t member = 0; member < n_threads_; ++member) {
    Share& share = shares_[static_cast<size_t>(member)];
    share.next.store(n_chunks * member / n_threads_ * grain, std::memory_order_relaxed);
    share.end = std::min(n, n_chunks * (member + 1) / n_threads_ * grain);
  }
}

void ThreadTeam::publish(RawWork work, const void* context) {
  work_ = work;
  context_ = context;
  n_finished_.store(0, std::memory_order_relaxed);
  // Either this store is seen by a member about to park, or its n_parked_ is seen here.
  state_.store(((run_number(state_.load(std::memory_order_relaxed)) + 1) << 32) | kOpen);
  if (n_parked_.load() == 0) return;
  { std::lock_guard<std::mutex> lock(mutex_); }
  wake_.notify_all();
}

void ThreadTeam::run_raw(RawWork work, const void* context, Wait wait) {
  if (n_threads_ == 1) return work(context, 0);
  publish(work, context);
  work(context, 0);
  if (wait == Wait::for_all_members)
    wait_until([&] { return n_finished_.load(std::memory_order_acquire) == n_threads_ - 1; },
               may_spin_);
  state_.fetch_and(~kOpen, std::memory_order_acq_rel);
  wait_until([&] { return (state_.load(std::memory_order_acquire) & kInside) == 0; }, may_spin_);
}

bool ThreadTeam::spin_for_run(uint64_t seen) const {
  if (!may_spin_) return false;
  const auto end = std::chrono::steady_clock::now() + kSpin;
  for (int spins = 1;; ++spins) {
    if (is_new_run(state_.load(std::memory_order_relaxed), seen)) return true;
    if (spins % 64 == 0 && std::chrono::steady_clock::now() > end) return false;
    relax();
  }
}

void ThreadTeam::park_for_run(uint64_t seen) {
  std::unique_lock<std::mutex> lock(mutex_);
  n_parked_.fetch_add(1);
  wake_.wait(lock, [&] { return stop_.load() || is_new_run(state_.load(), seen); });
  n_parked_.fetch_sub(1);
}

void ThreadTeam::serve(int member) {
  uint64_t seen = 0;  // the last run this member was in
  for (;;) {
    if (!spin_for_run(seen)) park_for_run(seen);
    if (stop_.load()) return;
    uint64_t state = state_.load(std::memory_order_acquire);
    if (!is_new_run(state, seen) ||
        !state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel))
      continue;
    work_(context_, member);
    seen = run_number(state);
    n_finished_.fetch_add(1, std::memory_order_release);
    state_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace hwtv
