// Byte-level BPE ("gpt2"), and Gemma 4's BPE over characters: words by regular expressions, then
// the merges of the file, best rank first.  For tokenizer.cc.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/marked_words.h"
#include "text/merge_table.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace hwtv::text {

class BytePairTokenizer : public Tokenizer {
 public:
  // Errors: corrupt_file (merges missing, malformed or naming no token).
  static Result<std::unique_ptr<Tokenizer>> from_gguf(const gguf::File& file,
                                                      std::unique_ptr<Vocabulary> vocabulary);

 private:
  explicit BytePairTokenizer(std::unique_ptr<Vocabulary> vocabulary);

  Result<void> read_merges(const gguf::File& file);

  EncodeText text_encoder(size_t text_bytes, std::vector<int32_t>& ids) const override;
  void append_normal_piece(std::string_view token_text, std::string& out) const override;

  struct Scratch;
  void encode_piece(std::string_view text, Scratch& scratch, std::vector<int32_t>& ids) const;
  void encode_word(std::string_view word, Scratch& scratch, std::vector<int32_t>& ids) const;
  void encode_bytes(std::string_view word, Scratch& scratch, std::vector<int32_t>& ids) const;
  void encode_characters(std::string_view word, Scratch& scratch, std::vector<int32_t>& ids) const;

  PreTokenizer pre_tokenizer_;
  std::optional<MarkedWords> marked_;  // where spaces are marks: words within those of above
  MergeTable merges_;
  // Per byte: its token, or -1.  A byte without a token takes part in no merge and is left out.
  std::array<int32_t, 256> byte_tokens_;
  std::array<int32_t, 128> ascii_;  // per ASCII character: the token of that text, or -1
};

}  // namespace hwtv::text
