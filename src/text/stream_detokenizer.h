// Tokens one by one -> text that is always whole UTF-8 characters.  One object per answer.
#pragma once
#include <cstdint>
#include <string>

#include "text/tokenizer.h"

namespace hwtv::text {

class StreamDetokenizer {
 public:
  struct Options {
    bool render_special = false;
    // The text starts here (drop SentencePiece's leading space) or continues a prompt (keep it).
    bool starts_text = false;
  };

  // Requires: the tokenizer outlives this object.
  StreamDetokenizer(const Tokenizer& tokenizer, Options options);

  // The text that became certain with this token: valid UTF-8, perhaps empty.  The beginning of a
  // character is held back until its end arrives; bytes that can be no character become U+FFFD.
  std::string push(int32_t token);

  // What was held back, as U+FFFD; empty if nothing was.  Call at the end of the answer.
  std::string flush();

 private:
  std::string take_characters();

  const Tokenizer& tokenizer_;
  Options options_;
  bool strip_space_;     // the next bytes begin the text
  std::string pending_;  // at most 3 bytes between calls
};

}  // namespace hwtv::text
