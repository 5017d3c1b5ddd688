// Texts of tokens as a tree of bytes: finds every token that a text begins with in one walk.  For
// the text/ folder.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace hwtv::text {

class TokenTree {
 public:
  static constexpr int32_t kRoot = 0, kNone = -1;

  // Pairs of a text and what value() gives for it, 0 or more.  Requires: the texts are distinct and
  // not empty.
  explicit TokenTree(std::vector<std::pair<std::string_view, int32_t>> texts = {});
  // What a tree over so many bytes of texts takes at most.
  static int64_t table_bytes(int64_t text_bytes);

  // The node one byte further, or kNone.
  int32_t child(int32_t node, char byte) const {
    const uint8_t wanted = static_cast<uint8_t>(byte);
    if (node == kRoot) return first_level_[wanted];
    const auto i = static_cast<size_t>(node);
    return find_byte(first_child_[i], first_child_[i + 1], wanted);
  }
  // Of the text that ends at this node; kNone: none does.
  int32_t value(int32_t node) const { return values_[static_cast<size_t>(node)]; }

 private:
  int32_t find_byte(int32_t first, int32_t end, uint8_t wanted) const;

  // Nodes level by level: the children of a node are neighbours, by their bytes.
  std::vector<uint8_t> bytes_;
  std::vector<int32_t> values_;
  std::vector<int32_t> first_child_;  // one more than there are nodes
  std::array<int32_t, 256> first_level_;
};

}  // namespace hwtv::text
