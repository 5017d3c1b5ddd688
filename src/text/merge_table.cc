#include "text/merge_table.h"

#include <bit>

namespace hwtv::text {

MergeTable::MergeTable(size_t n_merges)
    : slots_(n_slots(n_merges)), homes_(slots_.size()), mask_(slots_.size() - 1) {}

size_t MergeTable::n_slots(size_t n_merges) {
  return std::bit_ceil(n_merges + n_merges / 3 + 1);
}

int64_t MergeTable::table_bytes(int64_t n_merges) {
  return static_cast<int64_t>(n_slots(static_cast<size_t>(n_merges)) * (sizeof(Slot) + 1));
}

void MergeTable::add(int32_t left, int32_t right, uint32_t rank, int32_t result) {
  const uint64_t key = key_of(left, right), hash = hash_of(key);
  size_t slot = slot_of(hash);
  homes_[slot] |= home_bit(hash);
  for (; slots_[slot].key != kFree; slot = (slot + 1) & mask_) {
    if (slots_[slot].key == key) return;
  }
  slots_[slot] = {key, {rank, result}};
}

void MergeTable::merge(MergeScratch& scratch) const {
  merge_tokens(scratch, [this](int32_t left, int32_t right) { return find(left, right); });
}

}  // namespace hwtv::text
