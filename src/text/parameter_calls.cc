// Tool calls with each argument between marks: Qwen3-Coder, GLM, MiniMax M2, DeepSeek V3.2, Seed,
// Kimi K3 and others.
#include <string>
#include <utility>

#include "text/json_scanner.h"
#include "text/literal.h"
#include "text/segment_reader.h"

namespace hwtv::text {

namespace {
constexpr size_t kNone = std::string_view::npos;

// The value of `name="..."` in a mark's text; empty: it has none.
std::string_view attribute(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == kNone) return {};
  text.remove_prefix(at + name.size());
  if (!text.starts_with("=\"")) return {};
  text.remove_prefix(2);
  return text.substr(0, text.find('"'));
}

class ParameterCalls final : public SegmentReader {
 public:
  ParameterCalls(ParameterCallMarks marks, const ToolTypes& tools) : marks_(marks), tools_(tools) {
    if (marks_.call_open.empty()) state_ = State::name;
  }

  Status read(AnswerInput& input, AnswerSink& sink) override {
    for (;;) {
      const Step step = read_one(input, sink);
      if (step == Step::more) return Status::more;
      if (step == Step::done) return Status::done;
      if (step == Step::failed) return Status::failed;
    }
  }

 private:
  enum class State { between, name, parameter, key, value_open, value, json };
  enum class Step { again, more, done, failed };

  Step read_one(AnswerInput& input, AnswerSink& sink) {
    switch (state_) {
      case State::between:
        return read_between(input);
      case State::name:
        return read_name(input, sink);
      case State::parameter:
        return read_parameter(input, sink);
      case State::key:
        return read_key(input);
      case State::value_open:
        return read_value_open(input);
      case State::value:
        return read_value(input, sink);
      case State::json:
        return read_json(input, sink);
    }
    return Step::failed;
  }

  // At a mark: skips it and goes to `next`.
  Step at_mark(AnswerInput& input, std::string_view mark, State next) {
    if (mark.empty()) return Step::failed;
    const Match is = match(input.unread(), mark);
    if (is == Match::partial && !input.ended()) return Step::more;
    if (is != Match::yes) return Step::failed;
    input.skip(mark.size());
    state_ = next;
    return Step::again;
  }

  Step read_between(AnswerInput& input) {
    input.skip_spaces();
    if (input.unread().empty()) {
      return input.ended() && n_calls_ > 0 ? Step::done : Step::more;
    }
    const Step closes = at_mark(input, marks_.section_close, State::between);
    if (closes == Step::again) return n_calls_ > 0 ? Step::done : Step::failed;
    const Step opens = at_mark(input, marks_.call_open, State::name);
    if (opens == Step::again) return opens;
    if (opens == Step::more || closes == Step::more) return Step::more;
    return n_calls_ > 0 ? Step::done : Step::failed;  // the closing mark is missing
  }

  Step read_name(AnswerInput& input, AnswerSink& sink) {
    const bool bare = marks_.name_end.empty();
    size_t end = 0;
    const Match ends = input.find_header_end(bare ? "<" : marks_.name_end, end);
    if (ends != Match::yes) return ends == Match::no ? Step::failed : Step::more;
    std::string_view name = input.unread().substr(0, end);
    name.remove_prefix(count_spaces(name));
    name = name.substr(0, name.find_first_of("\" \t\r\n"));
    if (!is_tool_name(name)) return Step::failed;
    name_ = name;
    input.skip(end + marks_.name_end.size());
    input.commit();
    sink.begin_call(name_, {});
    sink.arguments("{");
    n_parameters_ = 0;
    state_ = State::parameter;
    return Step::again;
  }

  Step read_parameter(AnswerInput& input, AnswerSink& sink) {
    input.skip_spaces();
    const bool whole = n_parameters_ == kWhole;
    const Step opens = whole ? Step::failed : at_mark(input, marks_.parameter_open, State::key);
    if (opens == Step::again) return opens;
    const Step json =
        n_parameters_ == 0 ? at_mark(input, marks_.json_open, State::json) : Step::failed;
    if (json == Step::again) return json;
    const Step closes = at_mark(input, marks_.call_close, State::between);
    if (closes != Step::again) {
      const bool more = opens == Step::more || closes == Step::more || json == Step::more;
      return more ? Step::more : Step::failed;
    }
    return end_call(whole ? "" : "}", input, sink);
  }

  Step end_call(std::string_view rest, AnswerInput& input, AnswerSink& sink) {
    sink.arguments(rest);
    sink.end_call(true);
    input.commit();
    ++n_calls_;
    return marks_.section_close.empty() ? Step::done : Step::again;
  }

