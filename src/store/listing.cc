#include "store/listing.h"

#include <fmt/format.h>

#include "store/patience.h"

namespace hwtv::store {
namespace {

constexpr size_t kPageBytesMax = 32 << 20;
constexpr int kPagesMax = 100;

// An answer as text.
class Page final : public HttpSink {
 public:
  explicit Page(Waiter& waiter) : waiter_(waiter) {}
  bool begin(const HttpHead& head) override { return head.status == 200; }
  bool bytes(std::string_view piece) override {
    text_ += piece;
    return text_.size() <= kPageBytesMax && !waiter_.cancelled();
  }
  const std::string& text() const { return text_; }

 private:
  Waiter& waiter_;
  std::string text_;
};

// One page, asked for until it comes whole.
Result<std::string> fetch_page(HttpClient& client, const HubEndpoint& endpoint, const Url& url,
                               int64_t retries, Waiter& waiter, std::string& next) {
  Patience patience(waiter, retries);
  for (;;) {
    Page page(waiter);
    HWTV_TRY(const HttpTransfer transfer, client.get(url.text(), {}, page));
    if (waiter.cancelled()) return fail(ErrorCode::cancelled, "cancelled before the listing came");
    const int status = transfer.head.status;
    if (status == 200 && transfer.end == HttpEnd::whole) {
      next = next_page(header(transfer.head.headers, "link"));
      return page.text();
    }
    if (page.text().size() > kPageBytesMax)
      return fail(
          ErrorCode::io,
          fmt::format("the listing at {} has more than {} bytes", url.shown(), kPageBytesMax),
          "give the file's own address");
    if (status != 0 && status != 200 && !may_pass(status))
      return fail(refusal(transfer.head, url, endpoint.token_variable, client.sends_token_to(url)));
    HWTV_TRY_VOID(patience.failed(transfer, url,
                                  status == 0 || status == 200
                                      ? fmt::format("the listing did not come ({})", transfer.what)
                                      : fmt::format("the server answered {}", status)));
  }
}

}  // namespace

Result<std::vector<ListedFile>> fetch_listing(HttpClient& client, const HubEndpoint& endpoint,
                                              const HubName& name, int64_t retries,
                                              Waiter& waiter) {
  std::vector<ListedFile> files;
  std::string next = listing_url(endpoint, name);
  for (int n = 0; !next.empty(); ++n) {
    HWTV_TRY(const Url url, parse_url(next));
    if (n > kPagesMax || !same_origin(url, endpoint.base))
      return fail(ErrorCode::corrupt_file,
                  fmt::format("the listing goes on at {} after {} pages", url.origin(), n),
                  fmt::format("check {}, or give the file's own address", endpoint.base_variable));
    next.clear();
    HWTV_TRY(const std::string page, fetch_page(client, endpoint, url, retries, waiter, next));
    HWTV_TRY(const auto more, parse_listing(endpoint.hub, page));
    files.insert(files.end(), more.begin(), more.end());
  }
  return files;
}

}  // namespace hwtv::store
