// What reads a segment of an answer, such as a tool call, piece by piece; and the text it reads.
// Private to the answer parser.
#pragma once
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/answer_format.h"
#include "text/answer_sink.h"

namespace hwtv::text {

constexpr size_t kHeaderBytesMax = 512;  // a name, an id; longer, it is none

enum class Match { no, partial, yes };

// Does `text` begin with `mark`?  partial: it may, once more text is here.
Match match(std::string_view text, std::string_view mark);

size_t count_spaces(std::string_view text);

// The answer's text.  Read bytes stay until they are committed: until then they can come back as
// content.
class AnswerInput {
 public:
  void push(std::string_view text) { text_ += text; }
  void end() { ended_ = true; }
  bool ended() const { return ended_; }

  std::string_view unread() const { return std::string_view(text_).substr(at_); }
  void skip(size_t n_bytes) { at_ += n_bytes; }
  size_t position() const { return dropped_ + at_; }  // in bytes of the answer
  void skip_spaces() { at_ += count_spaces(unread()); }
  // What was read is accounted for.
  void commit();
  // What was read and not committed; now it is.
  std::string take_uncommitted();

  // Where in unread() `mark` first begins; npos: nowhere yet.  A search goes on where the last one
  // for the same mark ended, so that bytes are looked at once.  Requires: `mark` is a literal.
  size_t find(std::string_view mark);
  // The same for the end of a header, which is at most kHeaderBytesMax long: partial: it may still
  // come; no: the header is too long, however the text was cut into pieces.
  Match find_header_end(std::string_view mark, size_t& end);

 private:
  std::string text_;
  size_t at_ = 0, committed_ = 0;
  size_t dropped_ = 0;  // bytes of the answer before text_
  bool ended_ = false;
  std::vector<std::pair<const char*, size_t>> searched_;  // mark, bytes of the answer
};

// What the tools' schemas say about their arguments.
class ToolTypes {
 public:
  explicit ToolTypes(const std::string& tools_json);

  bool knows(std::string_view tool) const { return tools_.contains(std::string(tool)); }
  // The schema of an argument, null where there is none.
  const nlohmann::json* parameter(std::string_view tool, std::string_view name) const;

 private:
  nlohmann::json tools_;  // name -> {parameter -> schema}
};

// The JSON of an argument that is written as bare text: a string where the schema says so or where
// the text is no JSON or Python literal.  `schema` may be null.
std::string bare_value_to_json(std::string_view text, const nlohmann::json* schema);

class SegmentReader {
 public:
  // reasoning: what follows is reasoning.  failed: what is not committed is content.
  enum class Status { more, done, failed, reasoning };

  virtual ~SegmentReader() = default;
  // Reads on.  With input.ended(), `more` means that the segment is cut off.
  virtual Status read(AnswerInput& input, AnswerSink& sink) = 0;
};

std::unique_ptr<SegmentReader> make_reader(const JsonCallMarks& marks, const ToolTypes& tools);
std::unique_ptr<SegmentReader> make_reader(const HeaderCallMarks& marks, const ToolTypes& tools);
std::unique_ptr<SegmentReader> make_reader(const ParameterCallMarks& marks, const ToolTypes& tools);
std::unique_ptr<SegmentReader> make_reader(const PythonCallMarks& marks, const ToolTypes& tools);
std::unique_ptr<SegmentReader> make_reader(const QuoteMarkCallMarks& marks, const ToolTypes& tools);
std::unique_ptr<SegmentReader> make_reader(const TreeCallMarks& marks, const ToolTypes& tools);
std::unique_ptr<SegmentReader> make_reader(const MessageMarks& marks, const ToolTypes& tools);

// A name that a tool may have: no space, no bracket, no quote.
bool is_tool_name(std::string_view name);

}  // namespace hwtv::text
