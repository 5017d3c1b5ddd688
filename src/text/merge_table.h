// The merges of a BPE vocabulary.  For byte_pair.cc.
#pragma once
#include <cstdint>
#include <vector>

#include "text/merge_loop.h"

namespace hwtv::text {

class MergeTable {
 public:
  // Requires: add() is called at most n_merges times.
  explicit MergeTable(size_t n_merges = 0);
  static int64_t table_bytes(int64_t n_merges);  // that a table of so many merges takes

  // Keeps the first merge of a pair.
  void add(int32_t left, int32_t right, uint32_t rank, int32_t result);

  Merge find(int32_t left, int32_t right) const {
    const uint64_t key = key_of(left, right), hash = hash_of(key);
    size_t slot = slot_of(hash);
    if (!(homes_[slot] & home_bit(hash))) return {};
    for (;; slot = (slot + 1) & mask_) {
      if (slots_[slot].key == key) return slots_[slot].merge;
      if (slots_[slot].key == kFree) return {};
    }
  }

  // Merges scratch.tokens.
  void merge(MergeScratch& scratch) const;

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
  static uint64_t hash_of(uint64_t key) { return (key ^ key >> 29) * 0x9E3779B97F4A7C15u; }
  size_t slot_of(uint64_t hash) const { return static_cast<size_t>(hash >> 20) & mask_; }
  static uint8_t home_bit(uint64_t hash) { return static_cast<uint8_t>(1u << (hash >> 17 & 7)); }

  std::vector<Slot> slots_;
  // Per slot: the home bits of the keys that belong there.  Most pairs are no merge, and this says
  // so from a sixteenth of the memory.
  std::vector<uint8_t> homes_;
  size_t mask_;
};

}  // namespace hwtv::text
