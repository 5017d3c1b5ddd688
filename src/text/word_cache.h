// What words of the running text were encoded to: most words of a text have occurred before, and
// their ids stand in the output already.  For the tokenizers; lives for one encode().
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace hwtv::text {

class WordCache {
 public:
  explicit WordCache(size_t text_bytes)
      : slots_(std::bit_ceil(std::clamp<size_t>(text_bytes / 8, 16, 16384))) {}

  // Appends the word's ids, from an earlier occurrence or by `encode()`, which appends them.
  // Requires: the words stay where they are, and `ids` only grows, as long as this object lives.
  template <typename Encode>
  void append(std::string_view word, std::vector<int32_t>& ids, const Encode& encode) {
    if (word.size() > kLongestWord) return encode();
    const size_t hash = std::hash<std::string_view>()(word);
    Slot& slot = slots_[hash & (slots_.size() - 1)];
    const size_t begin = ids.size();
    if (slot.word == word) {
      ids.resize(begin + slot.n_ids);
      std::copy_n(ids.begin() + static_cast<ptrdiff_t>(slot.begin), slot.n_ids,
                  ids.begin() + static_cast<ptrdiff_t>(begin));
      return;
    }
    encode();
    slot = {word, begin, ids.size() - begin};
  }

 private:
  static constexpr size_t kLongestWord = 64;
  struct Slot {
    std::string_view word;  // empty: free
    size_t begin = 0, n_ids = 0;
  };
  std::vector<Slot> slots_;
};

}  // namespace hwtv::text