  Step read_key(AnswerInput& input) {
    size_t end = 0;
    const Match ends = input.find_header_end(marks_.key_end, end);
    if (ends != Match::yes) return ends == Match::no ? Step::failed : Step::more;
    const std::string_view text = input.unread().substr(0, end);
    key_ = text.substr(0, text.find('"'));
    const std::string_view is_string = attribute(text, "string");
    const std::string_view type = attribute(text, "type");
    is_text_ = is_string == "true" || type == "string";
    is_json_ = is_string == "false" || (!type.empty() && type != "string");
    input.skip(end + marks_.key_end.size());
    searched_ = 0;
    state_ = marks_.value_open.empty() ? State::value : State::value_open;
    return Step::again;
  }

  Step read_value_open(AnswerInput& input) {
    input.skip_spaces();
    return at_mark(input, marks_.value_open, State::value);
  }

  // The closing mark is one only where the next parameter, or the call's end, follows: a value may
  // hold the mark itself.
  Step read_value(AnswerInput& input, AnswerSink& sink) {
    for (;;) {
      const std::string_view text = input.unread();
      if (after_close_ == 0) {
        const size_t at = text.find(marks_.value_close, searched_);
        if (at == kNone) {
          const size_t tail = std::min(marks_.value_close.size() - 1, text.size());
          searched_ = std::max(searched_, text.size() - tail);
          return Step::more;
        }
        searched_ = at;
        after_close_ = at + marks_.value_close.size();
      }
      after_close_ += count_spaces(text.substr(after_close_));
      const std::string_view rest = text.substr(after_close_);
      const Match next = match(rest, marks_.parameter_open);
      const Match close = match(rest, marks_.call_close);
      const bool cut_off = input.ended() && rest.empty();
      if (next != Match::yes && close != Match::yes && !cut_off) {
        if (!input.ended() && (next == Match::partial || close == Match::partial)) {
          return Step::more;
        }
        ++searched_;
        after_close_ = 0;
        continue;
      }
      send_value(text.substr(0, searched_), sink);
      input.skip(searched_ + marks_.value_close.size());
      input.commit();
      after_close_ = 0;
      state_ = State::parameter;
      return Step::again;
    }
  }

  void send_value(std::string_view value, AnswerSink& sink) {
    constexpr std::string_view kCdata = "<![CDATA[", kCdataEnd = "]]>";
    bool text = is_text_;
    if (marks_.newlines) {
      if (value.starts_with('\n')) value.remove_prefix(1);
      if (value.ends_with('\n')) value.remove_suffix(1);
    }
    if (marks_.cdata && value.starts_with(kCdata) && value.ends_with(kCdataEnd)) {
      value = value.substr(kCdata.size(), value.size() - kCdata.size() - kCdataEnd.size());
      text = true;
    }
    std::string json = n_parameters_++ == 0 ? "" : ", ";
    json += quote_json(key_) + ": ";
    if (text) {
      json += quote_json(value);
    } else if (is_json_) {
      json += literal_to_json(value).value_or(quote_json(value));
    } else {
      json += bare_value_to_json(value, tools_.parameter(name_, key_));
    }
    sink.arguments(json);
  }

  // The arguments as one JSON value; its opening brace is sent already.
  Step read_json(AnswerInput& input, AnswerSink& sink) {
    const std::string_view text = input.unread();
    const size_t n = scanner_.read(text);
    json_ += text.substr(0, n);
    input.skip(n);
    if (scanner_.status() == JsonScanner::Status::bad) return Step::failed;
    if (scanner_.status() == JsonScanner::Status::more) return Step::more;
    input.skip_spaces();
    const Step closes = at_mark(input, marks_.json_close, State::json);
    if (closes != Step::again) return closes;
    input.skip_spaces();
    const size_t brace = json_.find('{');
    if (brace != count_spaces(json_)) return Step::failed;
    sink.arguments(std::string_view(json_).substr(brace + 1));
    input.commit();
    json_.clear();
    scanner_ = {};
    state_ = State::parameter;
    n_parameters_ = kWhole;
    return Step::again;
  }

  static constexpr size_t kWhole = kNone;  // n_parameters_: all of them came as one JSON value

  const ParameterCallMarks marks_;
  const ToolTypes& tools_;
  State state_ = State::between;
  std::string name_, key_, json_;
  bool is_text_ = false, is_json_ = false;  // what the key's attributes say of the value
  size_t searched_ = 0;                     // bytes of the value in which no closing mark begins
  size_t after_close_ = 0;  // where what follows a closing mark begins; 0: none is found
  size_t n_parameters_ = 0, n_calls_ = 0;
  JsonScanner scanner_;
};
}  // namespace

std::unique_ptr<SegmentReader> make_reader(const ParameterCallMarks& marks,
                                           const ToolTypes& tools) {
  return std::make_unique<ParameterCalls>(marks, tools);
}

}  // namespace hwtv::text
