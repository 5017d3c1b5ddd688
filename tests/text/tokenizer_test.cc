#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <random>
#include <thread>

#include "tests/text/tiny_vocabulary.h"
#include "text/merge_table.h"
#include "text/stream_detokenizer.h"

namespace hwtv::text {
namespace {

using Ids = std::vector<int32_t>;

std::unique_ptr<Tokenizer> open(const TinyVocabulary& vocabulary) {
  auto tokenizer = vocabulary.open();
  EXPECT_TRUE(tokenizer) << tokenizer.error().what;
  return std::move(*tokenizer);
}

TEST(BytePair, MergesByRankThenFromTheLeft) {
  const auto t = open(TinyVocabulary::byte_pair({"b c", "a b", "a bc", "a a", "aa a"}));
  EXPECT_EQ(t->encode("abc", false), (Ids{258}));
  EXPECT_EQ(t->encode("ab", false), (Ids{257}));
  EXPECT_EQ(t->encode("aaa", false), (Ids{260}));
  EXPECT_EQ(t->encode("aaaa", false), (Ids{259, 259}));
}

TEST(BytePair, BytesThatAreNotUtf8BecomeReplacements) {
  const auto t = open(TinyVocabulary::byte_pair({}));
  EXPECT_EQ(t->decode(t->encode("a\xFF\xC3z\xE4\xB8", false), false), "a\uFFFD\uFFFDz\uFFFD\uFFFD");
  EXPECT_EQ(t->encode("\xC0\x80", false), (Ids{0}));  // an overlong NUL is a NUL
  EXPECT_EQ(t->encode(std::string_view("a\0b", 3), false), (Ids{'a', 0, 'b'}));
}

TEST(BytePair, ABytePartOfNoTokenIsLeftOut) {
  TinyVocabulary v = TinyVocabulary::byte_pair({"a b"});
  v.tokens[1] = "unrelated";
  EXPECT_EQ(open(v)->encode("ab\1ab", false), (Ids{256, 256}));
}

TEST(BytePair, LongAndShortWordsMergeAlike) {
  // A few tokens are scanned, more go into a heap, many into a queue: a long word is the short one
  // with a tail.
  // Ranks are in any order, so that a merge often makes a pair that goes before its equals.
  std::mt19937 random(7);
  const auto below = [&](int32_t n) {
    return static_cast<int32_t>(random() % static_cast<uint32_t>(n));
  };
  MergeTable table(60);
  for (int32_t result = 4; result < 64; ++result) {
    const int32_t left = below(std::min(result, 8)), right = below(std::min(result, 8));
    table.add(left, right, static_cast<uint32_t>(below(1000) * 64 + result), result);
  }
  constexpr int32_t kLoner = 1000;  // merges with nothing
  MergeScratch word, with_tail;
  for (int round = 0; round < 2000; ++round) {
    word.tokens.clear();
    for (size_t i = 0; i < 1 + random() % 20; ++i) {
      word.tokens.push_back(static_cast<int32_t>(random() % 4));
    }
    const size_t n_tail = round % 100 == 0 ? 9000 : 30;
    with_tail.tokens = word.tokens;
    with_tail.tokens.insert(with_tail.tokens.end(), n_tail, kLoner);
    table.merge(word);
    table.merge(with_tail);
    word.tokens.insert(word.tokens.end(), n_tail, kLoner);
    ASSERT_EQ(word.tokens, with_tail.tokens);
  }
}

TEST(BytePair, IgnoreMergesTakesTheWholeWord) {
  TinyVocabulary v = TinyVocabulary::byte_pair({"a b"});
  const int32_t whole = v.add("abc");
  EXPECT_EQ(open(v)->encode("abc", false), (Ids{256, 'c'}));
  v.pre = "llama-bpe";
  EXPECT_EQ(open(v)->encode("abc", false), (Ids{whole}));
}

TEST(BytePair, RepeatedWordsGiveTheSameIds) {
  const auto t = open(TinyVocabulary::byte_pair({"t h", "th e", "\u0120 the"}));
  std::string text;
  Ids expected;
  for (int i = 0; i < 500; ++i) {
    text += " the x";
    expected.insert(expected.end(), {258, 32, 'x'});
  }
  EXPECT_EQ(t->encode(text, false), expected);
}

TEST(SentencePiece, MergesByScoreAndFallsBackToBytes) {
  const auto t = open(TinyVocabulary::sentence_piece({"▁", "a", "b", "ab", "▁ab", "c", "bc"}));
  const auto id = [&](std::string_view text) { return t->token_id(text).value(); };
  EXPECT_EQ(t->encode("ab", false), (Ids{id("▁ab")}));
  EXPECT_EQ(t->encode("abc", false), (Ids{id("▁ab"), id("c")}));
  EXPECT_EQ(t->encode("é", false), (Ids{id("▁"), id("<0xC3>"), id("<0xA9>")}));
  EXPECT_EQ(t->encode("a  ab", false), (Ids{id("▁"), id("a"), id("▁"), id("▁ab")}));
  EXPECT_EQ(t->encode("", false), (Ids{}));
  for (const std::string text : {"ab", " ab", "é\xFF", "a  ab ", "▁"}) {
    EXPECT_EQ(t->decode(t->encode(text, false), false), text == "▁" ? " " : text);
  }
}

// Ids by the definition: in the whole text, again and again, the best pair, the leftmost of equals.
Ids merged_by_definition(const Tokenizer& t, const TinyVocabulary& v, std::string text) {
  std::vector<std::string> parts;
  for (const char c : text) parts.push_back(c == ' ' ? "▁" : std::string(1, c));
  while (true) {
    size_t best = parts.size();
    float best_score = -1e9f;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto id = t.token_id(parts[i] + parts[i + 1]);
      if (!id || (*v.scores)[static_cast<size_t>(*id)] <= best_score) continue;
      best = i;
      best_score = (*v.scores)[static_cast<size_t>(*id)];
    }
    if (best == parts.size()) break;
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + static_cast<ptrdiff_t>(best) + 1);
  }
  Ids ids;
  for (const std::string& part : parts) {
    if (const auto id = t.token_id(part)) {
      ids.push_back(*id);
    } else {
      for (const char c : part) ids.push_back(3 + static_cast<uint8_t>(c));
    }
  }
  return ids;
}

