#include "app/token_list.h"

#include <gtest/gtest.h>

namespace hwtv::app {
namespace {

using Ids = std::vector<int32_t>;

TEST(TokenList, ReadsEveryWayOfWriting) {
  const Ids expected = {1, 22, 333};
  for (const char* text : {"1 22 333", "[1, 22, 333]", "1\n22\r\n333\n", "\t1,22,,333 "})
    EXPECT_EQ(parse_token_list(text, 1000).value(), expected) << text;
  EXPECT_EQ(parse_token_list("", 1000).value(), Ids());
  EXPECT_EQ(parse_token_list("[]\n", 1000).value(), Ids());
}

TEST(TokenList, NamesTheFirstWordThatIsNoId) {
  for (const char* word : {"x", "-1", "3.5", "0x10", "1000", "99999999999999999999", "7-"}) {
    const auto ids = parse_token_list(std::string("5 6 ") + word + " 8", 1000);
    ASSERT_FALSE(ids) << word;
    EXPECT_EQ(ids.error().code, ErrorCode::invalid_request);
    EXPECT_EQ(ids.error().what,
              "'" + std::string(word) + "' (word 3) is no token id of a vocabulary of 1000");
    EXPECT_EQ(ids.error().advice, "write ids from 0 to 999, separated by spaces");
  }
}

TEST(TokenList, CutsAWordThatWouldFillTheScreen) {
  const auto ids = parse_token_list(std::string(5000, 'a'), 10);
  ASSERT_FALSE(ids);
  EXPECT_LT(ids.error().what.size(), 150u);
}

}  // namespace
}  // namespace hwtv::app
