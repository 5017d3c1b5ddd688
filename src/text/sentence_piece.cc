#include "text/sentence_piece.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <unordered_map>

#include "text/pair_cache.h"
#include "text/word_cache.h"

namespace hwtv::text {

// Symbols are what merges: tokens, and beyond their ids the characters of this text that are none.
struct SentencePieceTokenizer::Scratch {
  explicit Scratch(size_t text_bytes) : words(text_bytes), pairs(text_bytes) {}

  std::deque<std::string> texts;  // the pieces with their spaces marked; the caches refer to them
  WordCache words;
  MergeScratch merge;
  PairCache pairs;
  std::string pair;                     // a left and a right text
  std::vector<std::string_view> loose;  // texts of the characters that are no tokens
  std::unordered_map<std::string_view, int32_t> loose_symbols;
};

SentencePieceTokenizer::SentencePieceTokenizer(std::unique_ptr<Vocabulary> vocabulary)
    : Tokenizer(std::move(vocabulary)), words_(this->vocabulary()) {
  const Vocabulary& v = this->vocabulary();
  for (int byte = 0; byte < 256; ++byte) {
    int32_t id = v.find(fmt::format("<0x{:02X}>", byte));
    if (id < 0) id = v.find(std::string(1, static_cast<char>(byte)));
    if (id < 0) id = v.special_ids().unknown.value_or(-1);
    byte_tokens_[static_cast<size_t>(byte)] = id;
  }
  for (size_t c = 0; c < ascii_.size(); ++c)
    ascii_[c] = v.find(std::string(1, static_cast<char>(c)));
  std::vector<int32_t> best_first(static_cast<size_t>(v.size()));
  std::iota(best_first.begin(), best_first.end(), 0);
  std::sort(best_first.begin(), best_first.end(),
            [&](int32_t a, int32_t b) { return v.score(a) > v.score(b); });
  ranks_.resize(best_first.size());
  for (uint32_t i = 0, rank = 0; i < best_first.size(); ++i) {
    if (i > 0 && v.score(best_first[i]) < v.score(best_first[i - 1])) rank = i;
    ranks_[static_cast<size_t>(best_first[i])] = rank;
  }
}

Tokenizer::EncodeText SentencePieceTokenizer::text_encoder(size_t text_bytes,
                                                           std::vector<int32_t>& ids) const {
  return [this, scratch = std::make_shared<Scratch>(text_bytes), &ids](std::string_view text,
                                                                       bool after_special) {
    encode_piece(text, after_special, *scratch, ids);
  };
}

void SentencePieceTokenizer::encode_piece(std::string_view text, bool after_special,
                                          Scratch& scratch, std::vector<int32_t>& ids) const {
  const std::string_view prefix = after_special && add_space_prefix() ? " " : "";
  const std::string_view marked = scratch.texts.emplace_back(mark_spaces(prefix, text));
  for (size_t begin = 0; begin < marked.size();) {
    const size_t end = words_.end_of_word(marked, begin);
    const std::string_view word = marked.substr(begin, end - begin);
    scratch.words.append(word, ids, [&] { encode_word(word, scratch, ids); });
    begin = end;
  }
}

int32_t SentencePieceTokenizer::symbol_of(std::string_view character, Scratch& scratch) const {
  const uint8_t byte = static_cast<uint8_t>(character[0]);
  const int32_t id = byte < ascii_.size() ? ascii_[byte] : vocabulary().find(character);
  if (id >= 0) return id;
  const auto next = static_cast<int32_t>(scratch.loose.size()) + vocabulary().size();
  const auto [entry, is_new] = scratch.loose_symbols.try_emplace(character, next);
  if (is_new) scratch.loose.push_back(character);
  return entry->second;
}

std::string_view SentencePieceTokenizer::text_of(int32_t symbol, const Scratch& scratch) const {
  if (vocabulary().contains(symbol)) return vocabulary().text(symbol);
  return scratch.loose[static_cast<size_t>(symbol - vocabulary().size())];
}

Merge SentencePieceTokenizer::merge_of(int32_t left, int32_t right, Scratch& scratch) const {
  return scratch.pairs.find(left, right, [&]() -> Merge {
    scratch.pair.assign(text_of(left, scratch)).append(text_of(right, scratch));
    const int32_t id = vocabulary().find(scratch.pair);
    if (id < 0) return {};
    return {ranks_[static_cast<size_t>(id)], id};
  });
}

void SentencePieceTokenizer::encode_word(std::string_view word, Scratch& scratch,
                                         std::vector<int32_t>& ids) const {
  auto& symbols = scratch.merge.tokens;
  symbols.clear();
  for (size_t at = 0; at < word.size();) {
    const std::string_view character = word.substr(at, claimed_length(word[at]));
    symbols.push_back(symbol_of(character, scratch));
    at += character.size();
  }
  merge_tokens(scratch.merge,
               [&](int32_t left, int32_t right) { return merge_of(left, right, scratch); });
  for (const int32_t symbol : symbols) {
    if (vocabulary().contains(symbol)) {
      ids.push_back(symbol);
      continue;
    }
    for (const char c : text_of(symbol, scratch)) {
      const int32_t byte = byte_tokens_[static_cast<uint8_t>(c)];
      if (byte >= 0) ids.push_back(byte);
    }
  }
}

void SentencePieceTokenizer::append_normal_piece(std::string_view token_text,
                                                 std::string& out) const {
  append_with_spaces(token_text, out);
}

}  // namespace hwtv::text
