#include "text/byte_pair.h"

#include <fmt/format.h>

#include <deque>
#include <utility>

#include "base/quoted.h"
#include "text/byte_alphabet.h"
#include "text/unicode.h"
#include "text/word_cache.h"

namespace hwtv::text {

namespace {

std::string shortest_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Decoded decoded = decode_utf8(text, at);
    append_utf8(decoded.code_point, out);
    at += decoded.n_bytes;
  }
  return out;
}

}  // namespace

struct BytePairTokenizer::Scratch {
  explicit Scratch(size_t text_bytes) : cache(text_bytes) {}

  std::deque<std::string> texts;  // what pieces were rewritten to; the cache refers to them
  PreTokenizer::Scratch words;
  MergeScratch merge;
  WordCache cache;
};

BytePairTokenizer::BytePairTokenizer(std::unique_ptr<Vocabulary> vocabulary)
    : Tokenizer(std::move(vocabulary)), pre_tokenizer_(*this->vocabulary().rule()) {
  if (this->vocabulary().rule()->raw_utf8) marked_.emplace(this->vocabulary());
  for (int byte = 0; byte < 256; ++byte) {
    std::string text;
    append_byte_spelling(static_cast<uint8_t>(byte), text);
    if (this->vocabulary().rule()->raw_utf8) text = fmt::format("<0x{:02X}>", byte);
    byte_tokens_[static_cast<size_t>(byte)] = this->vocabulary().find(text);
  }
  for (size_t c = 0; c < ascii_.size(); ++c) {
    ascii_[c] = this->vocabulary().find(std::string(1, static_cast<char>(c)));
  }
}

Result<std::unique_ptr<Tokenizer>> BytePairTokenizer::from_gguf(
    const gguf::File& file, std::unique_ptr<Vocabulary> vocabulary) {
  std::unique_ptr<BytePairTokenizer> tokenizer(new BytePairTokenizer(std::move(vocabulary)));
  HWTV_TRY_VOID(tokenizer->read_merges(file));
  return tokenizer;
}

Result<void> BytePairTokenizer::read_merges(const gguf::File& file) {
  constexpr std::string_view kKey = "tokenizer.ggml.merges";
  constexpr const char* kAdvice = "convert the model again, or take another file of it";
  if (vocabulary().rule()->merges_optional && !file.find(kKey)) return {};
  HWTV_TRY(const auto merges, file.require<std::vector<std::string_view>>(kKey));
  merges_ = MergeTable(merges.size());
  std::string both;
  for (size_t i = 0; i < merges.size(); ++i) {
    const std::string_view merge = merges[i];
    const size_t space = merge.find(' ', 1);
    if (space == std::string_view::npos || space + 1 == merge.size()) {
      return fail(ErrorCode::corrupt_file,
                  fmt::format("merge {} of {} is {}, not two tokens with a space between", i, kKey,
                              hwtv::quoted(merge)),
                  kAdvice);
    }
    const std::string_view left = merge.substr(0, space), right = merge.substr(space + 1);
    both.assign(left).append(right);
    const int32_t left_id = vocabulary().find(left), right_id = vocabulary().find(right);
    const int32_t result = vocabulary().find(both);
    if (left_id < 0 || right_id < 0 || result < 0) {
      const std::string_view missing = left_id < 0 ? left : right_id < 0 ? right : both;
      return fail(
          ErrorCode::corrupt_file,
          fmt::format("merge {} of {} names {}, which is no token", i, kKey, hwtv::quoted(missing)),
          kAdvice);
    }
    merges_.add(left_id, right_id, static_cast<uint32_t>(i), result);
  }
  return {};
}

Tokenizer::EncodeText BytePairTokenizer::text_encoder(size_t text_bytes,
                                                      std::vector<int32_t>& ids) const {
  return [this, scratch = std::make_shared<Scratch>(text_bytes), &ids](
             std::string_view text, bool) { encode_piece(text, *scratch, ids); };
}

void BytePairTokenizer::encode_piece(std::string_view text, Scratch& scratch,
                                     std::vector<int32_t>& ids) const {
  if (marked_) text = scratch.texts.emplace_back(mark_spaces("", text));
  if (!pre_tokenizer_.split(text, scratch.words)) {
    text = scratch.texts.emplace_back(shortest_utf8(text));
    pre_tokenizer_.split(text, scratch.words);
  }
  size_t begin = 0;
  for (const uint32_t end : scratch.words.ends) {
    while (begin < end) {
      const std::string_view rest = text.substr(begin, end - begin);
      const std::string_view word = marked_ ? rest.substr(0, marked_->end_of_word(rest, 0)) : rest;
      scratch.cache.append(word, ids, [&] { encode_word(word, scratch, ids); });
      begin += word.size();
    }
  }
}

void BytePairTokenizer::encode_word(std::string_view word, Scratch& scratch,
                                    std::vector<int32_t>& ids) const {
  const PreTokenizerRule& rule = *vocabulary().rule();
  // Gemma 4's runs of line breaks are tokens that no merge leads to.
  const bool is_lines = rule.raw_utf8 && word.find_first_not_of('\n') == std::string_view::npos;
  if (rule.ignore_merges || is_lines) {
    const int32_t id = vocabulary().find(rule.raw_utf8 ? std::string(word) : spell_bytes(word));
    if (id >= 0) return ids.push_back(id);
  }
  rule.raw_utf8 ? encode_characters(word, scratch, ids) : encode_bytes(word, scratch, ids);
}

void BytePairTokenizer::encode_bytes(std::string_view word, Scratch& scratch,
                                     std::vector<int32_t>& ids) const {
  auto& tokens = scratch.merge.tokens;
  const auto flush = [&] {
    merges_.merge(scratch.merge);
    ids.insert(ids.end(), tokens.begin(), tokens.end());
    tokens.clear();
  };
  tokens.clear();
  for (const char c : word) {
    const int32_t token = byte_tokens_[static_cast<uint8_t>(c)];
    token < 0 ? flush() : tokens.push_back(token);
  }
  flush();
}

void BytePairTokenizer::encode_characters(std::string_view word, Scratch& scratch,
                                          std::vector<int32_t>& ids) const {
  auto& tokens = scratch.merge.tokens;
  const auto flush = [&] {
    merges_.merge(scratch.merge);
    ids.insert(ids.end(), tokens.begin(), tokens.end());
    tokens.clear();
  };
  tokens.clear();
  for (size_t at = 0; at < word.size();) {
    const Decoded decoded = decode_utf8(word, at);
    const std::string_view character = word.substr(at, decoded.n_bytes);
    at += character.size();
    const bool is_ascii = decoded.code_point < ascii_.size();
    const int32_t token = is_ascii ? ascii_[decoded.code_point] : vocabulary().find(character);
    if (token >= 0) {
      tokens.push_back(token);
      continue;
    }
    flush();
    for (const char c : character) {
      const int32_t byte = byte_tokens_[static_cast<uint8_t>(c)];
      if (byte >= 0) ids.push_back(byte);
    }
  }
  flush();
}

void BytePairTokenizer::append_normal_piece(std::string_view token_text, std::string& out) const {
  if (!vocabulary().rule()->raw_utf8) return append_spelled_bytes(token_text, out);
  append_with_spaces(token_text, out);
}

}  // namespace hwtv::text
