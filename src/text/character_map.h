// SentencePiece's precompiled character map (`tokenizer.ggml.precompiled_charsmap`): which
// sequences of bytes a text's normal form replaces, and by what.  For unigram.cc.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "gguf/file.h"

namespace hwtv::text {

class CharacterMap {
 public:
  // Replaces nothing.
  CharacterMap() = default;
  // Errors: corrupt_file (the map is cut short, or names no bytes).
  static Result<CharacterMap> from_gguf(const gguf::File& file);

  struct Match {
    size_t n_bytes;  // of the text
    std::string_view replacement;
  };
  // The longest replaced sequence that `text` begins with.
  std::optional<Match> find(std::string_view text) const;

 private:
  // A double array, an entry for each state: bits 0-7 the byte that leads to it, bit 8 a sequence
  // ends here, bit 9 the base is in units of 256, bits 10-30 the base.  The entry at a final
  // state's own base is a place in replacements_, bit 31 set.
  std::vector<uint32_t> entries_;
  std::string replacements_;  // each ends with NUL
};

}  // namespace hwtv::text
