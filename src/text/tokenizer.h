// Text <-> token ids, as a GGUF file's metadata defines them.  For everyone who holds text: serve,
// constrain, app, transform.  All const methods may be called from several threads at once.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "gguf/file.h"

namespace hwtv::text {

class SpecialTokens;
class Vocabulary;

// The ids that have a role.  nullopt: the vocabulary has no such token.
struct SpecialIds {
  std::optional<int32_t> bos, eos, eot, eom, unknown, separator, padding, mask;
  std::optional<int32_t> fim_prefix, fim_suffix, fim_middle, fim_padding, fim_repository,
      fim_separator;
};

class Tokenizer {
 public:
  // Reads the vocabulary; the file need not outlive the tokenizer and may hold no tensors.
  // Errors: unsupported (a model or pre-tokenizer this program does not know, with the list of
  // those it does); corrupt_file (the vocabulary contradicts itself).
  static Result<std::unique_ptr<Tokenizer>> from_gguf(const gguf::File& file);

  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;
  virtual ~Tokenizer();

  // Ids of the text alone: no BOS or EOS is added.  With `parse_special`, the texts of control
  // tokens become those tokens; without, they are ordinary text.  Bytes that are not UTF-8 are
  // encoded as U+FFFD by byte-level BPE and unigram models, as they are by SentencePiece, and
  // left out by WordPiece.
  // Requires: text.size() < 2^31.
  std::vector<int32_t> encode(std::string_view text, bool parse_special) const;

  // BOS and EOS (BERT: its CLS and SEP) around `ids`, where the model wants them.
  std::vector<int32_t> with_bos_eos(std::vector<int32_t> ids) const;

  // The bytes a token stands for: possibly none, possibly part of a UTF-8 character.  Control
  // tokens give their text with `render_special`, otherwise nothing.
  // Requires: 0 <= token < vocab_size().
  std::string piece(int32_t token, bool render_special) const;
  void append_piece(int32_t token, bool render_special, std::string& out) const;

  // The pieces in a row, without the space that SentencePiece and WordPiece put before a text.
  std::string decode(std::span<const int32_t> tokens, bool render_special) const;

  int32_t vocab_size() const;
  const SpecialIds& special_ids() const;
  bool add_bos() const;
  bool add_eos() const;
  bool add_space_prefix() const;  // a space is put before the text and after control tokens

  bool is_end_of_generation(int32_t token) const;      // false for ids outside the vocabulary
  std::vector<int32_t> end_of_generation_ids() const;  // ascending
  bool is_control(int32_t token) const;  // control or unknown: no text unless rendered as special
  std::optional<int32_t> token_id(std::string_view text) const;  // as the file spells the token
  std::string_view token_text(int32_t token) const;              // as the file spells it

  std::string_view model() const;          // "gpt2", "llama", "gemma4", "bert", "t5"
  std::string_view pre_tokenizer() const;  // "llama-bpe", "default"; empty but for BPE

 protected:
  explicit Tokenizer(std::unique_ptr<Vocabulary> vocabulary);
  // Appends the ids of a text without special tokens; `after_special`: the text starts, or follows
  // a special token.
  using EncodeText = std::function<void(std::string_view text, bool after_special)>;
  // One for the pieces of a text of text_bytes, which stay where they are as long as it lives; it
  // keeps what it learns from piece to piece.  `ids`: what it appends to.
  virtual EncodeText text_encoder(size_t text_bytes, std::vector<int32_t>& ids) const = 0;
  // The bytes of a normal token's text.
  virtual void append_normal_piece(std::string_view token_text, std::string& out) const = 0;

  const Vocabulary& vocabulary() const { return *vocabulary_; }

 private:
  std::unique_ptr<Vocabulary> vocabulary_;
  std::unique_ptr<SpecialTokens> special_tokens_;
};

}  // namespace hwtv::text
