#include "text/unigram.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>

#include "text/unicode.h"
#include "text/word_cache.h"

namespace hwtv::text {

namespace {
// How much worse than the worst token a character without one is.
constexpr float kUnknownPenalty = 10;
constexpr std::string_view kReplacementText = "\xEF\xBF\xBD";  // U+FFFD

size_t longest_prefix(const TokenTree& tree, std::string_view text) {
  size_t length = 0;
  int32_t node = TokenTree::kRoot;
  for (size_t i = 0; i < text.size(); ++i) {
    node = tree.child(node, text[i]);
    if (node == TokenTree::kNone) break;
    if (tree.value(node) >= 0) length = i + 1;
  }
  return length;
}
}  // namespace

struct UnigramTokenizer::Scratch {
  explicit Scratch(size_t text_bytes) : cache(text_bytes) {}

  // The best way to a place in the word.
  struct Best {
    double score = -std::numeric_limits<double>::max();
    int32_t token;   // the last one of it
    uint32_t begin;  // where that begins
  };
  std::vector<Best> bests;
  std::deque<std::string> texts;  // the cache refers to these,
  std::vector<int32_t> ids;       // and to these: the words' ids in a row
  WordCache cache;
};

Result<std::unique_ptr<Tokenizer>> UnigramTokenizer::from_gguf(
    const gguf::File& file, std::unique_ptr<Vocabulary> vocabulary) {
  HWTV_TRY(CharacterMap map, CharacterMap::from_gguf(file));
  HWTV_TRY(const auto merge, file.get<bool>("tokenizer.ggml.remove_extra_whitespaces"));
  return std::unique_ptr<Tokenizer>(
      new UnigramTokenizer(std::move(vocabulary), std::move(map), merge.value_or(false)));
}

UnigramTokenizer::UnigramTokenizer(std::unique_ptr<Vocabulary> vocabulary, CharacterMap map,
                                   bool merge_spaces)
    : Tokenizer(std::move(vocabulary)),
      map_(std::move(map)),
      merge_spaces_(merge_spaces),
      words_(this->vocabulary()) {
  const Vocabulary& v = this->vocabulary();
  std::vector<std::pair<std::string_view, int32_t>> all, user_defined;
  float worst = std::numeric_limits<float>::max();
  for (int32_t id = 0; id < v.size(); ++id) {
    if (v.is(id, kNormal)) worst = std::min(worst, v.score(id));
    if (v.is(id, kNormal | kUserDefined | kUnused)) all.emplace_back(v.text(id), id);
    if (v.is(id, kUserDefined)) user_defined.emplace_back(v.text(id), id);
    scores_.push_back(v.is(id, kUserDefined) ? 0 : v.score(id));
  }
  tree_ = TokenTree(std::move(all));
  user_defined_ = TokenTree(std::move(user_defined));
  unknown_score_ = worst - kUnknownPenalty;
}

Tokenizer::EncodeText UnigramTokenizer::text_encoder(size_t text_bytes,
                                                     std::vector<int32_t>& ids) const {
  const auto scratch = std::make_shared<Scratch>(text_bytes);
  return [this, scratch, &ids](std::string_view text, bool) {
    const std::string_view normal = scratch->texts.emplace_back(normal_form(text));
    auto& found = scratch->ids;
    const auto first = static_cast<ptrdiff_t>(found.size());
    for (size_t begin = 0; begin < normal.size();) {
      const size_t end = words_.end_of_word(normal, begin);
      const std::string_view word = normal.substr(begin, end - begin);
      scratch->cache.append(word, found, [&] { encode_word(word, *scratch, found); });
      begin = end;
    }
    // A run of unknown characters is one unknown token, also across words.
    const auto unknown = special_ids().unknown;
    std::unique_copy(found.begin() + first, found.end(), std::back_inserter(ids),
                     [&](int32_t a, int32_t b) { return a == b && a == unknown; });
  };
}

// The normal form of the first n_bytes of `text`, which are at least one.
std::string_view UnigramTokenizer::normal_prefix(std::string_view text, size_t& n_bytes) const {
  n_bytes = longest_prefix(user_defined_, text);
  if (n_bytes > 0) return text.substr(0, n_bytes);
  if (const auto match = map_.find(text)) {
    n_bytes = match->n_bytes;
    return match->replacement;
  }
  const Decoded decoded = decode_utf8(text, 0);
  n_bytes = decoded.n_bytes;
  return decoded.valid ? text.substr(0, n_bytes) : kReplacementText;
}

std::string UnigramTokenizer::normal_form(std::string_view text) const {
  std::string normal;
  normal.reserve(text.size() + text.size() / 2);
  bool in_word = false, prefix_pending = add_space_prefix();
  while (!text.empty()) {
    size_t n_bytes = 0;
    for (const char c : normal_prefix(text, n_bytes)) {
      if (c == ' ') {
        in_word = false;
        if (!merge_spaces_) normal += kSpaceMark;
        continue;
      }
      if (!in_word && (merge_spaces_ || prefix_pending)) {
        normal += kSpaceMark;
        prefix_pending = false;
      }
      in_word = true;
      normal.push_back(c);
    }
    text.remove_prefix(n_bytes);
  }
  return normal;
}

void UnigramTokenizer::encode_word(std::string_view word, Scratch& scratch,
                                   std::vector<int32_t>& ids) const {
  const int32_t unknown = special_ids().unknown.value_or(-1);
  auto& bests = scratch.bests;
  bests.assign(word.size() + 1, {.token = unknown, .begin = 0});
  bests[0].score = 0;
  for (size_t at = 0; at < word.size();) {
    const double score = bests[at].score;
    const auto offer = [&](size_t end, int32_t token, float more) {
      if (score + more > bests[end].score) {
        bests[end] = {score + more, token, static_cast<uint32_t>(at)};
      }
    };
    const size_t character = std::min(claimed_length(word[at]), word.size() - at);
    bool is_known = false;
    int32_t node = TokenTree::kRoot;
    for (size_t i = at; i < word.size(); ++i) {
      node = tree_.child(node, word[i]);
      if (node == TokenTree::kNone) break;
      const int32_t token = tree_.value(node);
      if (token < 0) continue;
      is_known |= i + 1 - at == character;
      offer(i + 1, token, scores_[static_cast<size_t>(token)]);
    }
    if (!is_known) offer(at + character, unknown, unknown_score_);
    at += character;
  }
  const size_t begin = ids.size();
  for (size_t at = word.size(); at > 0; at = bests[at].begin) {
    if (bests[at].token >= 0) ids.push_back(bests[at].token);
  }
  std::reverse(ids.begin() + static_cast<ptrdiff_t>(begin), ids.end());
}

void UnigramTokenizer::append_normal_piece(std::string_view token_text, std::string& out) const {
  append_with_spaces(token_text, out);
}

}  // namespace hwtv::text