TEST(SentencePiece, WordsAreCutOnlyWhereNoTokenLies) {
  // Tokens across the front of a word, some of equal scores; z is no token, but part of two.
  TinyVocabulary v = TinyVocabulary::sentence_piece(
      {"▁", "a", "b", "b▁", "▁a", "b▁a", "ab", "▁▁", "za", "▁▁▁▁", "bz", "aa", "aaaa", "▁b"});
  v.flags = {{"add_space_prefix", false}};
  for (size_t i = 0; i < 5; ++i) (*v.scores)[v.scores->size() - 1 - i] = -20;
  const auto t = open(v);
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (size_t i = random() % 60; i > 0; --i) text.push_back("aab z"[random() % 5]);
    ASSERT_EQ(t->encode(text, false), merged_by_definition(*t, v, text)) << "'" << text << "'";
  }
}

TEST(SentencePiece, SpacePrefixIsTheFilesChoice) {
  TinyVocabulary v = TinyVocabulary::sentence_piece({"▁", "a", "▁a"});
  v.flags = {{"add_space_prefix", false}};
  const auto t = open(v);
  EXPECT_EQ(t->encode("a", false), (Ids{*t->token_id("a")}));
  EXPECT_EQ(t->decode(t->encode(" a", false), false), " a");
}

TEST(SpecialTokens, ControlTokensOnlyWhereAsked) {
  TinyVocabulary v = TinyVocabulary::byte_pair({});
  const int32_t user = v.add("<user>", 4), control = v.add("<end>", 3), longer = v.add("<end>>", 3);
  const auto t = open(v);
  EXPECT_EQ(t->encode("<user>x", false), (Ids{user, 'x'}));
  EXPECT_EQ(t->encode("<end>", false), (Ids{'<', 'e', 'n', 'd', '>'}));
  EXPECT_EQ(t->encode("a<end>b<end>>", true), (Ids{'a', control, 'b', longer}));
  EXPECT_EQ(t->decode(Ids{'a', control, user}, false), "a<user>");
  EXPECT_EQ(t->decode(Ids{'a', control, user}, true), "a<end><user>");
}

