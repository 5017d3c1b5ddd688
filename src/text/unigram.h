// SentencePiece's unigram model ("t5"): of all ways to cut a text into tokens, the one whose scores
// sum up to the most.  For tokenizer.cc.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/character_map.h"
#include "text/marked_words.h"
#include "text/token_tree.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace hwtv::text {

class UnigramTokenizer : public Tokenizer {
 public:
  // Errors: corrupt_file (the character map, or a key that is no boolean).
  static Result<std::unique_ptr<Tokenizer>> from_gguf(const gguf::File& file,
                                                      std::unique_ptr<Vocabulary> vocabulary);

 private:
  UnigramTokenizer(std::unique_ptr<Vocabulary> vocabulary, CharacterMap map, bool merge_spaces);

  EncodeText text_encoder(size_t text_bytes, std::vector<int32_t>& ids) const override;
  void append_normal_piece(std::string_view token_text, std::string& out) const override;

  struct Scratch;
  std::string normal_form(std::string_view text) const;
  std::string_view normal_prefix(std::string_view text, size_t& n_bytes) const;
  void encode_word(std::string_view word, Scratch& scratch, std::vector<int32_t>& ids) const;

  CharacterMap map_;
  bool merge_spaces_;       // runs of spaces are one, and those at the ends none
  TokenTree tree_;          // tokens that text can become -> id
  TokenTree user_defined_;  // those that no character map touches
  std::vector<float> scores_;
  float unknown_score_;
  MarkedWords words_;
};

}  // namespace hwtv::text
