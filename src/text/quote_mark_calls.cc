// Tool calls with a mark of their own for quotes: Gemma 4.
#include <optional>
#include <string>
#include <utility>

#include "text/literal.h"
#include "text/segment_reader.h"

namespace hwtv::text {

namespace {
// The JSON of {key:value,...} as the format writes it.
class BodyReader {
 public:
  BodyReader(std::string_view text, std::string_view quote) : text_(text), quote_(quote) {}

  std::optional<std::string> read() {
    std::string out;
    if (!text_.starts_with('{') || !value(out, 0)) return std::nullopt;
    skip_spaces();
    if (!text_.empty()) return std::nullopt;
    return out;
  }

 private:
  void skip_spaces() { text_.remove_prefix(count_spaces(text_)); }

  bool take(std::string_view mark) {
    skip_spaces();
    if (!text_.starts_with(mark)) return false;
    text_.remove_prefix(mark.size());
    return true;
  }

  bool value(std::string& out, int depth) {
    constexpr int kDepthMax = 100;
    if (depth > kDepthMax) return false;
    if (take(quote_)) return string(out);
    if (take("{")) return collection("}", true, out, depth);
    if (take("[")) return collection("]", false, out, depth);
    const std::string_view word = text_.substr(0, text_.find_first_of(",]} \t\r\n"));
    const auto json = literal_to_json(word);
    text_.remove_prefix(word.size());
    if (json) out += *json;
    return json.has_value();
  }

  bool string(std::string& out) {
    const size_t end = text_.find(quote_);
    if (end == std::string_view::npos) return false;
    out += quote_json(text_.substr(0, end));
    text_.remove_prefix(end + quote_.size());
    return true;
  }

  bool collection(std::string_view close, bool dict, std::string& out, int depth) {
    out += dict ? "{" : "[";
    for (bool first = true; !take(close); first = false) {
      if (!first && !take(",")) return false;
      if (!first) out += ", ";
      if (dict && !key(out)) return false;
      if (!value(out, depth + 1)) return false;
    }
    out += dict ? "}" : "]";
    return true;
  }

  bool key(std::string& out) {
    if (take(quote_)) {
      if (!string(out) || !take(":")) return false;
    } else {
      const size_t end = text_.find(':');
      if (end == std::string_view::npos) return false;
      out += quote_json(text_.substr(0, end));
      text_.remove_prefix(end + 1);
    }
    out += ": ";
    return true;
  }

  std::string_view text_, quote_;
};

class QuoteMarkCalls final : public SegmentReader {
 public:
  explicit QuoteMarkCalls(QuoteMarkCallMarks marks) : marks_(marks) {}

  Status read(AnswerInput& input, AnswerSink& sink) override {
    const std::string_view text = input.unread();
    for (;;) {  // to the closing mark outside of quotes
      const std::string_view rest = text.substr(scanned_);
      const size_t next = rest.find_first_of(first_bytes());
      scanned_ += std::min(next, rest.size());
      if (next == std::string_view::npos) return Status::more;
      const Match quote = match(text.substr(scanned_), marks_.quote);
      const Match close = quoted_ ? Match::no : match(text.substr(scanned_), marks_.close);
      if (close == Match::yes) break;
      if (quote == Match::yes) {
        quoted_ = !quoted_;
        scanned_ += marks_.quote.size();
      } else if (quote == Match::partial || close == Match::partial) {
        return Status::more;
      } else {
        ++scanned_;
      }
    }
    return take_call(text.substr(0, scanned_), input, sink);
  }

 private:
  std::string_view first_bytes() const { return marks_.quote.substr(0, 1); }

  Status take_call(std::string_view text, AnswerInput& input, AnswerSink& sink) {
    constexpr std::string_view kLead = "call:";
    text.remove_prefix(count_spaces(text));
    const size_t brace = text.find('{');
    std::optional<std::string> json;
    std::string name;
    if (text.starts_with(kLead) && brace != std::string_view::npos) {
      name = text.substr(kLead.size(), brace - kLead.size());
      json = BodyReader(text.substr(brace), marks_.quote).read();
    }
    input.skip(scanned_ + marks_.close.size());
    if (!json || !is_tool_name(name)) return Status::failed;
    input.commit();
    sink.begin_call(std::move(name), {});
    sink.arguments(*json);
    sink.end_call(true);
    return Status::done;
  }

  const QuoteMarkCallMarks marks_;
  size_t scanned_ = 0;
  bool quoted_ = false;
};
}  // namespace

std::unique_ptr<SegmentReader> make_reader(const QuoteMarkCallMarks& marks, const ToolTypes&) {
  return std::make_unique<QuoteMarkCalls>(marks);
}

}  // namespace hwtv::text