TEST(SpecialTokens, LongerOnesGoFirstWhereTheyOverlap) {
  TinyVocabulary v = TinyVocabulary::byte_pair({});
  const std::vector<std::string> kTokens = {"bcde", "abc", "dea", "aaa", "ee", "aa", "cd"};
  for (const std::string& token : kTokens) v.add(token, 4);
  const auto t = open(v);
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (size_t i = random() % 40; i > 0; --i) text.push_back("abcde."[random() % 6]);
    // By the definition: each token in turn is taken out of what is left of the whole text.
    std::string left = text;
    std::vector<int32_t> taken(text.size(), -1);
    for (size_t k = 0; k < kTokens.size(); ++k) {
      for (size_t at; (at = left.find(kTokens[k])) != std::string::npos;) {
        left.replace(at, kTokens[k].size(), kTokens[k].size(), '\0');
        taken[at] = static_cast<int32_t>(256 + k);
      }
    }
    Ids expected;
    for (size_t i = 0; i < text.size(); ++i) {
      if (taken[i] >= 0) expected.push_back(taken[i]);
      if (left[i] != '\0') expected.push_back(text[i]);
    }
    ASSERT_EQ(t->encode(text, false), expected) << text;
  }
}

TEST(SpecialTokens, SomeSwallowTheSpaceBesideThem) {
  TinyVocabulary phi = TinyVocabulary::sentence_piece({"▁", "a", "▁a"});
  phi.name = "Phi-3 mini";
  const int32_t user = phi.add("<|user|>", 3);
  const auto p = open(phi);
  EXPECT_EQ(p->encode("<|user|> \n\ta", true), (Ids{user, *p->token_id("▁a")}));
  EXPECT_EQ(p->encode("<s>\n", true), (Ids{1, *p->token_id("▁"), 3 + '\n'}));

  TinyVocabulary jina = TinyVocabulary::byte_pair({});
  jina.pre = "jina-v2-de";
  const int32_t mask = jina.add("<mask>", 3);
  EXPECT_EQ(open(jina)->encode("a \n<mask> b", true), (Ids{'a', mask, ' ', 'b'}));
}

TEST(WordPiece, TakesTheLongestPiecesOfCleanedWords) {
  const auto t = open(TinyVocabulary::word_piece(
      {"▁un", "aff", "able", "▁a", "▁e", "▁,", "▁中", "▁文", "x", "▁▁", "▁2"}));
  const auto id = [&](std::string_view text) { return t->token_id(text).value(); };
  EXPECT_EQ(t->encode("UNAFFABLE", false), (Ids{id("▁un"), id("aff"), id("able")}));
  EXPECT_EQ(t->encode("É, a\t\u00A0 中文x", false),
            (Ids{id("▁e"), id("▁,"), id("▁a"), id("▁中"), id("▁文"), 0}));
  EXPECT_EQ(t->encode("unaffy a", false), (Ids{0, id("▁a")}));              // all of a word or none
  EXPECT_EQ(t->encode("a\xFF\u200B\1x", false), (Ids{id("▁a"), id("x")}));  // cleaned away
  EXPECT_EQ(t->encode("▁a▁", false), (Ids{0}));  // a mark in the text is a letter
  EXPECT_EQ(t->encode("2[SEP]", true), (Ids{id("▁2"), 2}));
  EXPECT_EQ(t->with_bos_eos({7}), (Ids{1, 7, 2}));
  EXPECT_EQ(t->decode(t->encode("unaffable a", false), false), "unaffable a");
}

TEST(WordPiece, PutsOneSeparatorBehindWhateverTheFlagsSay) {
  TinyVocabulary v = TinyVocabulary::word_piece({"▁a"});
  v.ids.push_back({"eos_token_id", 2});
  v.flags = {{"add_bos_token", false}, {"add_eos_token", true}, {"add_sep_token", true}};
  EXPECT_EQ(open(v)->with_bos_eos({3}), (Ids{1, 3, 2}));
}

TEST(WordPiece, KeepsCaseAndAccentsWhereTheFileSaysSo) {
  TinyVocabulary v = TinyVocabulary::word_piece({"▁É", "▁é", "▁E", "▁e"});
  v.flags = {{"normalizer.lowercase", false}};
  EXPECT_EQ(open(v)->encode("É", false), (Ids{3}));
  v.flags = {{"normalizer.strip_accents", false}};
  EXPECT_EQ(open(v)->encode("É", false), (Ids{4}));
  v.flags = {{"normalizer.lowercase", false}, {"normalizer.strip_accents", true}};
  EXPECT_EQ(open(v)->encode("É", false), (Ids{5}));
}

