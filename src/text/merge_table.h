// The merges of a BPE vocabulary, and the loop that applies them.  For byte_pair.cc.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace hwtv::text {

class MergeTable {
 public:
  static constexpr uint32_t kNoMerge = UINT32_MAX;

  struct Merge {
    uint32_t rank = kNoMerge;  // the smaller, the earlier
    int32_t result = -1;       // token
  };

  // Requires: add() is called at most n_merges times.
  explicit MergeTable(size_t n_merges = 0);
  static int64_t table_bytes(int64_t n_merges);  // that a table of so many merges takes

  // Keeps the first merge of a pair.
  void add(int32_t left, int32_t right, uint32_t rank, int32_t result);

  Merge find(int32_t left, int32_t right) const {
    const uint64_t key = key_of(left, right);
    for (size_t slot = slot_of(key);; slot = (slot + 1) & mask_) {
      if (slots_[slot].key == key) return slots_[slot].merge;
      if (slots_[slot].key == kFree) return {};
    }
  }

  // Room that one caller reuses from word to word.
  struct Scratch {
    std::vector<int32_t> tokens;  // in: a word's smallest tokens; out: what they merged to
    std::vector<Merge> merges;    // merges[i]: of tokens[i] and the one after it
  };

  // Merges scratch.tokens: of all neighbours, always the pair of least rank, the leftmost of
  // equals.  At most n log n steps.
  void merge(Scratch& scratch) const;

 private:
  static constexpr uint64_t kFree = UINT64_MAX;
  struct Slot {
    uint64_t key = kFree;
    Merge merge;
  };

  static size_t n_slots(size_t n_merges);
  static uint64_t key_of(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  size_t slot_of(uint64_t key) const {
    return static_cast<size_t>((key ^ key >> 29) * 0x9E3779B97F4A7C15u >> 20) & mask_;
  }
  void merge_short(Scratch& scratch) const;
  void merge_long(Scratch& scratch) const;

  std::vector<Slot> slots_;
  size_t mask_;
};

}  // namespace hwtv::text
