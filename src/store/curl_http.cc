#include "store/curl_http.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "store/curl_library.h"
#include "store/url.h"
#include "store/words.h"

namespace hwtv::store {
namespace {

constexpr size_t kHeaderBytesMax = 256 << 10;
constexpr long kSlowestBytesPerS = 1024;

// One answer on its way from libcurl to a sink.
struct Arrival {
  const CurlLibrary& curl;
  CURL* handle;
  HttpSink& sink;
  Waiter& waiter;
  HttpHead head = {};
  size_t header_bytes = 0;
  bool begun = false, stopped = false;

  // What libcurl knows at the end only; of what comes before, the body, nobody wants to know.
  bool is_redirect() const {
    const int status = head.status;
    return (status == 301 || status == 302 || status == 303 || status == 307 || status == 308) &&
           !header(head.headers, "location").empty();
  }

  // Tells the sink of the head, once; false: it wants no more.
  bool begin() {
    if (begun) return !stopped;
    begun = true;
    stopped = !sink.begin(head);
    return !stopped;
  }

  void end() {
    char* redirect = nullptr;
    curl.easy_getinfo(handle, CURLINFO_REDIRECT_URL, &redirect);
    if (redirect && is_redirect()) head.redirect_url = redirect;
    begin();
  }
};

// "HTTP/1.1 200 OK" begins a head anew: before it came that of a proxy, or of "100 Continue".
size_t take_header(char* data, size_t, size_t n, void* user) {
  Arrival& arrival = *static_cast<Arrival*>(user);
  std::string_view line(data, n);
  arrival.header_bytes += n;
  if (arrival.header_bytes > kHeaderBytesMax) return 0;
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {
    arrival.head = {};
    const size_t blank = line.find(' ');
    if (blank != std::string_view::npos)
      std::from_chars(line.data() + blank + 1, line.data() + line.size(), arrival.head.status);
    return n;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return n;
  std::string name = lower(line.substr(0, colon));
  std::string_view value = line.substr(colon + 1);
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  arrival.head.headers.emplace_back(std::move(name), value);
  return n;
}

size_t take_bytes(char* data, size_t, size_t n, void* user) {
  Arrival& arrival = *static_cast<Arrival*>(user);
  if (arrival.is_redirect()) return n;
  if (!arrival.begin()) return CURL_WRITEFUNC_ERROR;
  if (arrival.sink.bytes({data, n})) return n;
  arrival.stopped = true;
  return CURL_WRITEFUNC_ERROR;
}

int watch(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  Arrival& arrival = *static_cast<Arrival*>(user);
  if (arrival.waiter.cancelled()) arrival.stopped = true;
  return arrival.stopped ? 1 : 0;
}

// nullopt: an end that another attempt may better.
std::optional<Error> final_error(CURLcode code, const std::string& url, const std::string& what) {
  const auto parsed = parse_url(url);
  const std::string where = parsed ? parsed->origin() : "the server";
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return Error{ErrorCode::io, fmt::format("{} cannot be trusted: {}", where, what),
                   "install ca-certificates, or name your own authority's file in SSL_CERT_FILE"};
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_SSL_ENGINE_NOTFOUND:
    case CURLE_NOT_BUILT_IN:
    case CURLE_OUT_OF_MEMORY:
    case CURLE_FAILED_INIT:
      return Error{ErrorCode::unsupported,
                   fmt::format("libcurl cannot fetch from {}: {}", where, what),
                   "check the address, and the proxy in https_proxy"};
    default:
      return std::nullopt;
  }
}

class CurlHttp final : public Http {
 public:
  CurlHttp(const CurlLibrary& curl, CURL* handle, Waiter& waiter, double stall_s)
      : curl_(curl), handle_(handle), waiter_(waiter), stall_s_(stall_s) {}
  ~CurlHttp() override { curl_.easy_cleanup(handle_); }
  CurlHttp(const CurlHttp&) = delete;
  CurlHttp& operator=(const CurlHttp&) = delete;

  Result<HttpTransfer> get(const HttpRequest& request, HttpSink& sink) override {
    Arrival arrival{curl_, handle_, sink, waiter_};
    char words[CURL_ERROR_SIZE] = "";
    curl_slist* fields = nullptr;
    for (const auto& [name, value] : request.headers)
      fields = curl_.slist_append(fields, (name + ": " + value).c_str());
    set_options(request.url, arrival, words, fields);
    const CURLcode code = curl_.easy_perform(handle_);
    if (code == CURLE_OK) arrival.end();
    curl_.slist_free_all(fields);
    HttpTransfer transfer{std::move(arrival.head), HttpEnd::cut, words};
    if (transfer.what.empty()) transfer.what = curl_.easy_strerror(code);
    if (arrival.stopped)
      transfer.end = HttpEnd::stopped;
    else if (code == CURLE_OK)
      transfer.end = HttpEnd::whole;
    else if (code == CURLE_OPERATION_TIMEDOUT)
      transfer.end = HttpEnd::stalled;
    else if (auto error = final_error(code, request.url, transfer.what))
      return fail(std::move(*error));
    return transfer;
  }

 private:
  void set_options(const std::string& url, Arrival& arrival, char* words, curl_slist* fields) {
    const auto set = [this](CURLoption option, auto value) {
      curl_.easy_setopt(handle_, option, value);
    };
    curl_.easy_reset(handle_);  // keeps the connections
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_USERAGENT, "hwtv");
    set(CURLOPT_HTTPHEADER, fields);
    set(CURLOPT_ERRORBUFFER, words);
    set(CURLOPT_HEADERFUNCTION, &take_header);
    set(CURLOPT_HEADERDATA, &arrival);
    set(CURLOPT_WRITEFUNCTION, &take_bytes);
    set(CURLOPT_WRITEDATA, &arrival);
    set(CURLOPT_XFERINFOFUNCTION, &watch);
    set(CURLOPT_XFERINFODATA, &arrival);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_BUFFERSIZE, 256L << 10);
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(stall_s_ * 1000));
    set(CURLOPT_LOW_SPEED_LIMIT, kSlowestBytesPerS);
    set(CURLOPT_LOW_SPEED_TIME, std::max(1L, std::lround(stall_s_)));
    for (const char* variable : {"SSL_CERT_FILE", "CURL_CA_BUNDLE"})
      if (const char* file = std::getenv(variable); file && *file) set(CURLOPT_CAINFO, file);
  }

  const CurlLibrary curl_;
  CURL* const handle_;
  Waiter& waiter_;
  const double stall_s_;
};

}  // namespace

Result<std::unique_ptr<Http>> make_curl_http(Waiter& waiter, double stall_s) {
  HWTV_TRY(const CurlLibrary curl, CurlLibrary::open());
  CURL* handle = curl.easy_init();
  if (!handle)
    return fail(ErrorCode::out_of_memory, "libcurl could not make a handle", "free some memory");
  return std::make_unique<CurlHttp>(curl, handle, waiter, stall_s);
}

}  // namespace hwtv::store
