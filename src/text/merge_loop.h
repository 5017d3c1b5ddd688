// The loop that all byte-pair encodings share: of all neighbours in a word, merge the pair of the
// least rank, the leftmost of equals, until none is left.  For merge_table.cc and
// sentence_piece.cc.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/merge_heap.h"
#include "text/merge_queue.h"

namespace hwtv::text {

struct Merge {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t rank = kNone;  // the smaller, the earlier; kNone: the pair does not merge
  int32_t result = -1;    // token
};

// Room that one caller reuses from word to word.
struct MergeScratch {
  std::vector<int32_t> tokens;           // in: a word's smallest tokens; out: what they merged to
  std::vector<Merge> merges;             // merges[i]: of tokens[i] and the one after it
  std::vector<uint32_t> next, previous;  // of tokens[i], for the words that need it
  MergeHeap heap;
};

// A few tokens: scanning for the least rank beats every queue.
template <typename Find>
void merge_scanning(MergeScratch& scratch, const Find& find) {
  auto& [tokens, merges, next, previous, heap] = scratch;
  size_t n = tokens.size();
  merges.resize(n - 1);
  for (size_t i = 0; i + 1 < n; ++i) merges[i] = find(tokens[i], tokens[i + 1]);
  while (n > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < n; ++i) {
      if (merges[i].rank < merges[best].rank) best = i;
    }
    if (merges[best].rank == Merge::kNone) break;
    tokens[best] = merges[best].result;
    for (size_t i = best + 1; i + 1 < n; ++i) tokens[i] = tokens[i + 1];
    for (size_t i = best; i + 2 < n; ++i) merges[i] = merges[i + 1];
    --n;
    if (best > 0) merges[best - 1] = find(tokens[best - 1], tokens[best]);
    if (best + 1 < n) merges[best] = find(tokens[best], tokens[best + 1]);
  }
  tokens.resize(n);
}

// Requires: `queue` is empty; it is empty again afterwards.
template <typename Queue, typename Find>
void merge_queued(MergeScratch& scratch, const Find& find, Queue& queue) {
  constexpr uint32_t kEnd = UINT32_MAX;
  auto& [tokens, merges, next, previous, heap] = scratch;
  const uint32_t n = static_cast<uint32_t>(tokens.size());
  next.resize(n);
  previous.resize(n);
  merges.resize(n);
  const auto push = [&](uint32_t left) {
    if (merges[left].rank != Merge::kNone) queue.push(merges[left].rank, left);
  };
  const auto look_up = [&](uint32_t left) {
    merges[left] = find(tokens[left], tokens[next[left]]);
    push(left);
  };
  for (uint32_t i = 0; i < n; ++i) {
    next[i] = i + 1 < n ? i + 1 : kEnd;
    previous[i] = i - 1;  // kEnd for the first
  }
  // All look-ups first: they wait for memory, and none of them for another.
  for (uint32_t i = 0; i + 1 < n; ++i) merges[i] = find(tokens[i], tokens[i + 1]);
  for (uint32_t i = 0; i + 1 < n; ++i) push(i);
  queue.drain([&](uint32_t rank, uint32_t left) {
    // One of the two may have grown or gone since.
    if (tokens[left] < 0 || next[left] == kEnd || merges[left].rank != rank) return;
    const uint32_t right = next[left];
    tokens[left] = merges[left].result;
    tokens[right] = -1;  // gone
    next[left] = next[right];
    if (previous[left] != kEnd) look_up(previous[left]);
    if (next[left] != kEnd) {
      previous[next[left]] = left;
      look_up(left);
    }
  });
  std::erase(tokens, -1);
}

// Merges scratch.tokens, none of which is negative.  find(left, right) gives a pair's Merge; equal
// pairs give equal ones.  At most n log n steps.
template <typename Find>
void merge_tokens(MergeScratch& scratch, const Find& find) {
  constexpr size_t kFew = 24, kMany = 8192;
  const size_t n = scratch.tokens.size();
  if (n < 2) return;
  if (n <= kFew) return merge_scanning(scratch, find);
  if (n <= kMany) return merge_queued(scratch, find, scratch.heap);
  MergeQueue queue;
  merge_queued(scratch, find, queue);
}

}  // namespace hwtv::text
