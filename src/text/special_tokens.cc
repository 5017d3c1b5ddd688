#include "text/special_tokens.h"

#include <algorithm>

namespace hwtv::text {

namespace {
// White space as the C locale has it: the models' own tokenizers strip no more than this.
bool is_strippable(char c) { return c == ' ' || ('\t' <= c && c <= '\r'); }
}  // namespace

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
  always_ = make_set(kUserDefined, kControl | kUnknown);
  parsed_ = make_set(kControl | kUserDefined | kUnknown, 0);
}

SpecialTokens::Set SpecialTokens::make_set(int traits, int not_traits) const {
  Set set;
  for (int32_t id = 0; id < vocabulary_.size(); ++id) {
    if (vocabulary_.is(id, traits) && !vocabulary_.is(id, not_traits)) set.tokens.push_back(id);
  }
  std::stable_sort(set.tokens.begin(), set.tokens.end(), [&](int32_t a, int32_t b) {
    return vocabulary_.text(a).size() > vocabulary_.text(b).size();
  });
  set.nodes.push_back({});
  for (size_t i = 0; i < set.tokens.size(); ++i) {
    int32_t node = 0;
    for (const char byte : vocabulary_.text(set.tokens[i])) {
      int32_t next = child(set, node, byte);
      if (next < 0) {
        next = static_cast<int32_t>(set.nodes.size());
        set.nodes.push_back(
            {.byte = byte, .next_sibling = set.nodes[static_cast<size_t>(node)].first_child});
        set.nodes[static_cast<size_t>(node)].first_child = next;
      }
      node = next;
    }
    set.nodes[static_cast<size_t>(node)].index = static_cast<int32_t>(i);
    set.starts[static_cast<uint8_t>(vocabulary_.text(set.tokens[i])[0])] = true;
  }
  return set;
}

int32_t SpecialTokens::child(const Set& set, int32_t node, char byte) const {
  int32_t next = set.nodes[static_cast<size_t>(node)].first_child;
  while (next >= 0 && set.nodes[static_cast<size_t>(next)].byte != byte) {
    next = set.nodes[static_cast<size_t>(next)].next_sibling;
  }
  return next;
}

std::vector<int32_t> SpecialTokens::occurring(const Set& set, std::string_view text) const {
  std::vector<bool> seen(set.tokens.size());
  for (size_t at = 0; at < text.size(); ++at) {
    if (!set.starts[static_cast<uint8_t>(text[at])]) continue;
    int32_t node = 0;
    for (size_t i = at; i < text.size(); ++i) {
      node = child(set, node, text[i]);
      if (node < 0) break;
      const int32_t index = set.nodes[static_cast<size_t>(node)].index;
      if (index >= 0) seen[static_cast<size_t>(index)] = true;
    }
  }
  std::vector<int32_t> found;
  for (size_t i = 0; i < seen.size(); ++i) {
    if (seen[i]) found.push_back(set.tokens[i]);
  }
  return found;
}

std::vector<Fragment> SpecialTokens::partition(std::string_view text, bool parse_special) const {
  std::vector<Fragment> fragments;
  if (text.empty()) return fragments;
  fragments.push_back({.text = text});
  for (const int32_t token : occurring(parse_special ? parsed_ : always_, text)) {
    take_out(token, fragments);
  }
  return fragments;
}

void SpecialTokens::take_out(int32_t token, std::vector<Fragment>& fragments) const {
  const std::string_view wanted = vocabulary_.text(token);
  const bool strips_left = vocabulary_.is(token, kStripsLeft);
  const bool strips_right = vocabulary_.is(token, kStripsRight);
  std::vector<Fragment> result;
  result.reserve(fragments.size());
  for (const Fragment& fragment : fragments) {
    std::string_view rest = fragment.text;
    if (fragment.token >= 0) {
      result.push_back(fragment);
      continue;
    }
    for (size_t at; (at = rest.find(wanted)) != std::string_view::npos;) {
      std::string_view left = rest.substr(0, at);
      while (strips_left && !left.empty() && is_strippable(left.back())) left.remove_suffix(1);
      if (!left.empty()) result.push_back({.text = left});
      result.push_back({{}, token});
      rest.remove_prefix(at + wanted.size());
      while (strips_right && !rest.empty() && is_strippable(rest.front())) rest.remove_prefix(1);
    }
    if (!rest.empty()) result.push_back({.text = rest});
  }
  fragments = std::move(result);
}

}  // namespace hwtv::text
