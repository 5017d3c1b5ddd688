// Tool calls as JSON objects: Hermes, Qwen, Llama 3, Command R, Granite, Apertus and others.
#include <string>
#include <utility>

#include "text/json_arguments.h"
#include "text/segment_reader.h"

namespace hwtv::text {

namespace {
class JsonCalls final : public SegmentReader {
 public:
  JsonCalls(JsonCallMarks marks, const ToolTypes& tools) : marks_(marks), tools_(tools) {}

  Status read(AnswerInput& input, AnswerSink& sink) override {
    for (;;) {
      const Step step = read_one(input, sink);
      if (step == Step::more) return Status::more;
      if (step == Step::done) return Status::done;
      if (step == Step::failed) return Status::failed;
    }
  }

 private:
  enum class State { outside, key_or_end, key, colon, value, comma_or_end };
  enum class Role { name, id, arguments, other };
  enum class Step { again, more, done, failed };

  Step read_one(AnswerInput& input, AnswerSink& sink) {
    if (state_ == State::value) return read_value(input, sink);
    if (state_ == State::key) return read_key(input);
    input.skip_spaces();
    if (state_ == State::outside) return read_outside(input);
    if (input.unread().empty()) return Step::more;
    const char c = input.unread().front();
    if (c == '}' && state_ != State::colon) {
      input.skip(1);
      return end_object(input, sink);
    }
    const State next = state_ == State::key_or_end ? State::key
                       : state_ == State::colon    ? State::value
                                                   : State::key_or_end;
    constexpr std::string_view kExpected = "\":,";
    const size_t i = next == State::key ? 0 : next == State::value ? 1 : 2;
    if (c != kExpected[i]) return Step::failed;
    if (next != State::key) input.skip(1);
    begin_text();
    state_ = next;
    return Step::again;
  }

  Step read_outside(AnswerInput& input) {
    const std::string_view text = input.unread();
    if (!marks_.close.empty()) {
      const Match closes = match(text, marks_.close);
      if (closes == Match::partial && !text.empty() && !input.ended()) return Step::more;
      if (closes == Match::yes && n_calls_ > 0) {
        input.skip(marks_.close.size());
        return Step::done;
      }
    }
    if (text.empty()) return input.ended() && n_calls_ > 0 && !in_list_ ? Step::done : Step::more;
    if (!marks_.lead.empty() && n_calls_ == 0 && !in_list_) {
      const Match leads = match(text, marks_.lead);
      if (leads == Match::partial && !input.ended()) return Step::more;
      if (leads == Match::yes) {
        input.skip(marks_.lead.size());
        return Step::again;
      }
    }
    const char c = text.front();
    const bool separator = (c == ',' || c == ';') && n_calls_ > 0;
    if (c != '{' && c != '[' && c != ']' && !separator) return unexpected();
    if ((c == '[') == in_list_ && c != '{' && !separator) return unexpected();
    input.skip(1);
    if (c == '[') in_list_ = true;
    if (c == ']') in_list_ = false;
    if (c == ']' && marks_.close.empty()) return n_calls_ > 0 ? Step::done : Step::failed;
    if (c == '{') begin_object();
    return Step::again;
  }

  // A closing mark that the model left out is none that can fail.
  Step unexpected() const { return n_calls_ > 0 && !in_list_ ? Step::done : Step::failed; }

  void begin_object() {
    state_ = State::key_or_end;
    name_.clear();
    id_.clear();
    kept_.clear();
    has_name_ = sent_ = complete_ = false;
  }

  void begin_text() {
    text_.clear();
    scanner_ = {};
    arguments_ = {};
  }

  Step read_key(AnswerInput& input) {
    const Step step = keep_value(input);
    if (step != Step::again) return step;
    const auto parsed = nlohmann::json::parse(text_, nullptr, false);
    if (!parsed.is_string()) return Step::failed;  // no UTF-8, or half a pair of surrogates
    const auto key = parsed.get<std::string>();
    if (key == "name" || key == "tool_name") {
      role_ = Role::name;
    } else if (key == "arguments" || key == "parameters") {
      role_ = Role::arguments;
    } else if (key == "id" || key == "tool_call_id") {
      role_ = Role::id;
    } else {
      role_ = Role::other;
    }
    if (marks_.keyed) {
      if (has_name_ || !is_tool_name(key)) return Step::failed;
      name_ = key;
      has_name_ = true;
      role_ = Role::arguments;
    }
    state_ = State::colon;
    return Step::again;
  }

  // Collects one JSON value in text_.
  Step keep_value(AnswerInput& input) {
    if (text_.empty()) input.skip_spaces();
    const std::string_view text = input.unread();
    const size_t n = scanner_.read(text);
    text_ += text.substr(0, n);
    input.skip(n);
    if (scanner_.status() == JsonScanner::Status::bad) return Step::failed;
    return scanner_.status() == JsonScanner::Status::done ? Step::again : Step::more;
  }

  Step read_value(AnswerInput& input, AnswerSink& sink) {
    if (role_ == Role::arguments && has_name_ && !sent_) return read_arguments(input, sink);
    const Step step = keep_value(input);
    if (step != Step::again) return step;
    state_ = State::comma_or_end;
    if (role_ == Role::arguments) kept_ = text_;
    if (role_ != Role::name && role_ != Role::id) return Step::again;
    const auto value = nlohmann::json::parse(text_, nullptr, false);
    const std::string plain = value.is_string() ? value.get<std::string>() : text_;
    if (role_ == Role::id) {
      id_ = plain;
      return Step::again;
    }
    if (has_name_ || !value.is_string() || !is_tool_name(plain)) return Step::failed;
    if (marks_.known_names && !tools_.knows(plain)) return Step::failed;
    name_ = plain;
    has_name_ = true;
    return Step::again;
  }

  Step read_arguments(AnswerInput& input, AnswerSink& sink) {
    if (!begun_) {
      input.skip_spaces();
      if (input.unread().empty()) return Step::more;
      input.commit();
      sink.begin_call(name_, id_);
      begun_ = true;
    }
    switch (arguments_.read(input, sink)) {
      case JsonScanner::Status::more:
        return Step::more;
      case JsonScanner::Status::bad:
        return Step::failed;
      case JsonScanner::Status::done:
        break;
    }
    complete_ = arguments_.complete();
    sent_ = true;
    begun_ = false;
    state_ = State::comma_or_end;
    return Step::again;
  }

  Step end_object(AnswerInput& input, AnswerSink& sink) {
    if (!has_name_) return Step::failed;
    if (!sent_) {
      sink.begin_call(name_, id_);
      if (kept_.empty()) kept_ = "{}";
      arguments_ = {};
      arguments_.read_kept(kept_, sink);
      complete_ = arguments_.complete();
    }
    sink.end_call(complete_, id_);
    input.commit();
    ++n_calls_;
    state_ = State::outside;
    return marks_.close.empty() && !in_list_ ? Step::done : Step::again;
  }

  const JsonCallMarks marks_;
  const ToolTypes& tools_;
  State state_ = State::outside;
  Role role_ = Role::other;
  std::string name_, id_, kept_, text_;
  JsonScanner scanner_;
  JsonArguments arguments_;
  size_t n_calls_ = 0;
  bool in_list_ = false, has_name_ = false;
  bool begun_ = false;     // the call's arguments are on their way
  bool sent_ = false;      // they are all sent
  bool complete_ = false;  // and were JSON
};
}  // namespace

std::unique_ptr<SegmentReader> make_reader(const JsonCallMarks& marks, const ToolTypes& tools) {
  return std::make_unique<JsonCalls>(marks, tools);
}

}  // namespace hwtv::text