TEST(Unigram, TakesTheBestSum) {
  TinyVocabulary v = TinyVocabulary::unigram(
      {{"▁", -4}, {"a", -3}, {"b", -3}, {"ab", -5}, {"▁a", -3.5f}, {"ba", -5.5f}, {"▁aba", -20}});
  v.flags = {{"add_space_prefix", true}};
  const auto t = open(v);
  const auto id = [&](std::string_view text) { return t->token_id(text).value(); };
  EXPECT_EQ(t->encode("ab", false), (Ids{id("▁a"), id("b")}));
  EXPECT_EQ(t->encode("aba", false), (Ids{id("▁a"), id("ba")}));
  EXPECT_EQ(t->encode("a  ab", false), (Ids{id("▁a"), id("▁"), id("▁a"), id("b")}));
  EXPECT_EQ(t->encode("axyéa", false), (Ids{id("▁a"), 2, id("a")}));  // unknown, one for all
  EXPECT_EQ(t->encode("", false), (Ids{}));
  EXPECT_EQ(t->with_bos_eos({3}), (Ids{3, 1}));
  EXPECT_EQ(t->decode(t->encode("ab a", false), false), "ab a");
  v.flags.push_back({"remove_extra_whitespaces", true});
  EXPECT_EQ(open(v)->encode("  a   ab ", false), (Ids{id("▁a"), id("▁a"), id("b")}));
}

TEST(Unigram, RewritesByItsCharacterMap) {
  TinyVocabulary v = TinyVocabulary::unigram({{"a", -1}, {"b", -1}, {"ab", -1.5f}});
  // A double array of 2 states that replaces "A" by "ab": 'A' leads to state 1 ^ 'A', which is
  // final; its base 2 leads to the place 0.
  std::vector<uint32_t> states(128);
  states[0] = 1 << 10;
  states[1 ^ 'A'] = 'A' | 1 << 8 | 2 << 10;
  states[1 ^ 'A' ^ 2] = 0x80000000;
  const uint32_t size_bytes = 4 * 128;
  v.character_map.assign(reinterpret_cast<const char*>(&size_bytes), 4);
  v.character_map.append(reinterpret_cast<const char*>(states.data()), size_bytes);
  v.character_map.append("ab\0", 3);
  EXPECT_EQ(open(v)->encode("bAa", false), (Ids{4, 5, 3}));
  v.character_map.back() = 'c';
  EXPECT_EQ(v.open().error().code, ErrorCode::corrupt_file);
  v.character_map.resize(300);
  EXPECT_EQ(v.open().error().code, ErrorCode::corrupt_file);
}

std::string repeated(std::string_view part, size_t n_bytes) {
  std::string out;
  while (out.size() < n_bytes) out += part;
  return out;
}

std::string random_letters(size_t n_bytes) {
  std::mt19937 random(11);
  std::string out;
  while (out.size() < n_bytes) out.push_back("aab"[random() % 3]);
  return out;
}

