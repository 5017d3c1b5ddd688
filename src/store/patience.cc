#include "store/patience.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/units.h"

namespace hwtv::store {
namespace {

constexpr double kLongestWait_s = 600, kLongestBackoff_s = 30;
constexpr const char* kGoOn = "the same command goes on from there";

}  // namespace

bool may_pass(int status) {
  return status == 408 || status == 425 || status == 429 || (status >= 500 && status <= 599);
}

Error refusal(const HttpHead& head, const Url& url, const std::string& token_variable,
              bool token_sent) {
  const std::string what = fmt::format("the server answered {} for {}", head.status, url.shown());
  if (head.status == 401 || head.status == 403) {
    if (token_variable.empty())
      return {ErrorCode::io, what + ": it wants to know who asks",
              "open the address in a browser, or fetch the file there and give its path"};
    if (token_sent)
      return {ErrorCode::io,
              fmt::format("{}: the token of {} may not read it", what, token_variable),
              "accept the model's terms on its page, or give a token that may read it"};
    return {
        ErrorCode::io,
        what + ": nothing of that name, or something that wants a token; none was sent",
        fmt::format("check the spelling; for a gated model accept its terms on its page and set {}",
                    token_variable)};
  }
  if (head.status == 404 || head.status == 410)
    return {ErrorCode::invalid_request, what + ": there is nothing of that name",
            "check the spelling and --revision; a private repository also needs its token"};
  return {ErrorCode::io, what, "open the address in a browser to see what the server says"};
}

Result<void> Patience::failed(const HttpTransfer& transfer, const Url& url,
                              const std::string& why) {
  ++failures_;
  if (failures_ > retries_)
    return fail(ErrorCode::io,
                fmt::format("{} attempts at {} in a row brought nothing; the last: {}", failures_,
                            url.shown(), why),
                fmt::format("try again later: {}", kGoOn));
  double wait_s = std::min(kLongestBackoff_s, 0.5 * std::exp2(static_cast<double>(failures_ - 1)));
  const auto asked =
      parse_retry_after(header(transfer.head.headers, "retry-after"), std::time(nullptr));
  if (may_pass(transfer.head.status) && asked) {
    if (*asked > kLongestWait_s)
      return fail(ErrorCode::io,
                  fmt::format("the server answered {} and asks for a wait of {:.0f} s",
                              transfer.head.status, *asked),
                  fmt::format("come back then: {}", kGoOn));
    wait_s = *asked;
  }
  waiter_.note(fmt::format("{}; attempt {} of {} in {}", why, failures_ + 1, retries_ + 1,
                           format_seconds(wait_s)));
  return waiter_.wait(wait_s);
}

}  // namespace hwtv::store
