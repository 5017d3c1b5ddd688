// The pairs of neighbours that wait to be merged, as a heap: for the words of running text, where
// MergeQueue's bookkeeping would cost more than it saves.  For merge_loop.h.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace hwtv::text {

class MergeHeap {
 public:
  // `left`: position of the left neighbour.
  void push(uint32_t rank, uint32_t left) {
    pairs_.push_back(uint64_t{rank} << 32 | left);
    std::push_heap(pairs_.begin(), pairs_.end(), std::greater<>());
  }

  // Calls merge(rank, left) for every pair, the best first, within a rank from the left; merge may
  // push more.  Leaves the heap empty.
  template <typename Merge>
  void drain(const Merge& merge) {
    while (!pairs_.empty()) {
      std::pop_heap(pairs_.begin(), pairs_.end(), std::greater<>());
      const uint64_t pair = pairs_.back();
      pairs_.pop_back();
      merge(static_cast<uint32_t>(pair >> 32), static_cast<uint32_t>(pair));
    }
  }

 private:
  std::vector<uint64_t> pairs_;  // rank << 32 | left
};

}  // namespace hwtv::text
