#include "constrain/stop_strings.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "tests/text/tiny_vocabulary.h"

namespace hwtv::constrain {
namespace {

// A vocabulary of bytes: token b is the byte b.
class StopStringsTest : public testing::Test {
 protected:
  StopStringsTest() {
    auto opened = text::TinyVocabulary::byte_pair({}).open();
    CHECK(opened);
    tokenizer_ = *std::move(opened);
  }
  StopStrings watch(std::vector<std::string> stops) {
    return StopStrings(text::StreamDetokenizer(*tokenizer_, {}), std::move(stops));
  }
  // Feeds bytes until it stops; what was certain after each byte, separated by '|'.
  static std::string feed(StopStrings& stop, std::string_view bytes) {
    std::string text;
    for (const char c : bytes) {
      const bool stopped = stop.accept(static_cast<unsigned char>(c));
      text += stop.take_text() + "|";
      if (stopped) return text + "stopped";
    }
    return text;
  }

  std::unique_ptr<text::Tokenizer> tokenizer_;
};

TEST_F(StopStringsTest, WithoutStopsEverythingIsCertainAtOnce) {
  auto stop = watch({});
  EXPECT_EQ(feed(stop, "abc"), "a|b|c|");
  auto empty = watch({"", ""});
  EXPECT_EQ(feed(empty, "abc"), "a|b|c|");
}

TEST_F(StopStringsTest, HoldsBackWhatMayBecomeAStop) {
  auto stop = watch({"END"});
  EXPECT_EQ(feed(stop, "xEyENz"), "x||Ey|||ENz|");
  EXPECT_EQ(feed(stop, "END"), "|||stopped");
}

TEST_F(StopStringsTest, NeverGivesTheStopNorWhatFollows) {
  auto stop = watch({"b"});
  EXPECT_EQ(feed(stop, "aabaa"), "a|a||stopped");
  EXPECT_TRUE(stop.accept('c'));
  stop.finish();
  EXPECT_EQ(stop.take_text(), "");
}

TEST_F(StopStringsTest, AStopWithinItsOwnBeginningIsFound) {
  auto stop = watch({"aab"});
  EXPECT_EQ(feed(stop, "aaab"), "||a||stopped");
}

TEST_F(StopStringsTest, TheFirstOfSeveralStopsToBeWholeWins) {
  auto stop = watch({"cd", "bcde", "de"});
  EXPECT_EQ(feed(stop, "abcde"), "a|||b|stopped");
}

TEST_F(StopStringsTest, TheEndReleasesWhatWasHeldBack) {
  auto stop = watch({"END"});
  EXPECT_EQ(feed(stop, "xEN"), "x|||");
  stop.finish();
  EXPECT_EQ(stop.take_text(), "EN");
}

TEST_F(StopStringsTest, CharactersStayWhole) {
  auto stop = watch({"\xC3\xA9!"});  // é!
  EXPECT_EQ(feed(stop, "\xC3\xA9?"), "||\xC3\xA9?|");
  EXPECT_EQ(feed(stop, "\xC3"), "|");
  stop.finish();
  EXPECT_EQ(stop.take_text(), "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace hwtv::constrain