// A line without spaces is one word, the longest there can be.  Each of these takes milliseconds;
// an algorithm that goes through the rest of the word at each step would take minutes.
TEST(Tokenizer, IsLinearInTheLengthOfAWord) {
  constexpr size_t kBytes = 600'000;
  const std::vector<std::string> kMerges = {"a a", "a b", "aa aa", "ab aa", "aaaa aaaa", "b ab"};
  const std::vector<std::string> kPieces = {"▁",    "a",    "b",  "aa",  "ab",
                                            "aaaa", "abaa", "▁▁", "中中"};
  TinyVocabulary llama3 = TinyVocabulary::byte_pair(kMerges);
  llama3.pre = "llama-bpe";
  llama3.add("<end>", 3);
  llama3.add("ba", 4);
  TinyVocabulary phi = TinyVocabulary::sentence_piece(kPieces);
  phi.name = "phi-3";
  phi.add("<end>", 3);
  std::vector<std::pair<std::string, float>> scored;
  for (const std::string& piece : kPieces) scored.emplace_back(piece, -1);
  const TinyVocabulary kVocabularies[] = {TinyVocabulary::byte_pair(kMerges),
                                          llama3,
                                          phi,
                                          TinyVocabulary::sentence_piece(kPieces),
                                          TinyVocabulary::word_piece(kPieces),
                                          TinyVocabulary::unigram(scored)};
  const std::string kTexts[] = {random_letters(kBytes),  repeated("a", kBytes),
                                repeated(" ", kBytes),   repeated("中文", kBytes),
                                repeated("<en", kBytes), repeated("<end>", kBytes)};
  const auto start = std::chrono::steady_clock::now();
  for (const TinyVocabulary& vocabulary : kVocabularies) {
    const auto t = open(vocabulary);
    for (const std::string& text : kTexts) EXPECT_LE(t->encode(text, true).size(), 2 * kBytes);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(Vocabulary, RolesComeFromKeysOrTexts) {
  TinyVocabulary v = TinyVocabulary::byte_pair({});
  const int32_t bos = v.add("<bos>", 3), end = v.add("<|im_end|>", 1), eos = v.add("<eos!>", 3);
  v.ids = {{"bos_token_id", static_cast<uint32_t>(bos)},
           {"eos_token_id", static_cast<uint32_t>(eos)}};
  v.flags = {{"add_bos_token", true}, {"add_eos_token", true}};
  const auto t = open(v);
  EXPECT_EQ(t->special_ids().bos, bos);
  EXPECT_EQ(t->special_ids().eot, end);
  EXPECT_TRUE(t->is_control(end));  // whatever the file says
  EXPECT_EQ(t->end_of_generation_ids(), (Ids{end, eos}));
  EXPECT_TRUE(t->is_end_of_generation(eos));
  EXPECT_FALSE(t->is_end_of_generation(-1));
  EXPECT_EQ(t->with_bos_eos({'a'}), (Ids{bos, 'a', eos}));
}

TEST(Vocabulary, DefaultsDependOnTheModel) {
  const auto llama = open(TinyVocabulary::sentence_piece({}));
  EXPECT_TRUE(llama->add_bos());
  EXPECT_EQ(llama->special_ids().bos, 1);
  EXPECT_EQ(llama->special_ids().eos, 2);
  TinyVocabulary v = TinyVocabulary::byte_pair({});
  EXPECT_FALSE(open(v)->add_bos());
  v.pre = "llama-bpe";
  EXPECT_TRUE(open(v)->add_bos());
  v.pre.reset();
  EXPECT_EQ(open(v)->pre_tokenizer(), "default");
}

TEST(Vocabulary, ThinkingFrameOfGptOssIsNoEnd) {
  TinyVocabulary v = TinyVocabulary::byte_pair({});
  const int32_t end = v.add("<|end|>", 3), back = v.add("<|return|>", 3),
                call = v.add("<|call|>", 3);
  const int32_t channel = v.add("<|channel|>", 3);
  v.ids = {{"eos_token_id", static_cast<uint32_t>(back)}};
  const auto t = open(v);
  EXPECT_EQ(t->end_of_generation_ids(), (Ids{back, call}));
  EXPECT_EQ(t->piece(end, false), "<|end|>");
  EXPECT_EQ(t->piece(channel, false), "<|channel|>");
}

struct BadVocabulary {
  const char* name;
  std::function<void(TinyVocabulary&)> spoil;
  ErrorCode code;
  const char* what;
};

TEST(Vocabulary, ContradictionsAreRefusedWithTheirPlace) {
  const BadVocabulary kBad[] = {
      {"types too short", [](auto& v) { v.types->pop_back(); }, ErrorCode::corrupt_file,
       "token_type has 256 entries for 257 tokens"},
      {"types too long", [](auto& v) { v.types->push_back(1); }, ErrorCode::corrupt_file,
       "token_type has 258 entries for 257 tokens"},
      {"scores", [](auto& v) { v.scores.emplace(3); }, ErrorCode::corrupt_file,
       "scores has 3 entries for 257 tokens"},
      {"score is no number",
       [](auto& v) { v.scores.emplace(257, std::numeric_limits<float>::quiet_NaN()); },
       ErrorCode::corrupt_file, "score of token 0"},
      {"unknown merge", [](auto& v) { v.merges->push_back("x yz"); }, ErrorCode::corrupt_file,
       "merge 1 of tokenizer.ggml.merges names 'yz'"},
      {"unknown result", [](auto& v) { v.merges->push_back("x y"); }, ErrorCode::corrupt_file,
       "names 'xy'"},
      {"merge of one", [](auto& v) { v.merges->push_back("xy"); }, ErrorCode::corrupt_file,
       "merge 1 of"},
      {"merge with nothing", [](auto& v) { v.merges->push_back("x "); }, ErrorCode::corrupt_file,
       "merge 1 of"},
      {"no merges", [](auto& v) { v.merges.reset(); }, ErrorCode::corrupt_file, "merges"},
      {"no tokens", [](auto& v) { v.tokens.clear(); }, ErrorCode::corrupt_file, "empty"},
      {"duplicate", [](auto& v) { v.tokens[7] = "a"; }, ErrorCode::corrupt_file,
       "tokens 7 and 97 of tokenizer.ggml.tokens"},
      {"eos",
       [](auto& v) {
         v.ids = {{"eos_token_id", 257}};
       },
       ErrorCode::corrupt_file, "eos_token_id is 257, but the vocabulary has 257 tokens"},
      {"no bos to add",
       [](auto& v) {
         v.ids = {{"bos_token_id", UINT32_MAX}};
         v.flags = {{"add_bos_token", true}};
       },
       ErrorCode::corrupt_file, "BOS"},
      {"pre", [](auto& v) { v.pre = "dictionary"; }, ErrorCode::unsupported, "llama-bpe"},
      {"model", [](auto& v) { v.model = "rwkv"; }, ErrorCode::unsupported, "'rwkv'"},
      {"none", [](auto& v) { v.model = "none"; }, ErrorCode::unsupported, "no tokenizer"},
  };
  for (const BadVocabulary& bad : kBad) {
    TinyVocabulary v = TinyVocabulary::byte_pair({"a b"});
    ASSERT_TRUE(v.open());
    bad.spoil(v);
    const auto tokenizer = v.open();
    ASSERT_FALSE(tokenizer) << bad.name;
    EXPECT_EQ(tokenizer.error().code, bad.code) << bad.name;
    EXPECT_NE(tokenizer.error().what.find(bad.what), std::string::npos)
        << bad.name << ": " << tokenizer.error().what;
    EXPECT_FALSE(tokenizer.error().advice.empty()) << bad.name;
  }
}

TEST(StreamDetokenizer, NeverSplitsACharacter) {
  const auto t = open(TinyVocabulary::byte_pair({}));
  StreamDetokenizer stream(*t, {});
  const std::string text = "aé漢🚀";
  std::string all;
  std::vector<std::string> parts;
  for (const int32_t id : t->encode(text, false)) {
    const std::string part = stream.push(id);
    if (!part.empty()) parts.push_back(part);
  }
  EXPECT_EQ(parts, (std::vector<std::string>{"a", "é", "漢", "🚀"}));
  EXPECT_EQ(stream.flush(), "");
}

TEST(StreamDetokenizer, BrokenCharactersBecomeReplacements) {
  const auto t = open(TinyVocabulary::byte_pair({}));
  StreamDetokenizer stream(*t, {});
  EXPECT_EQ(stream.push(0xFF), "\uFFFD");
  EXPECT_EQ(stream.push(0xE6), "");
  EXPECT_EQ(stream.push('x'), "\uFFFDx");
  EXPECT_EQ(stream.push(0xF0), "");
  EXPECT_EQ(stream.push(0x9F), "");
  EXPECT_EQ(stream.flush(), "\uFFFD");
  EXPECT_EQ(stream.flush(), "");
}

TEST(StreamDetokenizer, LeadingSpaceBelongsToContinuationsOnly) {
  const auto t = open(TinyVocabulary::sentence_piece({"▁", "a", "▁a"}));
  const int32_t id = *t->token_id("▁a");
  StreamDetokenizer whole(*t, {.starts_text = true}), continuation(*t, {});
  EXPECT_EQ(whole.push(1), "");  // <s>
  EXPECT_EQ(whole.push(id), "a");
  EXPECT_EQ(whole.push(id), " a");
  EXPECT_EQ(continuation.push(id), " a");
  EXPECT_EQ(continuation.push(2), "");
  StreamDetokenizer special(*t, {.render_special = true});
  EXPECT_EQ(special.push(2), "</s>");
}

TEST(Tokenizer, SeveralThreadsMayEncodeAtOnce) {
  const auto t = open(TinyVocabulary::byte_pair({"a b", "ab c"}));
  const Ids expected = t->encode("abc ab\xFF", true);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) ASSERT_EQ(t->encode("abc ab\xFF", true), expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hwtv::text
