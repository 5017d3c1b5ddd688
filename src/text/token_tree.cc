#include "text/token_tree.h"

#include <algorithm>

#include "base/check.h"

namespace hwtv::text {

TokenTree::TokenTree(std::vector<std::pair<std::string_view, int32_t>> texts) {
  std::sort(texts.begin(), texts.end());
  struct Range {
    size_t begin, end;  // of the texts that go through a node
  };
  std::vector<Range> ranges{{0, texts.size()}};
  bytes_.push_back(0);
  values_.push_back(kNone);
  size_t depth = 0, level_end = 1;
  for (size_t node = 0; node < ranges.size(); ++node) {
    if (node == level_end) {
      ++depth;
      level_end = ranges.size();
    }
    first_child_.push_back(static_cast<int32_t>(ranges.size()));
    auto [at, end] = ranges[node];
    if (at < end && texts[at].first.size() == depth) {
      CHECK(depth > 0);
      values_[node] = texts[at++].second;
    }
    while (at < end) {
      const char byte = texts[at].first[depth];
      const size_t begin = at;
      while (at < end && texts[at].first[depth] == byte) ++at;
      ranges.push_back({begin, at});
      bytes_.push_back(static_cast<uint8_t>(byte));
      values_.push_back(kNone);
    }
  }
  first_child_.push_back(static_cast<int32_t>(ranges.size()));
  first_level_.fill(kNone);
  for (int32_t i = first_child_[0]; i < first_child_[1]; ++i) {
    first_level_[bytes_[static_cast<size_t>(i)]] = i;
  }
}

int64_t TokenTree::table_bytes(int64_t text_bytes) {
  return (text_bytes + 1) * static_cast<int64_t>(sizeof(uint8_t) + 2 * sizeof(int32_t));
}

int32_t TokenTree::find_byte(int32_t first, int32_t end, uint8_t wanted) const {
  const auto begin = bytes_.begin();
  const auto found = std::lower_bound(begin + first, begin + end, wanted);
  return found != begin + end && *found == wanted ? static_cast<int32_t>(found - begin) : kNone;
}

}  // namespace hwtv::text
