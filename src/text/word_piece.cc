#include "text/word_piece.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <deque>

#include "text/marked_words.h"
#include "text/unicode.h"
#include "text/word_cache.h"

namespace hwtv::text {

namespace {

// Chinese characters, as BERT counts them: each is a word of its own.
bool is_ideograph(uint32_t c) {
  static constexpr std::array<std::pair<uint32_t, uint32_t>, 8> kRanges = {{{0x3400, 0x4DBF},
                                                                            {0x4E00, 0x9FFF},
                                                                            {0xF900, 0xFAFF},
                                                                            {0x20000, 0x2A6DF},
                                                                            {0x2A700, 0x2B73F},
                                                                            {0x2B740, 0x2B81F},
                                                                            {0x2B920, 0x2CEAF},
                                                                            {0x2F800, 0x2FA1F}}};
  return c >= kRanges[0].first && std::ranges::any_of(kRanges, [&](const auto& range) {
           return range.first <= c && c <= range.second;
         });
}

// The first character of the canonical decomposition: a letter without its accents.
uint32_t base_character(uint32_t c) {
  std::array<utf8proc_int32_t, 32> parts;
  int bound_class = 0;
  const auto n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(),
                                         parts.size(), UTF8PROC_DECOMPOSE, &bound_class);
  return n > 0 ? static_cast<uint32_t>(parts[0]) : c;
}

enum class Role { letter, alone, space, accent, ignored };  // alone: a word by itself

Role role_of(uint32_t c) {
  if (c < 0x80) {
    if (c == ' ' || (0x09 <= c && c <= 0x0D)) return Role::space;
    if (c < 0x20 || c == 0x7F) return Role::ignored;
    const bool is_letter = ('0' <= c && c <= '9') || ('a' <= (c | 0x20) && (c | 0x20) <= 'z');
    return is_letter ? Role::letter : Role::alone;
  }
  if (is_ideograph(c)) return Role::alone;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return Role::space;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return Role::accent;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return Role::alone;
    case UTF8PROC_CATEGORY_CC:
      return c == 0x85 ? Role::space : Role::ignored;  // a line's end
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
      return Role::ignored;
    default:
      return c == kReplacement ? Role::ignored : Role::letter;
  }
}

uint32_t lower_case_of(uint32_t c) {
  return static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> WordPieceTokenizer::from_gguf(
    const gguf::File& file, std::unique_ptr<Vocabulary> vocabulary) {
  HWTV_TRY(const auto lower, file.get<bool>("tokenizer.ggml.normalizer.lowercase"));
  HWTV_TRY(const auto strip, file.get<bool>("tokenizer.ggml.normalizer.strip_accents"));
  const bool lower_case = lower.value_or(true);
  return std::unique_ptr<Tokenizer>(
      new WordPieceTokenizer(std::move(vocabulary), lower_case, strip.value_or(lower_case)));
}

WordPieceTokenizer::WordPieceTokenizer(std::unique_ptr<Vocabulary> vocabulary, bool lower_case,
                                       bool strip_accents)
    : Tokenizer(std::move(vocabulary)), lower_case_(lower_case), strip_accents_(strip_accents) {
  std::vector<std::pair<std::string_view, int32_t>> texts;
  for (int32_t id = 0; id < this->vocabulary().size(); ++id) {
    texts.emplace_back(this->vocabulary().text(id), id);
  }
  tree_ = TokenTree(std::move(texts));
}

Tokenizer::EncodeText WordPieceTokenizer::text_encoder(size_t text_bytes,
                                                       std::vector<int32_t>& ids) const {
  struct Scratch {
    std::deque<Words> pieces;  // the cache refers to their texts
    WordCache cache;
  };
  const auto scratch = std::make_shared<Scratch>(Scratch{{}, WordCache(text_bytes)});
  return [this, scratch, &ids](std::string_view text, bool) {
    const Words& words = scratch->pieces.emplace_back(words_of(text));
    for (size_t i = 0; i + 1 < words.starts.size(); ++i) {
      const std::string_view word =
          std::string_view(words.text)
              .substr(words.starts[i], words.starts[i + 1] - words.starts[i]);
      scratch->cache.append(word, ids, [&] { encode_word(word, ids); });
    }
  };
}

WordPieceTokenizer::Words WordPieceTokenizer::words_of(std::string_view text) const {
  Words words;
  words.text.reserve(text.size() + text.size() / 2);
  bool in_word = false;
  for (size_t at = 0; at < text.size();) {
    const Decoded decoded = decode_utf8(text, at);
    at += decoded.n_bytes;
    uint32_t c = decoded.code_point;
    if (strip_accents_ && c >= 0x80) c = base_character(c);
    const Role role = role_of(c);
    if (role == Role::space) in_word = false;
    if (role == Role::space || role == Role::ignored) continue;
    if (role == Role::accent && strip_accents_) continue;
    if (!in_word || role == Role::alone) {
      words.starts.push_back(words.text.size());
      words.text += kSpaceMark;
    }
    in_word = role != Role::alone;
    append_utf8(lower_case_ ? lower_case_of(c) : c, words.text);
  }
  words.starts.push_back(words.text.size());
  return words;
}

void WordPieceTokenizer::encode_word(std::string_view word, std::vector<int32_t>& ids) const {
  const size_t begin = ids.size();
  while (!word.empty()) {
    int32_t longest = -1;
    size_t length = 0;
    int32_t node = TokenTree::kRoot;
    for (size_t i = 0; i < word.size(); ++i) {
      node = tree_.child(node, word[i]);
      if (node == TokenTree::kNone) break;
      if (tree_.value(node) < 0) continue;
      longest = tree_.value(node);
      length = i + 1;
    }
    if (longest < 0) {
      ids.resize(begin);
      if (special_ids().unknown) ids.push_back(*special_ids().unknown);
      return;
    }
    ids.push_back(longest);
    word.remove_prefix(length);
  }
}

void WordPieceTokenizer::append_normal_piece(std::string_view token_text, std::string& out) const {
  append_with_spaces(token_text, out);
}

}  // namespace hwtv::text
