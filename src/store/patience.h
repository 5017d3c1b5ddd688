// How often and when an answer that failed is asked for again.
#pragma once
#include <cstdint>
#include <string>

#include "store/http.h"
#include "store/url.h"
#include "store/waiter.h"

namespace hwtv::store {

// The error of an answer that no repetition betters (401, 404, ...).  `token_variable`: where a
// token is read from; empty: none is used for this address.
Error refusal(const HttpHead& head, const Url& url, const std::string& token_variable,
              bool token_sent);

// Whether a later answer may be another one: 408, 425, 429 and 5xx.
bool may_pass(int status);

class Patience {
 public:
  // `retries`: how many attempts in a row may bring nothing.
  Patience(Waiter& waiter, int64_t retries) : waiter_(waiter), retries_(retries) {}

  void progressed() { failures_ = 0; }

  // Waits as long as the server says, else 0.5, 1, 2, ... 30 s.  Errors: io when there were
  // too many failures or the server asks for more than 10 minutes; cancelled.
  Result<void> failed(const HttpTransfer& transfer, const Url& url, const std::string& why);

 private:
  Waiter& waiter_;
  const int64_t retries_;
  int64_t failures_ = 0;
};

}  // namespace hwtv::store
