// Tool calls as a name in a header and one JSON value: Mistral, DeepSeek, Kimi K2, Functionary,
// Solar.
#include <string>
#include <utility>

#include "text/json_arguments.h"
#include "text/segment_reader.h"

namespace hwtv::text {

namespace {
std::string_view trimmed(std::string_view text) {
  text.remove_prefix(count_spaces(text));
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

class HeaderCalls final : public SegmentReader {
 public:
  HeaderCalls(HeaderCallMarks marks, const ToolTypes& tools) : marks_(marks), tools_(tools) {}

  Status read(AnswerInput& input, AnswerSink& sink) override {
    if (json_ != nullptr) return json_->read(input, sink);
    if (state_ == State::header) {
      const Status status = read_header(input, sink);
      if (json_ != nullptr) return json_->read(input, sink);
      if (status != Status::more || state_ == State::header) return status;
    }
    if (state_ == State::arguments) {
      switch (arguments_.read(input, sink)) {
        case JsonScanner::Status::more:
          return Status::more;
        case JsonScanner::Status::bad:
          return Status::failed;
        case JsonScanner::Status::done:
          sink.end_call(arguments_.complete(), id_);
          state_ = State::close;
      }
    }
    return read_close(input);
  }

 private:
  enum class State { header, arguments, close };

  Status read_header(AnswerInput& input, AnswerSink& sink) {
    if (marks_.or_json) {
      const std::string_view text = input.unread().substr(count_spaces(input.unread()));
      if (text.empty()) return Status::more;
      if (text.front() == '[' || text.front() == '{') {
        json_ = make_reader(JsonCallMarks{}, tools_);
        return Status::more;
      }
    }
    size_t end = 0;
    const Match ends = input.find_header_end(marks_.name_end, end);
    if (ends != Match::yes) return ends == Match::no ? Status::failed : Status::more;
    std::string name = take_parts(trimmed(input.unread().substr(0, end)));
    const bool content = marks_.all_is_content && name == "all";
    if (!content && !is_tool_name(name)) return Status::failed;
    input.skip(end + marks_.name_end.size());
    input.commit();
    if (content) {
      sink.mark();
      return Status::done;
    }
    sink.begin_call(std::move(name), id_);
    state_ = State::arguments;
    return Status::more;
  }

  // The header's name; its id goes to id_.
  std::string take_parts(std::string_view header) {
    using Parts = HeaderCallMarks::Parts;
    if (marks_.parts == Parts::numbered) {
      constexpr std::string_view kScope = "functions.";
      id_ = header;
      if (header.starts_with(kScope)) header.remove_prefix(kScope.size());
      return std::string(header.substr(0, header.rfind(':')));
    }
    const size_t between =
        marks_.between.empty() ? std::string_view::npos : header.find(marks_.between);
    if (between == std::string_view::npos) return std::string(header);
    const std::string_view first = trimmed(header.substr(0, between));
    const std::string_view second = trimmed(header.substr(between + marks_.between.size()));
    if (marks_.parts == Parts::name_id) id_ = second;
    if (marks_.parts == Parts::id_name) id_ = first;
    return std::string(marks_.parts == Parts::name_id ? first : second);
  }

  // The call is whole: a closing mark that is missing takes nothing away.
  Status read_close(AnswerInput& input) const {
    if (marks_.close.empty()) return Status::done;
    input.skip_spaces();
    const Match closes = match(input.unread(), marks_.close);
    if (closes == Match::partial && !input.ended()) return Status::more;
    if (closes == Match::yes) input.skip(marks_.close.size());
    return Status::done;
  }

  const HeaderCallMarks marks_;
  const ToolTypes& tools_;
  State state_ = State::header;
  std::unique_ptr<SegmentReader> json_;
  std::string id_;
  JsonArguments arguments_;
};
}  // namespace

std::unique_ptr<SegmentReader> make_reader(const HeaderCallMarks& marks, const ToolTypes& tools) {
  return std::make_unique<HeaderCalls>(marks, tools);
}

}  // namespace hwtv::text
