#include "text/marked_words.h"

#include <algorithm>

namespace hwtv::text {

namespace {

// Calls visit(character, where it ends) for each mark of `text` from `at` on that follows another
// character; where visit says so, stops.
template <typename Visit>
void visit_inner_marks(std::string_view text, size_t at, const Visit& visit) {
  std::string_view before = kSpaceMark;
  while (at < text.size()) {
    const std::string_view character = text.substr(at, claimed_length(text[at]));
    if (character == kSpaceMark && before != kSpaceMark && visit(before, at)) return;
    before = character;
    at += character.size();
  }
}

}  // namespace

std::string mark_spaces(std::string_view prefix, std::string_view text) {
  const auto n_spaces = static_cast<size_t>(std::count(text.begin(), text.end(), ' '));
  std::string marked;
  marked.reserve((prefix.size() + n_spaces) * kSpaceMark.size() + text.size());
  for (const std::string_view part : {prefix, text}) {
    for (const char c : part) c == ' ' ? marked += kSpaceMark : marked += c;
  }
  return marked;
}

void append_with_spaces(std::string_view marked, std::string& out) {
  for (size_t at; (at = marked.find(kSpaceMark)) != std::string_view::npos;) {
    out.append(marked.substr(0, at)).push_back(' ');
    marked.remove_prefix(at + kSpaceMark.size());
  }
  out += marked;
}

MarkedWords::MarkedWords(const Vocabulary& vocabulary) {
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string_view text = vocabulary.text(id);
    if (text.find(kSpaceMark, 1) == std::string_view::npos) continue;
    visit_inner_marks(text, 0, [&](std::string_view before, size_t) {
      before_marks_.emplace(before);
      return false;
    });
  }
}

size_t MarkedWords::end_of_word(std::string_view text, size_t at) const {
  size_t end = text.size();
  visit_inner_marks(text, at, [&](std::string_view before, size_t where) {
    if (before_marks_.contains(before)) return false;
    end = where;
    return true;
  });
  return end;
}

}  // namespace hwtv::text
