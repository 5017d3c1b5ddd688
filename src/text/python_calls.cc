// Tool calls as Python writes calls: LFM2, and the built-in tools of Llama 3.
#include <optional>
#include <string>
#include <utility>

#include "text/literal.h"
#include "text/segment_reader.h"

namespace hwtv::text {

namespace {
// {"key": value, ...} of `key=value, ...`; nullopt: it is no such list.
std::optional<std::string> keywords_to_json(std::string_view text) {
  std::string out = "{";
  for (bool first = true;; first = false) {
    text.remove_prefix(count_spaces(text));
    if (text.empty()) return out + "}";
    if (!first) {
      if (text.front() != ',') return std::nullopt;
      text.remove_prefix(1);
      text.remove_prefix(count_spaces(text));
      out += ", ";
    }
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    std::string_view key = text.substr(0, equals);
    key = key.substr(0, key.find_last_not_of(' ') + 1);
    if (!is_tool_name(key)) return std::nullopt;
    text.remove_prefix(equals + 1);
    size_t n_bytes = 0;
    const auto value = leading_literal_to_json(text, n_bytes);
    if (!value) return std::nullopt;
    out += quote_json(key) + ": " + *value;
    text.remove_prefix(n_bytes);
  }
}

class PythonCalls final : public SegmentReader {
 public:
  PythonCalls(PythonCallMarks marks, const ToolTypes& tools) : marks_(marks), tools_(tools) {}

  Status read(AnswerInput& input, AnswerSink& sink) override {
    for (;;) {
      if (json_ != nullptr) return json_->read(input, sink);
      const Step step = in_call_ ? read_arguments(input, sink) : read_name(input);
      if (step == Step::more) return Status::more;
      if (step == Step::done) return Status::done;
      if (step == Step::failed) return Status::failed;
    }
  }

 private:
  enum class Step { again, more, done, failed };

  Step read_name(AnswerInput& input) {
    input.skip_spaces();
    const std::string_view text = input.unread();
    const bool could_end = n_calls_ > 0 && !in_list_;
    if (text.empty()) return input.ended() && could_end ? Step::done : Step::more;
    if (!marks_.close.empty()) {
      const Match closes = match(text, marks_.close);
      if (closes == Match::partial && !input.ended()) return Step::more;
      if (closes == Match::yes) {
        if (n_calls_ == 0) return Step::failed;
        input.skip(marks_.close.size());
        return Step::done;
      }
    }
    const char c = text.front();
    if (c == '{' && marks_.or_json && n_calls_ == 0) {
      json_ = make_reader(JsonCallMarks{}, tools_);
      return Step::again;
    }
    if (c == (in_list_ ? ']' : '[') || (c == ',' && in_list_ && n_calls_ > 0)) {
      if (c != ',') in_list_ = !in_list_;
      input.skip(1);
      return Step::again;
    }
    const size_t end = text.substr(0, kHeaderBytesMax).find('(');
    if (end == std::string_view::npos) {
      const bool name = is_tool_name(text.substr(0, kHeaderBytesMax));
      if (!name || text.size() > kHeaderBytesMax) return could_end ? Step::done : Step::failed;
      return Step::more;
    }
    name_ = text.substr(0, end);
    if (!is_tool_name(name_)) return could_end ? Step::done : Step::failed;
    if (marks_.method && name_.ends_with(".call")) name_.resize(name_.size() - 5);
    input.skip(end + 1);
    in_call_ = true;
    depth_ = 0;
    scanned_ = 0;
    return Step::again;
  }

  // To the bracket that closes the call, outside of quotes.
  Step read_arguments(AnswerInput& input, AnswerSink& sink) {
    const std::string_view text = input.unread();
    for (; scanned_ < text.size(); ++scanned_) {
      const char c = text[scanned_];
      if (quote_ != 0) {
        if (std::exchange(escaped_, !escaped_ && c == '\\')) continue;
        if (c == quote_) quote_ = 0;
      } else if (c == '"' || c == '\'') {
        quote_ = c;
      } else if (c == '(' || c == '[' || c == '{') {
        ++depth_;
      } else if ((c == ')' || c == ']' || c == '}') && --depth_ < 0) {
        break;
      }
    }
    if (scanned_ == text.size()) return Step::more;
    const auto json = keywords_to_json(text.substr(0, scanned_));
    if (text[scanned_] != ')' || !json) {
      input.skip(scanned_);
      return Step::failed;
    }
    input.skip(scanned_ + 1);
    input.commit();
    sink.begin_call(name_, {});
    sink.arguments(*json);
    sink.end_call(true);
    in_call_ = false;
    ++n_calls_;
    return marks_.close.empty() && !in_list_ ? Step::done : Step::again;
  }

  const PythonCallMarks marks_;
  const ToolTypes& tools_;
  std::unique_ptr<SegmentReader> json_;
  std::string name_;
  size_t scanned_ = 0, n_calls_ = 0;
  long depth_ = 0;
  char quote_ = 0;  // the open string's; 0: none is open
  bool escaped_ = false, in_list_ = false, in_call_ = false;
};
}  // namespace

std::unique_ptr<SegmentReader> make_reader(const PythonCallMarks& marks, const ToolTypes& tools) {
  return std::make_unique<PythonCalls>(marks, tools);
}

}  // namespace hwtv::text
