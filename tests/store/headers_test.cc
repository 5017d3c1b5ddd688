#include "store/headers.h"

#include <gtest/gtest.h>

namespace hwtv::store {
namespace {

TEST(ContentRangeTest, ReadsWhatTheRfcHas) {
  const auto range = parse_content_range("bytes 5-9/10");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 5);
  EXPECT_EQ(range->last, 9);
  EXPECT_EQ(range->total, 10);
  EXPECT_EQ(parse_content_range("bytes 0-0/*")->total, -1);
  EXPECT_EQ(parse_content_range("bytes */1000")->first, -1);
  EXPECT_EQ(parse_content_range("bytes */1000")->total, 1000);
}

TEST(ContentRangeTest, RefusesWhatContradictsItself) {
  for (const char* text : {"", "bytes", "bytes ", "bytes 5-9", "bytes 9-5/10", "bytes 5-10/10",
                           "bytes -5/10", "bytes 5-/10", "bytes */*", "bytes +5-9/10",
                           "bytes 5-9/-1", "bytes 5 - 9/10", "items 5-9/10", "bytes 5-9/10x",
                           "bytes 0-9223372036854775807/*", "bytes 5-9/99999999999999999999"})
    EXPECT_FALSE(parse_content_range(text)) << text;
}

TEST(RetryAfterTest, SecondsOrADate) {
  EXPECT_EQ(parse_retry_after("120", 0), 120.0);
  EXPECT_EQ(parse_retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 20), 40.0);
  EXPECT_EQ(parse_retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 100), 0.0);
  for (const char* text :
       {"", "-1", "soon", "1.5", "Thu, 01 Jan 1970", "Thu, 01 Jan 1970 00:01:00 GMT+"})
    EXPECT_FALSE(parse_retry_after(text, 0)) << text;
}

TEST(ValidatorTest, StrongTagsBeforeDates) {
  EXPECT_EQ(validator({{"etag", "\"a\""}, {"last-modified", "then"}}), "\"a\"");
  EXPECT_EQ(validator({{"etag", "W/\"a\""}, {"last-modified", "then"}}), "then");
  EXPECT_EQ(validator({{"etag", "W/\"a\""}}), "");
  EXPECT_TRUE(is_etag("\"a\""));
  EXPECT_FALSE(is_etag("then"));
}

TEST(NextPageTest, OnlyTheRelationNext) {
  EXPECT_EQ(next_page("<https://h/x?cursor=1>; rel=\"next\""), "https://h/x?cursor=1");
  EXPECT_EQ(next_page("<https://h/0>; rel=\"prev\", <https://h/2>; rel=\"next\""), "https://h/2");
  for (const char* text : {"", "<", "<x", "<x>; rel=\"prev\"", "x; rel=\"next\""})
    EXPECT_EQ(next_page(text), "") << text;
}

}  // namespace
}  // namespace hwtv::store
