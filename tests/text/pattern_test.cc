#include "text/pattern.h"

#include <gtest/gtest.h>

#include <string>

#include "text/pre_tokenizer.h"

namespace hwtv::text {
namespace {

// The words of a text by one rule, with '|' between them.
std::string words(std::string_view rule_name, std::string_view text) {
  const PreTokenizer pre_tokenizer(*find_pre_tokenizer_rule(rule_name));
  PreTokenizer::Scratch scratch;
  EXPECT_TRUE(pre_tokenizer.split(text, scratch));
  std::string out;
  size_t begin = 0;
  for (const uint32_t end : scratch.ends) {
    EXPECT_LT(begin, end);
    out.append(begin ? "|" : "").append(text.substr(begin, end - begin));
    begin = end;
  }
  EXPECT_EQ(begin, text.size());
  return out;
}

std::string match(std::string_view source, const std::string& text) {
  std::vector<CodePointSet> sets;
  const Pattern pattern(source, sets);
  const Alphabet alphabet(sets);
  const Automaton automaton(pattern, alphabet);
  std::string symbols;
  for (const char c : text) symbols += static_cast<char>(alphabet.ascii(static_cast<uint8_t>(c)));
  const int64_t length = automaton.match(reinterpret_cast<const uint8_t*>(symbols.data()), 0,
                                         static_cast<int64_t>(text.size()));
  return length < 0 ? "no match" : text.substr(0, static_cast<size_t>(length));
}

TEST(Pattern, AlternativesAreTriedInOrder) {
  EXPECT_EQ(match("a|ab", "ab"), "a");
  EXPECT_EQ(match("ab|a", "ab"), "ab");
  EXPECT_EQ(match("(?:a|ab)(?:c|bcd)", "abcd"), "abcd");
  EXPECT_EQ(match("b", "ab"), "no match");
}

TEST(Pattern, RepeatsAreGreedyAndGiveBack) {
  EXPECT_EQ(match("a*ab", "aaab"), "aaab");
  EXPECT_EQ(match("a{1,2}", "aaa"), "aa");
  EXPECT_EQ(match("a{3}", "aa"), "no match");
  EXPECT_EQ(match("[^a-c]+", "xyzax"), "xyz");
  EXPECT_EQ(match("\\s*[\\r\\n]+", "  \n \n x"), "  \n \n");
}

TEST(Pattern, LookaheadLeavesTheLastSpace) {
  EXPECT_EQ(match("\\s+(?!\\S)|\\s+", "   x"), "  ");
  EXPECT_EQ(match("\\s+(?!\\S)|\\s+", " x"), " ");
  EXPECT_EQ(match("\\s+(?!\\S)|\\s+", "   "), "   ");
}

TEST(PreTokenizer, CutsAsTheFamiliesDo) {
  EXPECT_EQ(words("gpt-2", "I'm  here 123\n"), "I|'m| | here| 123|\n");
  EXPECT_EQ(words("llama-bpe", "I'M  here 12345\n\nx"), "I|'M| | here| |123|45|\n\n|x");
  EXPECT_EQ(words("qwen2", "a12 b"), "a|1|2| b");
  EXPECT_EQ(words("smollm", "in 2024."), "in| |2|0|2|4|.");
  EXPECT_EQ(words("gpt-4o", "HelloWorld's x/\n"), "Hello|World's| x|/\n");
  EXPECT_EQ(words("deepseek-llm", "abc, 漢字  "), "abc|,| |漢字|  ");
  EXPECT_EQ(words("superbpe", "1234567"), "1|234|567");
  EXPECT_EQ(words("afmoe", "x 1234"), "x| |1|234");
}

TEST(PreTokenizer, KnowsClassesBeyondAscii) {
  EXPECT_EQ(words("gpt-2", "naïve\u00A0Ωμέγα ١٢٣"), "naïve|\u00A0|Ωμέγα| ١٢٣");
  EXPECT_EQ(words("qwen35", "नमस्ते"), "नमस्ते");
  EXPECT_EQ(words("qwen2", "नम्"), "नम|्");
}

TEST(PreTokenizer, RefusesWhatIsNotShortestUtf8) {
  const PreTokenizer pre_tokenizer(*find_pre_tokenizer_rule("gpt-2"));
  PreTokenizer::Scratch scratch;
  EXPECT_FALSE(pre_tokenizer.split("a\xFF", scratch));
  EXPECT_FALSE(pre_tokenizer.split("\xC0\x80", scratch));
  EXPECT_FALSE(pre_tokenizer.split("\xF4\x90\x80\x80", scratch));
  EXPECT_TRUE(pre_tokenizer.split("", scratch));
  EXPECT_TRUE(scratch.ends.empty());
}

TEST(PreTokenizer, EveryRuleCutsLongRunsWhole) {
  for (const std::string_view name : pre_tokenizer_names()) {
    for (const char c : {' ', 'a', 'A', '7', '\n', '\'', '!'}) {
      words(name, std::string(20000, c) + "x");
    }
  }
}

}  // namespace
}  // namespace hwtv::text
