// Finds the tokens that are taken out of a text before it is cut into words: control tokens where
// the caller asks for it, user-defined ones always.  For tokenizer.cc.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/token_tree.h"
#include "text/vocabulary.h"

namespace hwtv::text {

// A stretch of a text: plain, or one token.
struct Fragment {
  std::string_view text;  // empty for a token
  int32_t token = -1;     // -1: plain text
};

class SpecialTokens {
 public:
  // Requires: the vocabulary outlives this object.
  explicit SpecialTokens(const Vocabulary& vocabulary);

  // The fragments of `text`, in order.  Longer tokens are looked for first, each from the left;
  // what is around them is looked through for the shorter ones.
  std::vector<Fragment> partition(std::string_view text, bool parse_special) const;

 private:
  struct Set {
    std::vector<int32_t> tokens;  // longest text first
    TokenTree tree;               // their texts -> index into `tokens`
    bool starts[256] = {};        // some token begins with this byte
    bool strips = false;          // some token takes white space with it
  };

  Set make_set(int traits, int not_traits) const;  // tokens with one of the first, none of the last
  size_t find_at(const Set& set, std::string_view text, size_t at, std::vector<bool>& seen,
                 std::vector<int32_t>& found) const;
  void take_out(int32_t token, std::vector<Fragment>& fragments) const;

  const Vocabulary& vocabulary_;
  Set always_, parsed_;
};

}  // namespace hwtv::text
