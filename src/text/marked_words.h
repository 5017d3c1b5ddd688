// Cuts a text whose spaces are marks (U+2581) into words, in front of marks, where no token lies
// across the cut: each word is encoded on its own, and most have occurred before.  For
// sentence_piece.cc, unigram.cc and byte_pair.cc.
#pragma once
#include <set>
#include <string>
#include <string_view>

#include "text/vocabulary.h"

namespace hwtv::text {

inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581

// Length of a character by its first byte alone, as these tokenizers count: what follows a wrong
// first byte is taken into its character.
inline size_t claimed_length(char first) {
  const unsigned char byte = static_cast<unsigned char>(first);
  return byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
}

std::string mark_spaces(std::string_view prefix, std::string_view text);
void append_with_spaces(std::string_view marked, std::string& out);

class MarkedWords {
 public:
  explicit MarkedWords(const Vocabulary& vocabulary);

  // The end of the word that begins at `at`.
  size_t end_of_word(std::string_view text, size_t at) const;

 private:
  // The characters that some token has in front of a mark: a word goes on behind these.
  std::set<std::string, std::less<>> before_marks_;
};

}  // namespace hwtv::text
