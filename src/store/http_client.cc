#include "store/http_client.h"

#include <fmt/format.h>

namespace hwtv::store {
namespace {

constexpr int kRedirectsMax = 10;

// Hides redirects from the sink behind it.
class BeyondRedirects final : public HttpSink {
 public:
  explicit BeyondRedirects(HttpSink& sink) : sink_(sink) {}
  bool begin(const HttpHead& head) override {
    redirected_ = !head.redirect_url.empty();
    return redirected_ || sink_.begin(head);
  }
  bool bytes(std::string_view piece) override { return redirected_ || sink_.bytes(piece); }

 private:
  HttpSink& sink_;
  bool redirected_ = false;
};

}  // namespace

bool HttpClient::sends_token_to(const Url& url) const {
  return token_ && !token_->value.empty() && same_origin(url, token_->base) && is_private(url);
}

Result<HttpTransfer> HttpClient::get(const std::string& url, const Headers& headers,
                                     HttpSink& sink) {
  HWTV_TRY(Url at, parse_url(url));
  for (int hop = 0; hop <= kRedirectsMax; ++hop) {
    HttpRequest request{at.text(), headers};
    if (sends_token_to(at))
      request.headers.emplace_back("Authorization", "Bearer " + token_->value);
    BeyondRedirects beyond(sink);
    HWTV_TRY(HttpTransfer transfer, http_.get(request, beyond));
    if (transfer.head.redirect_url.empty() || transfer.end == HttpEnd::stopped) return transfer;
    HWTV_TRY(Url next, parse_url(transfer.head.redirect_url));
    if (at.scheme == "https" && next.scheme == "http")
      return fail(ErrorCode::io,
                  fmt::format("{} leads from https to http: {}", at.shown(), next.shown()),
                  "give an address that stays encrypted");
    at = std::move(next);
  }
  return fail(
      ErrorCode::io,
      fmt::format("{} leads on more than {} times", url.substr(0, url.find('?')), kRedirectsMax),
      "check the address, or the mirror");
}

}  // namespace hwtv::store
