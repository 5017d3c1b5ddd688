#include "text/special_tokens.h"

#include <algorithm>
#include <utility>

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
  std::vector<std::pair<std::string_view, int32_t>> texts;
  for (size_t i = 0; i < set.tokens.size(); ++i) {
    const std::string_view text = vocabulary_.text(set.tokens[i]);
    texts.emplace_back(text, static_cast<int32_t>(i));
    set.starts[static_cast<uint8_t>(text[0])] = true;
    set.strips |= vocabulary_.is(set.tokens[i], kStripsLeft | kStripsRight);
  }
  set.tree = TokenTree(std::move(texts));
  return set;
}

// Adds the tokens that begin at `at` and were not seen yet; the end of the longest.
size_t SpecialTokens::find_at(const Set& set, std::string_view text, size_t at,
                              std::vector<bool>& seen, std::vector<int32_t>& found) const {
  size_t end = at;
  if (!set.starts[static_cast<uint8_t>(text[at])]) return end;
  int32_t node = TokenTree::kRoot;
  for (size_t i = at; i < text.size(); ++i) {
    node = set.tree.child(node, text[i]);
    if (node == TokenTree::kNone) break;
    const int32_t index = set.tree.value(node);
    if (index < 0) continue;
    end = i + 1;
    if (!seen[static_cast<size_t>(index)]) found.push_back(index);
    seen[static_cast<size_t>(index)] = true;
  }
  return end;
}

std::vector<Fragment> SpecialTokens::partition(std::string_view text, bool parse_special) const {
  const Set& set = parse_special ? parsed_ : always_;
  std::vector<Fragment> fragments, cluster;
  std::vector<int32_t> found;  // indices of the tokens in a cluster, each once
  std::vector<bool> seen(set.tokens.size());
  size_t plain = 0;  // where the text begins that no token has taken yet
  for (size_t at = 0; at < text.size();) {
    // A cluster: a stretch of tokens that overlap.  What is beyond it can't change what is
    // taken out of it, but for the white space that some tokens take with them.
    size_t end = set.strips ? text.size() : at + 1;
    for (size_t i = at; i < end; ++i) end = std::max(end, find_at(set, text, i, seen, found));
    if (found.empty()) {
      at = end;
      continue;
    }
    std::sort(found.begin(), found.end());
    cluster.assign(1, {.text = text.substr(at, end - at)});
    for (const int32_t index : found) {
      seen[static_cast<size_t>(index)] = false;
      take_out(set.tokens[static_cast<size_t>(index)], cluster);
    }
    found.clear();
    if (set.strips) return cluster;
    for (const Fragment& fragment : cluster) {
      if (fragment.token >= 0) {
        if (plain < at) fragments.push_back({.text = text.substr(plain, at - plain)});
        fragments.push_back(fragment);
        plain = at += vocabulary_.text(fragment.token).size();
      } else {
        at += fragment.text.size();
      }
    }
  }
  if (plain < text.size()) fragments.push_back({.text = text.substr(plain)});
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
