#include "text/tokenizer.h"

#include <algorithm>

#include "base/check.h"
#include "text/byte_alphabet.h"
#include "text/byte_pair.h"
#include "text/sentence_piece.h"
#include "text/special_tokens.h"
#include "text/unigram.h"
#include "text/vocabulary.h"
#include "text/word_piece.h"

namespace hwtv::text {

Result<std::unique_ptr<Tokenizer>> Tokenizer::from_gguf(const gguf::File& file) {
  HWTV_TRY(auto vocabulary, Vocabulary::from_gguf(file));
  switch (vocabulary->model()) {
    case Vocabulary::Model::byte_pair:
      return BytePairTokenizer::from_gguf(file, std::move(vocabulary));
    case Vocabulary::Model::sentence_piece:
      return std::make_unique<SentencePieceTokenizer>(std::move(vocabulary));
    case Vocabulary::Model::word_piece:
      return WordPieceTokenizer::from_gguf(file, std::move(vocabulary));
    case Vocabulary::Model::unigram:
      return UnigramTokenizer::from_gguf(file, std::move(vocabulary));
  }
  CHECK(false);
}

Tokenizer::Tokenizer(std::unique_ptr<Vocabulary> vocabulary)
    : vocabulary_(std::move(vocabulary)),
      special_tokens_(std::make_unique<SpecialTokens>(*vocabulary_)) {}

Tokenizer::~Tokenizer() = default;

std::vector<int32_t> Tokenizer::encode(std::string_view text, bool parse_special) const {
  CHECK(text.size() < (1ull << 31));
  std::vector<int32_t> ids;
  ids.reserve(text.size() / 4);
  const EncodeText encode_text = text_encoder(text.size(), ids);
  bool after_special = true;
  for (const Fragment& fragment : special_tokens_->partition(text, parse_special)) {
    if (fragment.token >= 0) {
      ids.push_back(fragment.token);
    } else {
      encode_text(fragment.text, after_special);
    }
    after_special = fragment.token >= 0;
  }
  return ids;
}

std::vector<int32_t> Tokenizer::with_bos_eos(std::vector<int32_t> ids) const {
  if (add_bos()) ids.insert(ids.begin(), *special_ids().bos);
  if (add_eos()) ids.push_back(*special_ids().eos);
  if (vocabulary_->add_separator()) ids.push_back(*special_ids().separator);
  return ids;
}

std::string Tokenizer::piece(int32_t token, bool render_special) const {
  std::string out;
  append_piece(token, render_special, out);
  return out;
}

void Tokenizer::append_piece(int32_t token, bool render_special, std::string& out) const {
  CHECK(vocabulary_->contains(token));
  const std::string_view text = vocabulary_->text(token);
  if (vocabulary_->is(token, kControl | kUnknown)) {
    if (render_special) out += text;
  } else if (vocabulary_->is(token, kUserDefined)) {
    out += text;
  } else if (vocabulary_->is(token, kNormal)) {
    append_normal_piece(text, out);
  } else if (vocabulary_->is(token, kByte)) {
    const int byte = parse_byte_token(text);
    if (byte >= 0) out.push_back(static_cast<char>(byte));
  }
}

std::string Tokenizer::decode(std::span<const int32_t> tokens, bool render_special) const {
  std::string out;
  // WordPiece marks the front of every word with a space, also of the first.
  bool at_start = add_space_prefix() || vocabulary_->model() == Vocabulary::Model::word_piece;
  for (const int32_t token : tokens) {
    const size_t begin = out.size();
    append_piece(token, render_special, out);
    if (!at_start || is_control(token)) continue;
    if (out.size() > begin && out[begin] == ' ') out.erase(begin, 1);
    at_start = false;
  }
  return out;
}

int32_t Tokenizer::vocab_size() const { return vocabulary_->size(); }
const SpecialIds& Tokenizer::special_ids() const { return vocabulary_->special_ids(); }
bool Tokenizer::add_bos() const { return vocabulary_->add_bos(); }
bool Tokenizer::add_eos() const { return vocabulary_->add_eos(); }
bool Tokenizer::add_space_prefix() const { return vocabulary_->add_space_prefix(); }

bool Tokenizer::is_end_of_generation(int32_t token) const {
  const auto& ids = vocabulary_->end_of_generation();
  return std::binary_search(ids.begin(), ids.end(), token);
}

std::vector<int32_t> Tokenizer::end_of_generation_ids() const {
  return vocabulary_->end_of_generation();
}

bool Tokenizer::is_control(int32_t token) const {
  CHECK(vocabulary_->contains(token));
  return vocabulary_->is(token, kControl | kUnknown);
}

std::optional<int32_t> Tokenizer::token_id(std::string_view text) const {
  const int32_t id = vocabulary_->find(text);
  if (id < 0) return std::nullopt;
  return id;
}

std::string_view Tokenizer::token_text(int32_t token) const {
  CHECK(vocabulary_->contains(token));
  return vocabulary_->text(token);
}

std::string_view Tokenizer::model() const { return vocabulary_->model_name(); }

std::string_view Tokenizer::pre_tokenizer() const {
  return vocabulary_->rule() ? vocabulary_->rule()->name : std::string_view();
}

}  // namespace hwtv::text
