#include "store/source.h"

#include <gtest/gtest.h>

namespace hwtv::store {
namespace {

TEST(HubNameTest, RepositoryAndWhatOfIt) {
  const auto name = parse_hub_name("owner/My.Repo-GGUF:Q4_K_M");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->owner, "owner");
  EXPECT_EQ(name->repo, "My.Repo-GGUF");
  EXPECT_EQ(name->choice, "Q4_K_M");
  EXPECT_EQ(parse_hub_name("a/b")->choice, "");
  EXPECT_EQ(parse_hub_name("a/b:folder/x.gguf")->choice, "folder/x.gguf");
}

TEST(HubNameTest, WhatIsNone) {
  for (const char* text : {"", "a", "a/", "/b", "a/b/c", "a/b:", "a/..", "../b", ".a/b", "-a/b",
                           "a/b:../x", "a/b:/x", "a b/c", "a/b\n", "https://a/b", "C:/x"})
    EXPECT_FALSE(parse_hub_name(text)) << text;
}

TEST(SafePathTest, StaysWithinTheFolder) {
  EXPECT_EQ(safe_path("a/b.gguf"), "a/b.gguf");
  EXPECT_EQ(safe_path("with blanks and ü.gguf"), "with blanks and ü.gguf");
  for (const std::string& path : std::vector<std::string>{
           "", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/..", ".hidden", "a/.b", "a\\b",
           "a\nb", std::string("a\0b", 3), std::string(300, 'a')})
    EXPECT_FALSE(safe_path(path)) << path;
}

TEST(UrlTest, TakenApart) {
  const Url url = parse_url("HTTPS://Hub.Example:8443/a%20b/c.gguf?sign=secret#part").value();
  EXPECT_EQ(url.text(), "https://hub.example:8443/a%20b/c.gguf?sign=secret");
  EXPECT_EQ(url.shown(), "https://hub.example:8443/a%20b/c.gguf");
  EXPECT_EQ(parse_url("http://h:80")->origin(), "http://h");
  EXPECT_EQ(parse_url("http://[::1]:8080/x")->port, 8080);
  EXPECT_EQ(parse_url("http://h?x=1")->text(), "http://h/?x=1");
}

TEST(UrlTest, Refused) {
  for (const char* text : {"", "h/x", "file:///etc/passwd", "ftp://h/x", "http://", "http://h:0/",
                           "http://h:99999/", "http://h:1x/", "http://a b/", "http://h/a b",
                           "http://user:word@h/", "http://h/\n", "http://a:b:c/", "http://a\\b/"})
    EXPECT_FALSE(parse_url(text)) << text;
  EXPECT_EQ(parse_url("http://me:secret@h/").error().what.find("secret"), std::string::npos);
  EXPECT_EQ(parse_url("ftp://h/").error().code, ErrorCode::unsupported);
}

TEST(UrlTest, WhereASecretMayGo) {
  for (const char* text :
       {"https://h/", "http://localhost:1/", "http://127.0.0.1/", "http://[::1]/"})
    EXPECT_TRUE(is_private(*parse_url(text))) << text;
  for (const char* text : {"http://h/", "http://127.evil.example/", "http://localhost.example/"})
    EXPECT_FALSE(is_private(*parse_url(text))) << text;
}

TEST(UrlTest, PercentCodes) {
  EXPECT_EQ(percent_encoded("a b/ü+?.gguf"), "a%20b/%C3%BC%2B%3F.gguf");
  EXPECT_EQ(percent_decoded("a%20b%2"), "a b%2");
  EXPECT_EQ(percent_decoded("%zz%4"), "%zz%4");
}

TEST(HubPageNameTest, AddressesThatPeopleCopy) {
  const auto of = [](const char* path) {
    return hub_name_of(*parse_url(std::string("https://h") + path));
  };
  EXPECT_EQ(of("/a/b")->repo, "b");
  EXPECT_EQ(of("/a/b/tree/dev")->revision, "dev");
  const auto file = of("/a/b/blob/main/Q4/x.gguf");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->choice, "Q4/x.gguf");
  EXPECT_EQ(file->revision, "main");
  EXPECT_EQ(of("/a/b/resolve/main/x.gguf?download=true")->choice, "x.gguf");
  EXPECT_EQ(of("/models/a/b/summary")->repo, "b");
  for (const char* path :
       {"/", "/a", "/a/b/blob/main", "/a/b/blob/main/..%2fx", "/a/b/discussions"})
    EXPECT_FALSE(of(path)) << path;
}

}  // namespace
}  // namespace hwtv::store
