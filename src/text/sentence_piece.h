// SentencePiece-style BPE ("llama"): characters are merged to the token of the best score; what is
// no token falls back to bytes.  For tokenizer.cc.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace hwtv::text {

class SentencePieceTokenizer : public Tokenizer {
 public:
  explicit SentencePieceTokenizer(std::unique_ptr<Vocabulary> vocabulary);

 private:
  void encode_fragment(std::string_view text, bool after_special,
                       std::vector<int32_t>& ids) const override;
  void append_normal_piece(std::string_view token_text, std::string& out) const override;

  struct Scratch;
  void encode_word(std::string_view word, Scratch& scratch, std::vector<int32_t>& ids) const;
  void merge(std::string_view word, Scratch& scratch) const;

  // Per token: how many scores are better than its own.
  std::vector<uint32_t> ranks_;
  std::array<int32_t, 256> byte_tokens_;  // per byte: the token that stands for it, or -1
  // No token has a space mark behind another character: no merge crosses the front of a word.
  bool words_are_independent_;
};

}  // namespace hwtv::text
