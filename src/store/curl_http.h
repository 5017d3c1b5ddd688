// HTTP and HTTPS by libcurl.  Proxies come from the environment as curl has it (https_proxy,
// no_proxy), certificates from CURL_CA_BUNDLE or SSL_CERT_FILE where one is set.
#pragma once
#include <memory>

#include "store/http.h"
#include "store/waiter.h"

namespace hwtv::store {

// stall_s: how long a connection may take to come, and how long less than 1 KiB/s may flow.
// Errors: unsupported where libcurl is missing.
Result<std::unique_ptr<Http>> make_curl_http(Waiter& waiter, double stall_s);

}  // namespace hwtv::store
