#include "text/merge_table.h"

#include <algorithm>
#include <bit>

#include "text/merge_queue.h"

namespace hwtv::text {

namespace {
// Up to here, scanning for the least rank is faster than keeping a heap.
constexpr size_t kShortWord = 24;
}  // namespace

MergeTable::MergeTable(size_t n_merges) : slots_(n_slots(n_merges)), mask_(slots_.size() - 1) {}

size_t MergeTable::n_slots(size_t n_merges) {
  return std::bit_ceil(n_merges + n_merges / 3 + 1);
}

int64_t MergeTable::table_bytes(int64_t n_merges) {
  return static_cast<int64_t>(n_slots(static_cast<size_t>(n_merges)) * sizeof(Slot));
}

void MergeTable::add(int32_t left, int32_t right, uint32_t rank, int32_t result) {
  const uint64_t key = key_of(left, right);
  size_t slot = slot_of(key);
  for (; slots_[slot].key != kFree; slot = (slot + 1) & mask_) {
    if (slots_[slot].key == key) return;
  }
  slots_[slot] = {key, {rank, result}};
}

void MergeTable::merge(Scratch& scratch) const {
  if (scratch.tokens.size() < 2) return;
  if (scratch.tokens.size() <= kShortWord) return merge_short(scratch);
  merge_long(scratch);
}

void MergeTable::merge_short(Scratch& scratch) const {
  auto& tokens = scratch.tokens;
  auto& merges = scratch.merges;
  size_t n = tokens.size();
  merges.resize(n - 1);
  for (size_t i = 0; i + 1 < n; ++i) merges[i] = find(tokens[i], tokens[i + 1]);
  while (n > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < n; ++i) {
      if (merges[i].rank < merges[best].rank) best = i;
    }
    if (merges[best].rank == kNoMerge) break;
    tokens[best] = merges[best].result;
    for (size_t i = best + 1; i + 1 < n; ++i) tokens[i] = tokens[i + 1];
    for (size_t i = best; i + 2 < n; ++i) merges[i] = merges[i + 1];
    --n;
    if (best > 0) merges[best - 1] = find(tokens[best - 1], tokens[best]);
    if (best + 1 < n) merges[best] = find(tokens[best], tokens[best + 1]);
  }
  tokens.resize(n);
}

void MergeTable::merge_long(Scratch& scratch) const {
  constexpr uint32_t kNone = UINT32_MAX;
  auto& tokens = scratch.tokens;
  const uint32_t n = static_cast<uint32_t>(tokens.size());
  std::vector<uint32_t> next(n), previous(n);
  MergeQueue queue;
  const auto push = [&](uint32_t left) {
    const uint32_t rank = find(tokens[left], tokens[next[left]]).rank;
    if (rank != kNoMerge) queue.push(rank, left);
  };
  for (uint32_t i = 0; i < n; ++i) {
    next[i] = i + 1 < n ? i + 1 : kNone;
    previous[i] = i - 1;  // kNone for the first
    if (i + 1 < n) push(i);
  }
  queue.drain([&](uint32_t rank, uint32_t left) {
    if (tokens[left] < 0 || next[left] == kNone) return;
    const uint32_t right = next[left];
    const Merge merge = find(tokens[left], tokens[right]);
    if (merge.rank != rank) return;  // a rank belongs to one pair: this one has changed since
    tokens[left] = merge.result;
    tokens[right] = -1;  // gone
    next[left] = next[right];
    if (previous[left] != kNone) push(previous[left]);
    if (next[left] != kNone) {
      previous[next[left]] = left;
      push(left);
    }
  });
  std::erase(tokens, -1);
}

}  // namespace hwtv::text
