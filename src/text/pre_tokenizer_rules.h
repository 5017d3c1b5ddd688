// Which expressions cut a text into words, by the name that `tokenizer.ggml.pre` gives.  A new
// byte-level BPE family is a line or two here.
#pragma once
#include <span>
#include <string_view>
#include <vector>

namespace hwtv::text {

// One pass over the words so far: cuts each into smaller ones.
struct Pass {
  enum class Kind {
    pattern,        // every match is a word, and so is what lies between two
    space_at_end,   // white space at the end of a word, if any, is one of its own
    number_groups,  // numbers are cut into threes from their right end (text before them stays on)
    digit_groups,   // 0-9 likewise, with no cut at the right end
  } kind;
  std::string_view pattern = {};
};

struct PreTokenizerRule {
  std::string_view name;
  std::span<const Pass> passes;
  bool ignore_merges = false;  // a word that is a token is that token, whatever its merges
  bool add_bos = false;        // unless the file says otherwise
  bool has_bos = true;         // false: no BOS unless the file names one
  bool raw_utf8 = false;       // merges work on characters, with U+2581 for spaces, not on bytes
  bool merges_optional = false;
};

// nullptr: this program does not know the name.
const PreTokenizerRule* find_pre_tokenizer_rule(std::string_view name);

std::vector<std::string_view> pre_tokenizer_names();

}  // namespace hwtv::text
