// A model's answer, taken apart as it arrives: content, reasoning and tool calls.  For serve and
// app; the text comes from a StreamDetokenizer that renders special tokens.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/answer_format.h"
#include "text/answer_sink.h"
#include "text/segment_reader.h"

namespace hwtv::text {

// Nothing is lost: a call that is none, or half of one, comes back as content with its marks.
// Only the marks of the format and the spaces beside them are dropped.  Time is linear in the
// answer's length.
class AnswerParser {
 public:
  // `prompt`: what the chat template rendered; where its end opens reasoning or a segment, the
  // answer starts inside.  `tools_json`: a JSON array of tool schemas, or empty; it tells an
  // argument "5" from 5 where the format writes both alike.
  AnswerParser(const AnswerFormat& format, std::string_view prompt, const std::string& tools_json);

  // What became certain with this text (UTF-8, cut anywhere).
  std::vector<AnswerDelta> push(std::string_view text);

  // The rest.  Call once, at the end of the answer.
  std::vector<AnswerDelta> finish();

 private:
  enum class Mode { content, reasoning, segment };
  struct Mark {
    std::string_view text;
    // stray_close: ends reasoning that never began, as where thinking is off.
    enum class Kind { reasoning, stray_close, segment, structure } kind;
    size_t index;  // into the format's list of that kind
  };
  struct Found {
    size_t at;         // where the mark begins, or where one may begin
    const Mark* mark;  // null: none is whole
  };

  void run();
  bool step();
  bool scan_content();
  bool scan_reasoning();
  bool read_segment();
  void give_back();
  void open(const Mark& mark);
  void start_inside(std::string_view prompt);
  Found find_mark(std::string_view text) const;
  bool may_open(const Mark& mark, bool fresh) const;
  void add_content(size_t n_bytes);

  const AnswerFormat& format_;
  ToolTypes tools_;
  std::vector<Mark> marks_;
  bool first_bytes_[256] = {};  // of the marks
  AnswerInput input_;
  AnswerSink sink_;
  Mode mode_ = Mode::content;
  std::string_view reasoning_close_;
  const Segment* segment_ = nullptr;  // which reader_ reads
  size_t segment_begin_ = 0;          // where it began, in bytes of the answer
  std::unique_ptr<SegmentReader> reader_;
  bool fresh_ = true;  // nothing but spaces since the start or the last mark
  std::string half_;   // of a character, at most 3 bytes
};

}  // namespace hwtv::text
