#include "text/sentence_piece.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "text/merge_queue.h"
#include "text/word_cache.h"

namespace hwtv::text {

namespace {

constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581
constexpr uint32_t kNone = UINT32_MAX;

// Length of a character by its first byte alone, as these tokenizers count: what follows a wrong
// first byte is taken into its character.
size_t claimed_length(char first) {
  const uint8_t byte = static_cast<uint8_t>(first);
  return byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
}

// End of the word that begins at `at`: in front of the next space mark that follows another
// character.
size_t word_end(std::string_view text, size_t at) {
  bool in_marks = true;
  while (at < text.size()) {
    const bool is_mark = text.substr(at, kSpaceMark.size()) == kSpaceMark;
    if (is_mark && !in_marks) return at;
    in_marks = is_mark;
    at += claimed_length(text[at]);
  }
  return text.size();
}

// True if the text has a space mark behind another character.
bool has_inner_mark(std::string_view text) {
  while (text.starts_with(kSpaceMark)) text.remove_prefix(kSpaceMark.size());
  return text.find(kSpaceMark) != std::string_view::npos;
}

}  // namespace

struct SentencePieceTokenizer::Scratch {
  struct Symbol {
    uint32_t begin, length;  // in the word; length 0: merged into the symbol before
    uint32_t previous, next;
  };
  std::vector<Symbol> symbols;
  MergeQueue queue;
};

SentencePieceTokenizer::SentencePieceTokenizer(std::unique_ptr<Vocabulary> vocabulary)
    : Tokenizer(std::move(vocabulary)), words_are_independent_(true) {
  const Vocabulary& v = this->vocabulary();
  for (int byte = 0; byte < 256; ++byte) {
    int32_t id = v.find(fmt::format("<0x{:02X}>", byte));
    if (id < 0) id = v.find(std::string(1, static_cast<char>(byte)));
    if (id < 0) id = v.special_ids().unknown.value_or(-1);
    byte_tokens_[static_cast<size_t>(byte)] = id;
  }
  for (int32_t id = 0; id < v.size() && words_are_independent_; ++id) {
    words_are_independent_ = !has_inner_mark(v.text(id));
  }
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

void SentencePieceTokenizer::encode_fragment(std::string_view text, bool after_special,
                                             std::vector<int32_t>& ids) const {
  std::string marked;
  marked.reserve(text.size() + text.size() / 4 + kSpaceMark.size());
  if (after_special && add_space_prefix()) marked += kSpaceMark;
  for (const char c : text) c == ' ' ? marked += kSpaceMark : marked += c;

  Scratch scratch;
  if (!words_are_independent_) return encode_word(marked, scratch, ids);
  WordCache cache(marked.size());
  for (size_t begin = 0; begin < marked.size();) {
    const size_t end = word_end(marked, begin);
    const std::string_view word = std::string_view(marked).substr(begin, end - begin);
    cache.append(word, ids, [&] { encode_word(word, scratch, ids); });
    begin = end;
  }
}

void SentencePieceTokenizer::encode_word(std::string_view word, Scratch& scratch,
                                         std::vector<int32_t>& ids) const {
  auto& symbols = scratch.symbols;
  symbols.clear();
  for (size_t at = 0; at < word.size();) {
    const size_t length = std::min(claimed_length(word[at]), word.size() - at);
    const uint32_t i = static_cast<uint32_t>(symbols.size());
    symbols.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(length), i - 1, i + 1});
    at += length;
  }
  if (symbols.empty()) return;
  symbols.back().next = kNone;
  merge(word, scratch);

  for (const Scratch::Symbol& symbol : symbols) {
    if (symbol.length == 0) continue;
    const std::string_view text = word.substr(symbol.begin, symbol.length);
    const int32_t id = vocabulary().find(text);
    if (id >= 0) {
      ids.push_back(id);
      continue;
    }
    for (const char c : text) {
      const int32_t byte = byte_tokens_[static_cast<uint8_t>(c)];
      if (byte >= 0) ids.push_back(byte);
    }
  }
}

void SentencePieceTokenizer::merge(std::string_view word, Scratch& scratch) const {
  auto& [symbols, queue] = scratch;
  // The rank of the token that a symbol and the one after it would make; kNone: they make none.
  const auto rank_of = [&](uint32_t left) {
    const uint32_t right = symbols[left].next;
    if (right == kNone) return kNone;
    const uint32_t length = symbols[left].length + symbols[right].length;
    const int32_t id = vocabulary().find(word.substr(symbols[left].begin, length));
    return id < 0 ? kNone : ranks_[static_cast<size_t>(id)];
  };
  const auto push = [&](uint32_t left) {
    const uint32_t rank = rank_of(left);
    if (rank != kNone) queue.push(rank, left);
  };
  for (uint32_t i = 0; i + 1 < symbols.size(); ++i) push(i);
  queue.drain([&](uint32_t rank, uint32_t i) {
    Scratch::Symbol& left = symbols[i];
    if (left.length == 0 || rank_of(i) != rank) return;  // one of the two has grown or gone since
    Scratch::Symbol& right = symbols[left.next];
    left.length += right.length;
    right.length = 0;
    left.next = right.next;
    if (left.next != kNone) symbols[left.next].previous = i;
    if (left.previous != kNone) push(left.previous);
    push(i);
  });
}

void SentencePieceTokenizer::append_normal_piece(std::string_view token_text,
                                                 std::string& out) const {
  for (size_t at; (at = token_text.find(kSpaceMark)) != std::string_view::npos;) {
    out.append(token_text.substr(0, at)).push_back(' ');
    token_text.remove_prefix(at + kSpaceMark.size());
  }
  out += token_text;
}

}  // namespace hwtv::text
