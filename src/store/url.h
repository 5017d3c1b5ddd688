// http and https addresses: taken apart, put together, and shown without what may be a secret.
#pragma once
#include <string>
#include <string_view>

#include "base/error.h"

namespace hwtv::store {

struct Url {
  std::string scheme;  // "http" or "https"
  std::string host;    // lower case; an IPv6 address keeps its brackets
  int port = 0;
  std::string path;   // begins with "/"; percent-encoded as it came
  std::string query;  // with its "?"; empty: none

  std::string text() const;
  std::string origin() const;  // "https://host:port", the port where it is not the scheme's own
  std::string shown() const;   // for messages: without the query, which may hold a signature
};

// Errors: invalid_request; unsupported for another scheme.  A user and password are refused.
Result<Url> parse_url(std::string_view text);

bool same_origin(const Url& a, const Url& b);

// Whether a secret may travel there: encrypted, or within this machine.
bool is_private(const Url& url);

std::string percent_encoded(std::string_view path);  // what is no letter, digit or one of "-._~/"
std::string percent_decoded(std::string_view text);  // a "%" that is no code stays

}  // namespace hwtv::store
