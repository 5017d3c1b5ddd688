// BERT's WordPiece ("bert"): the text is cleaned and cut into words, and each word into the longest
// tokens from the left; a word that cannot be cut whole is one unknown token.  For tokenizer.cc.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/token_tree.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace hwtv::text {

class WordPieceTokenizer : public Tokenizer {
 public:
  // Errors: corrupt_file (the normalizer's keys are no booleans).
  static Result<std::unique_ptr<Tokenizer>> from_gguf(const gguf::File& file,
                                                      std::unique_ptr<Vocabulary> vocabulary);

 private:
  WordPieceTokenizer(std::unique_ptr<Vocabulary> vocabulary, bool lower_case, bool strip_accents);

  EncodeText text_encoder(size_t text_bytes, std::vector<int32_t>& ids) const override;
  void append_normal_piece(std::string_view token_text, std::string& out) const override;

  // A text's words in a row, a space mark before each.
  struct Words {
    std::string text;
    std::vector<size_t> starts;  // of the words, and the text's end
  };
  Words words_of(std::string_view text) const;
  void encode_word(std::string_view word, std::vector<int32_t>& ids) const;

  bool lower_case_, strip_accents_;
  TokenTree tree_;  // all tokens -> id
};

}  // namespace hwtv::text
