// SentencePiece-style BPE ("llama"): characters are merged to the token of the best score; what is
// no token falls back to bytes.  For tokenizer.cc.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/marked_words.h"
#include "text/merge_loop.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace hwtv::text {

class SentencePieceTokenizer : public Tokenizer {
 public:
  explicit SentencePieceTokenizer(std::unique_ptr<Vocabulary> vocabulary);

 private:
  EncodeText text_encoder(size_t text_bytes, std::vector<int32_t>& ids) const override;
  void append_normal_piece(std::string_view token_text, std::string& out) const override;

  struct Scratch;
  void encode_piece(std::string_view text, bool after_special, Scratch& scratch,
                    std::vector<int32_t>& ids) const;
  int32_t symbol_of(std::string_view character, Scratch& scratch) const;
  std::string_view text_of(int32_t symbol, const Scratch& scratch) const;
  Merge merge_of(int32_t left, int32_t right, Scratch& scratch) const;
  void encode_word(std::string_view word, Scratch& scratch, std::vector<int32_t>& ids) const;

  // Per token: how many scores are better than its own.
  std::vector<uint32_t> ranks_;
  std::array<int32_t, 256> byte_tokens_;  // per byte: the token that stands for it, or -1
  std::array<int32_t, 128> ascii_;        // per ASCII character: its token, or -1
  MarkedWords words_;
};

}  // namespace hwtv::text
