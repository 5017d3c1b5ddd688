#include "store/hub.h"

#include <gtest/gtest.h>

#include <map>

#include "store/http_client.h"

namespace hwtv::store {
namespace {

Environment environment(std::map<std::string, std::string> values) {
  return [values](const char* name) {
    const auto at = values.find(name);
    return at == values.end() ? std::string() : at->second;
  };
}

const std::string kHash(64, 'a');

TEST(HubEndpointTest, MirrorsAndTokensFromTheEnvironment) {
  const auto plain = hub_endpoint(Hub::hugging_face, environment({}));
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->base.text(), "https://huggingface.co");
  const auto mirror = hub_endpoint(
      Hub::hugging_face, environment({{"HF_ENDPOINT", "https://m.test/hf/"}, {"HF_TOKEN", "t"}}));
  EXPECT_EQ(mirror->token, "t");
  EXPECT_EQ(listing_url(*mirror, {"a", "b", "", ""}),
            "https://m.test/hf/api/models/a/b/tree/main?recursive=true");
  EXPECT_EQ(file_url(*mirror, {"a", "b", "", "refs/pr/1"}, "x y.gguf"),
            "https://m.test/hf/a/b/resolve/refs%2Fpr%2F1/x%20y.gguf");
  const auto scope = hub_endpoint(Hub::model_scope, environment({{"MODELSCOPE_DOMAIN", "m.test"}}));
  EXPECT_EQ(listing_url(*scope, {"a", "b", "", ""}),
            "https://m.test/api/v1/models/a/b/repo/files?Revision=master&Recursive=true");
  EXPECT_EQ(file_url(*scope, {"a", "b", "", ""}, "x.gguf"),
            "https://m.test/models/a/b/resolve/master/x.gguf");
  EXPECT_FALSE(hub_endpoint(Hub::hugging_face, environment({{"HF_ENDPOINT", "ftp://x"}})));
  const auto bad = hub_endpoint(Hub::hugging_face, environment({{"HF_TOKEN", "se cret\r\nX: y"}}));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().what.find("cret"), std::string::npos);
}

TEST(HubPageTest, KnowsTheHubsAndTheirMirrors) {
  const auto page = [](const char* url, const Environment& given) {
    return hub_page(*parse_url(url), given);
  };
  EXPECT_EQ(page("https://huggingface.co/a/b/blob/main/x.gguf", environment({}))->name.choice,
            "x.gguf");
  EXPECT_EQ(page("https://modelscope.cn/models/a/b", environment({}))->hub, Hub::model_scope);
  EXPECT_FALSE(page("https://else.test/a/b", environment({})));
  EXPECT_TRUE(page("https://m.test/hf/a/b", environment({{"HF_ENDPOINT", "https://m.test/hf"}})));
}

TEST(ListingTest, HuggingFace) {
  const auto files = parse_listing(Hub::hugging_face, R"([
    {"type": "directory", "path": "Q4"},
    {"type": "file", "path": "Q4/x.gguf", "size": 7, "lfs": {"oid": ")" +
                                                          kHash + R"(", "size": 9}},
    {"type": "file", "path": "small.gguf", "size": 5, "oid": "0123"},
    {"type": "file", "path": "../../evil.gguf", "size": 5},
    {"type": "file", "path": 5}, 7, null, {"type": "file", "path": "odd.gguf", "size": -1, "lfs": []}])");
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 3u);
  EXPECT_EQ((*files)[0].path, "Q4/x.gguf");
  EXPECT_EQ((*files)[0].size_bytes, 9);
  EXPECT_EQ((*files)[0].sha256, kHash);
  EXPECT_EQ((*files)[1].sha256, "");
  EXPECT_EQ((*files)[2].size_bytes, -1);
}

TEST(ListingTest, ModelScope) {
  const auto files = parse_listing(Hub::model_scope, R"({"Code": 200, "Data": {"Files": [
    {"Type": "tree", "Path": "Q4"}, {"Type": "blob", "Path": "x.gguf", "Size": 9, "Sha256": ")" +
                                                         kHash + R"("}]}})");
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 1u);
  EXPECT_EQ((*files)[0].sha256, kHash);
}

TEST(ListingTest, WhatIsNone) {
  for (const Hub hub : {Hub::hugging_face, Hub::model_scope})
    for (const std::string& text :
         std::vector<std::string>{"", "{}", "[", "null", "<html>", R"({"Data": []})",
                                  R"({"Data": {"Files": 1}})", std::string(100000, '[')}) {
      const auto files = parse_listing(hub, text);
      ASSERT_FALSE(files) << text.substr(0, 20);
      EXPECT_EQ(files.error().code, ErrorCode::corrupt_file);
    }
}

std::vector<ListedFile> listed(const std::vector<std::string>& paths) {
  std::vector<ListedFile> files;
  for (const std::string& path : paths) files.push_back({path, 100, ""});
  return files;
}

std::string chosen(const std::vector<std::string>& paths, const char* choice) {
  const auto files = choose_files(listed(paths), choice, "a/b");
  if (!files) return files.error().what;
  std::string text;
  for (const ListedFile& file : *files) text += (text.empty() ? "" : " ") + file.path;
  return text;
}

