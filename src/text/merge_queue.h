// The pairs of neighbours that wait to be merged, by rank (the smaller, the earlier); within a rank
// from the left.  For merge_loop.h.
//
// A long word has many pairs but few ranks, so this beats a heap of pairs there: a run of 10 MB of
// spaces has about a dozen.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <vector>

namespace hwtv::text {

class MergeQueue {
 public:
  // `left`: position of the left neighbour.
  void push(uint32_t rank, uint32_t left) {
    if (draining_ && rank == current_) return late_.push(left);
    const auto [entry, is_new] = waiting_.try_emplace(rank);
    entry->second.lefts.push_back(left);
    if (is_new) ranks_.push(rank);
  }

  // Calls merge(rank, left) for every pair, the best first; merge may push more.  Leaves the queue
  // empty.
  template <typename Merge>
  void drain(const Merge& merge) {
    draining_ = true;
    while (!ranks_.empty()) {
      current_ = ranks_.top();
      ranks_.pop();
      Waiting& pairs = waiting_[current_];
      const auto rest = pairs.lefts.begin() + static_cast<ptrdiff_t>(pairs.done);
      if (!std::is_sorted(rest, pairs.lefts.end())) std::sort(rest, pairs.lefts.end());
      while (has_pair(pairs) && (ranks_.empty() || ranks_.top() > current_)) {
        merge(current_, take_leftmost(pairs));
      }
      for (; !late_.empty(); late_.pop()) pairs.lefts.push_back(late_.top());
      if (has_pair(pairs)) {
        ranks_.push(current_);
      } else {
        waiting_.erase(current_);
      }
    }
    draining_ = false;
  }

 private:
  struct Waiting {
    std::vector<uint32_t> lefts;
    size_t done = 0;
  };
  template <typename T>
  using LeastFirst = std::priority_queue<T, std::vector<T>, std::greater<>>;

  bool has_pair(const Waiting& pairs) const {
    return pairs.done < pairs.lefts.size() || !late_.empty();
  }

  uint32_t take_leftmost(Waiting& pairs) {
    if (late_.empty() ||
        (pairs.done < pairs.lefts.size() && pairs.lefts[pairs.done] < late_.top())) {
      return pairs.lefts[pairs.done++];
    }
    const uint32_t left = late_.top();
    late_.pop();
    return left;
  }

  std::unordered_map<uint32_t, Waiting> waiting_;
  LeastFirst<uint32_t> ranks_;  // of waiting_
  bool draining_ = false;
  uint32_t current_ = 0;       // the rank being drained
  LeastFirst<uint32_t> late_;  // pairs of that rank that came up meanwhile
};

}  // namespace hwtv::text
