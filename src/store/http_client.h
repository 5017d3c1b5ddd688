// GET as a download needs it: redirects are followed here, so that a token stays with the origin it
// is meant for, and a secure address never leads to an open one.
#pragma once
#include <optional>
#include <string>

#include "store/http.h"
#include "store/url.h"

namespace hwtv::store {

struct Token {
  Url base;  // sent to this origin only
  std::string value;
};

class HttpClient {
 public:
  HttpClient(Http& http, std::optional<Token> token) : http_(http), token_(std::move(token)) {}

  // The answer after all redirects, of which the sink sees nothing.
  // Errors: those of Http::get; io for redirects that go nowhere.
  Result<HttpTransfer> get(const std::string& url, const Headers& headers, HttpSink& sink);

  bool sends_token_to(const Url& url) const;

 private:
  Http& http_;
  std::optional<Token> token_;
};

}  // namespace hwtv::store
