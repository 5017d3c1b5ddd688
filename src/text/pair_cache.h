// What pairs of tokens were found to merge to: the text of a pair is looked up once, not at each of
// its occurrences.  For sentence_piece.cc; lives for one encode().
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/merge_loop.h"

namespace hwtv::text {

class PairCache {
 public:
  explicit PairCache(size_t text_bytes)
      : slots_(std::bit_ceil(std::clamp<size_t>(text_bytes, 16, 65536))) {}

  // The pair's merge, from an earlier call or by `look_up()`.
  template <typename LookUp>
  Merge find(int32_t left, int32_t right, const LookUp& look_up) {
    const uint64_t key = uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
    const uint64_t hash = (key ^ key >> 29) * 0x9E3779B97F4A7C15u;
    Slot& slot = slots_[static_cast<size_t>(hash >> 20) & (slots_.size() - 1)];
    if (slot.key != key) slot = {key, look_up()};
    return slot.merge;
  }

 private:
  struct Slot {
    uint64_t key = UINT64_MAX;  // free
    Merge merge;
  };
  std::vector<Slot> slots_;
};

}  // namespace hwtv::text
