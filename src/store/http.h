// One HTTP GET as an interface, so that a test can be the server and the network.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "store/headers.h"

namespace hwtv::store {

struct HttpRequest {
  std::string url;
  Headers headers;
};

struct HttpHead {
  int status = 0;  // 0: no answer came
  Headers headers;
  std::string redirect_url;  // absolute; empty: the answer is no redirect
};

// Takes an answer as it arrives.  false from either ends the transfer there.
class HttpSink {
 public:
  virtual ~HttpSink() = default;
  virtual bool begin(const HttpHead& head) = 0;  // once, before any byte
  virtual bool bytes(std::string_view piece) = 0;
};

enum class HttpEnd {
  whole,    // as long as the answer said; without a length: closed in order
  cut,      // no connection, or it broke
  stalled,  // too slow, or nothing came for too long
  stopped,  // the sink wanted no more, or `cancelled`
};

struct HttpTransfer {
  HttpHead head;
  HttpEnd end = HttpEnd::cut;
  std::string what;  // why it was cut
};

class Http {
 public:
  virtual ~Http() = default;
  // Errors: what trying again cannot heal, such as a certificate that is refused.
  virtual Result<HttpTransfer> get(const HttpRequest& request, HttpSink& sink) = 0;
};

}  // namespace hwtv::store