TEST(FileChoiceTest, AQuantizationIsAWordOfTheName) {
  const std::vector<std::string> paths = {"m-Q4_K_M.gguf",   "m-Q4_K_S.gguf", "m-IQ4_XS.gguf",
                                          "m-f16.gguf",      "m-bf16.gguf",   "README.md",
                                          "mmproj-f16.gguf", "m-Q6_K_L.gguf", "m-Q6_K.gguf"};
  EXPECT_EQ(chosen(paths, "q4_k_m"), "m-Q4_K_M.gguf");
  EXPECT_EQ(chosen(paths, "F16"), "m-f16.gguf");
  EXPECT_EQ(chosen(paths, "Q6_K"), "m-Q6_K.gguf");
  EXPECT_EQ(chosen(paths, ""), "m-Q4_K_M.gguf");
  EXPECT_EQ(chosen(paths, "mmproj-f16.gguf"), "mmproj-f16.gguf");
  EXPECT_NE(chosen(paths, "Q4_K").find("has no model 'Q4_K'; it has"), std::string::npos);
  EXPECT_NE(chosen(paths, "Q4_K").find("'m-IQ4_XS.gguf' (100 B)"), std::string::npos);
}

TEST(FileChoiceTest, WhatFitsTwiceIsAsked) {
  EXPECT_NE(chosen({"a-Q8_0.gguf", "b-Q8_0.gguf"}, "Q8_0").find("2 models of a/b fit 'Q8_0'"),
            std::string::npos);
  EXPECT_NE(chosen({"a-Q8_0.gguf", "b-Q5_0.gguf"}, "").find("2 models of a/b fit"),
            std::string::npos);
  EXPECT_EQ(chosen({"only-Q8_0.gguf"}, ""), "only-Q8_0.gguf");
  EXPECT_NE(chosen({"model.safetensors"}, "").find("none of them is a GGUF"), std::string::npos);
}

TEST(FileChoiceTest, AllPartsInTheirOrder) {
  const std::vector<std::string> paths = {
      "Q8_0/m-00002-of-00002.gguf", "Q8_0/m-00001-of-00002.gguf", "m-Q4_0-00001-of-00003.gguf"};
  EXPECT_EQ(chosen(paths, "Q8_0"), "Q8_0/m-00001-of-00002.gguf Q8_0/m-00002-of-00002.gguf");
  EXPECT_EQ(chosen(paths, "m-00002-of-00002.gguf"),
            "Q8_0/m-00001-of-00002.gguf Q8_0/m-00002-of-00002.gguf");
  EXPECT_NE(chosen(paths, "Q4_0").find("1 of the 3 parts"), std::string::npos);
}

// Notes what it was asked and leads on as it is told.
class Leading final : public Http {
 public:
  std::vector<std::string> redirects;
  std::vector<HttpRequest> requests;
  Result<HttpTransfer> get(const HttpRequest& request, HttpSink& sink) override {
    requests.push_back(request);
    HttpTransfer transfer{{200, {}, ""}, HttpEnd::whole, ""};
    if (requests.size() <= redirects.size())
      transfer.head = {302, {}, redirects[requests.size() - 1]};
    sink.begin(transfer.head);
    return transfer;
  }
  bool sent_token(size_t n) const {
    for (const auto& [name, value] : requests[n].headers)
      if (name == "Authorization") return value == "Bearer secret";
    return false;
  }
};

class Seeing final : public HttpSink {
 public:
  int n_begun = 0;
  bool begin(const HttpHead&) override { return ++n_begun > 0; }
  bool bytes(std::string_view) override { return true; }
};

TEST(HttpClientTest, ATokenStaysWithItsOrigin) {
  Leading http;
  http.redirects = {"https://hub.test/other", "https://cdn.test/x?sign=1", "https://hub.test:444/x",
                    "https://hub.test/end"};
  HttpClient client(http, Token{*parse_url("https://hub.test"), "secret"});
  Seeing sink;
  ASSERT_TRUE(client.get("https://hub.test/x", {{"Range", "bytes=5-"}}, sink));
  EXPECT_EQ(sink.n_begun, 1);
  ASSERT_EQ(http.requests.size(), 5u);
  for (const auto& [n, sent] : {std::pair{0, true}, {1, true}, {2, false}, {3, false}, {4, true}}) {
    EXPECT_EQ(http.sent_token(static_cast<size_t>(n)), sent) << n;
    EXPECT_EQ(http.requests[static_cast<size_t>(n)].headers[0].first, "Range");
  }
}

TEST(HttpClientTest, ATokenIsNeverSentOpenly) {
  Leading http;
  HttpClient client(http, Token{*parse_url("http://hub.test"), "secret"});
  Seeing sink;
  ASSERT_TRUE(client.get("http://hub.test/x", {}, sink));
  EXPECT_FALSE(http.sent_token(0));
}

TEST(HttpClientTest, RedirectsThatGoNowhere) {
  Leading http;
  Seeing sink;
  HttpClient client(http, std::nullopt);
  http.redirects.assign(20, "https://hub.test/x");
  EXPECT_FALSE(client.get("https://hub.test/x", {}, sink));
  EXPECT_EQ(http.requests.size(), 11u);
  for (const char* bad : {"http://hub.test/x", "file:///etc/passwd"}) {
    http.requests.clear();
    http.redirects = {bad};
    EXPECT_FALSE(client.get("https://hub.test/x", {}, sink));
    EXPECT_EQ(http.requests.size(), 1u);
  }
}

}  // namespace
}  // namespace hwtv::store
