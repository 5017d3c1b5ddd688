// An answer of several messages, each with a header that says to whom it goes: gpt-oss, Muse.
#include <string>
#include <utility>

#include "text/json_arguments.h"
#include "text/segment_reader.h"

namespace hwtv::text {

namespace {
// The word behind `lead`; empty: there is none.
std::string_view word_after(std::string_view header, std::string_view lead) {
  const size_t at = header.find(lead);
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + lead.size());
  return header.substr(0, header.find_first_of(" \t\r\n<"));
}

class MessageHeader final : public SegmentReader {
 public:
  explicit MessageHeader(MessageMarks marks) : marks_(marks) {}

  Status read(AnswerInput& input, AnswerSink& sink) override {
    if (!in_call_) {
      const Status status = read_header(input, sink);
      if (!in_call_) return status;
    }
    switch (arguments_.read(input, sink)) {
      case JsonScanner::Status::more:
        return Status::more;
      case JsonScanner::Status::bad:
        return Status::failed;
      case JsonScanner::Status::done:
        break;
    }
    sink.end_call(arguments_.complete());
    return Status::done;
  }

 private:
  Status read_header(AnswerInput& input, AnswerSink& sink) {
    size_t end = 0;
    const Match ends = input.find_header_end(marks_.header_end, end);
    if (ends != Match::yes) return ends == Match::no ? Status::failed : Status::more;
    const std::string header(input.unread().substr(0, end));
    input.skip(end + marks_.header_end.size());
    input.commit();
    sink.mark();
    std::string_view recipient = word_after(header, "to=");
    if (recipient == "self") return Status::reasoning;
    if (recipient.empty() || !marks_.json_calls) {
      return word_after(header, "<|channel|>") == "analysis" ? Status::reasoning : Status::done;
    }
    constexpr std::string_view kScope = "functions.";
    if (recipient.starts_with(kScope)) recipient.remove_prefix(kScope.size());
    if (!is_tool_name(recipient)) return Status::done;
    sink.begin_call(std::string(recipient), {});
    in_call_ = true;
    return Status::more;
  }

  const MessageMarks marks_;
  JsonArguments arguments_;
  bool in_call_ = false;
};
}  // namespace

std::unique_ptr<SegmentReader> make_reader(const MessageMarks& marks, const ToolTypes&) {
  return std::make_unique<MessageHeader>(marks);
}

}  // namespace hwtv::text
