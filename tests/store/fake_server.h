// The network, the server and the user around a download, each as dishonest as a test wants it.
#pragma once
#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "store/http.h"
#include "store/waiter.h"

namespace hwtv::store {

// The smallest whole GGUF file with a tensor: 96 bytes.
inline std::string tiny_gguf(char filling = 'x') {
  const auto number = [](uint64_t value, int n_bytes) {
    std::string text;
    for (int i = 0; i < n_bytes; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  };
  std::string file = "GGUF" + number(3, 4) + number(1, 8) + number(0, 8);
  file += number(1, 8) + "t" + number(1, 4) + number(8, 8) + number(0, 4) + number(0, 8);
  file.resize(64, '\0');
  return file + std::string(32, filling);
}

// How one request is answered.  What is not set is honest.
struct Deed {
  int status = 0;
  int64_t cut_at = -1;  // bytes of the body that come before the connection breaks
  bool ignores_range = false;
  bool stalls = false;  // the cut is a stall
  std::optional<std::string> content_range = {}, content_length = {}, etag = {}, body = {};
  std::string retry_after = {};
};

class FakeServer final : public Http {
 public:
  explicit FakeServer(std::string file) : file_(std::move(file)) {}

  std::deque<Deed> deeds;  // for the next requests; afterwards all is honest
  std::string etag = "\"one\"";
  std::vector<HttpRequest> requests;
  void set_file(std::string file) { file_ = std::move(file); }

  Result<HttpTransfer> get(const HttpRequest& request, HttpSink& sink) override {
    requests.push_back(request);
    Deed deed;
    if (!deeds.empty()) {
      deed = deeds.front();
      deeds.pop_front();
    }
    return answer(request, deed, sink);
  }

 private:
  static std::string field(const HttpRequest& request, const std::string& name) {
    for (const auto& [key, value] : request.headers)
      if (key == name) return value;
    return "";
  }

  Result<HttpTransfer> answer(const HttpRequest& request, const Deed& deed, HttpSink& sink) {
    HttpTransfer transfer;
    HttpHead& head = transfer.head;
    const std::string tag = deed.etag.value_or(etag);
    std::string range = field(request, "Range"), body = deed.body.value_or(file_);
    const std::string if_range = field(request, "If-Range");
    if (deed.ignores_range || (!if_range.empty() && if_range != tag)) range.clear();
    head.status = 200;
    if (!tag.empty()) head.headers.emplace_back("etag", tag);
    if (!range.empty()) {
      const auto first = static_cast<size_t>(std::stoll(range.substr(6)));
      if (first >= body.size()) {
        head.status = 416;
        head.headers.emplace_back("content-range", fmt::format("bytes */{}", body.size()));
        body.clear();
      } else {
        head.status = 206;
        head.headers.emplace_back("content-range",
                                  deed.content_range.value_or(fmt::format(
                                      "bytes {}-{}/{}", first, body.size() - 1, body.size())));
        body = body.substr(first);
      }
    }
    if (deed.status != 0) head.status = deed.status;
    if (!deed.retry_after.empty()) head.headers.emplace_back("retry-after", deed.retry_after);
    const std::string length = deed.content_length.value_or(std::to_string(body.size()));
    if (!length.empty()) head.headers.emplace_back("content-length", length);
    return send(std::move(transfer), body, deed, length, sink);
  }

  // As libcurl has it: no more than the length says, and a cut where less comes.
  Result<HttpTransfer> send(HttpTransfer transfer, std::string body, const Deed& deed,
                            const std::string& length, HttpSink& sink) {
    transfer.what = "planted";
    transfer.end = HttpEnd::whole;
    const size_t said = length.empty() ? body.size() : static_cast<size_t>(std::stoll(length));
    if (body.size() < said) transfer.end = HttpEnd::cut;
    if (body.size() > said) body.resize(said);
    if (deed.cut_at >= 0 && static_cast<size_t>(deed.cut_at) < body.size()) {
      body.resize(static_cast<size_t>(deed.cut_at));
      transfer.end = deed.stalls ? HttpEnd::stalled : HttpEnd::cut;
    }
    bool wanted = sink.begin(transfer.head);
    for (size_t at = 0; wanted && at < body.size(); at += 7)  // in small pieces
      wanted = sink.bytes(std::string_view(body).substr(at, 7));
    if (!wanted) transfer.end = HttpEnd::stopped;
    return transfer;
  }

  std::string file_;
};

// No time passes.
class FakeWaiter final : public Waiter {
 public:
  int64_t cancels_at_bytes = -1;  // what must have come before Ctrl-C
  double waited_s = 0;
  std::vector<std::string> notes;

  bool cancelled() override { return cancels_at_bytes >= 0 && fetched_bytes_ >= cancels_at_bytes; }
  Result<void> wait(double seconds) override {
    waited_s += seconds;
    return {};
  }
  void note(const std::string& line) override { notes.push_back(line); }
  void fetched(const std::string&, int64_t done_bytes, int64_t) override {
    fetched_bytes_ = done_bytes;
  }
  void checked(const std::string&, int64_t, int64_t) override {}

 private:
  int64_t fetched_bytes_ = 0;
};

}  // namespace hwtv::store
