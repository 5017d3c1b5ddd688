#include "text/answer_parser.h"

#include <algorithm>
#include <utility>

#include "text/unicode.h"

namespace hwtv::text {

namespace {
std::string_view trimmed_end(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

// How many bytes at the end of `text` begin a character that is not whole.
size_t half_character(std::string_view text) {
  for (size_t n = 1; n <= std::min<size_t>(text.size(), 3); ++n) {
    const auto byte = static_cast<unsigned char>(text[text.size() - n]);
    if (byte < 0x80) return 0;
    if (byte >= 0xC0) return strict_utf8_length(text.substr(text.size() - n)) == 0 ? n : 0;
  }
  return 0;
}
}  // namespace

AnswerParser::AnswerParser(const AnswerFormat& format, std::string_view prompt,
                           const std::string& tools_json)
    : format_(format), tools_(tools_json) {
  const auto add = [&](std::string_view text, Mark::Kind kind, size_t index) {
    if (text.empty()) return;
    marks_.push_back({text, kind, index});
    first_bytes_[static_cast<unsigned char>(text.front())] = true;
  };
  for (size_t i = 0; i < format.reasoning.size(); ++i) {
    add(format.reasoning[i].open, Mark::Kind::reasoning, i);
  }
  for (const ReasoningMarks& marks : format.reasoning) add(marks.close, Mark::Kind::stray_close, 0);
  for (size_t i = 0; i < format.segments.size(); ++i) {
    add(format.segments[i].open, Mark::Kind::segment, i);
  }
  for (size_t i = 0; i < format.structure.size(); ++i) {
    add(format.structure[i], Mark::Kind::structure, i);
  }
  start_inside(prompt);
}

void AnswerParser::start_inside(std::string_view prompt) {
  prompt = trimmed_end(prompt);
  for (const Mark& mark : marks_) {
    const bool segment = mark.kind == Mark::Kind::segment;
    if (!segment && mark.kind != Mark::Kind::reasoning) continue;
    if (segment && format_.segments[mark.index].keep_open) continue;
    if (prompt.ends_with(trimmed_end(mark.text))) {
      return open(mark);
    }
  }
}

std::vector<AnswerDelta> AnswerParser::push(std::string_view text) {
  half_ += text;
  const size_t n_half = half_character(half_);
  input_.push(std::string_view(half_).substr(0, half_.size() - n_half));
  half_.erase(0, half_.size() - n_half);
  run();
  return sink_.take();
}

std::vector<AnswerDelta> AnswerParser::finish() {
  input_.push(std::exchange(half_, {}));
  input_.end();
  run();
  sink_.finish();
  return sink_.take();
}

void AnswerParser::run() {
  while (step()) {
  }
}

// Goes on as far as one mark; false: more text is needed.
bool AnswerParser::step() {
  switch (mode_) {
    case Mode::content:
      return scan_content();
    case Mode::reasoning:
      return scan_reasoning();
    case Mode::segment:
      return read_segment();
  }
  return false;
}

bool AnswerParser::may_open(const Mark& mark, bool fresh) const {
  if (mark.kind == Mark::Kind::segment) return fresh || !format_.segments[mark.index].at_start;
  return fresh || mark.kind == Mark::Kind::structure;
}

// The first mark.  Of several at one place the longest counts: a longer one that may yet come is
// waited for.
AnswerParser::Found AnswerParser::find_mark(std::string_view text) const {
  bool fresh = fresh_;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (first_bytes_[static_cast<unsigned char>(c)]) {
      const Mark* best = nullptr;
      bool waits = false;
      for (const Mark& mark : marks_) {
        if (!may_open(mark, fresh)) continue;
        const Match is = match(text.substr(at), mark.text);
        if (is == Match::partial && !input_.ended()) waits = true;
        if (is == Match::yes && (best == nullptr || mark.text.size() > best->text.size())) {
          best = &mark;
        }
      }
      if (waits) return {at, nullptr};
      if (best != nullptr) return {at, best};
    }
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') fresh = false;
  }
  return {text.size(), nullptr};
}

void AnswerParser::add_content(size_t n_bytes) {
  const std::string_view text = input_.unread().substr(0, n_bytes);
  if (count_spaces(text) < text.size()) fresh_ = false;
  sink_.content(text);
  input_.skip(n_bytes);
  input_.commit();
}

bool AnswerParser::scan_content() {
  const Found found = find_mark(input_.unread());
  add_content(found.at);
  if (found.mark == nullptr) return false;
  const bool kept =
      found.mark->kind == Mark::Kind::segment && format_.segments[found.mark->index].keep_open;
  if (!kept) input_.skip(found.mark->text.size());
  open(*found.mark);
  return true;
}

void AnswerParser::open(const Mark& mark) {
  if (mark.kind == Mark::Kind::segment) {
    segment_ = &format_.segments[mark.index];
    reader_ =
        std::visit([&](const auto& marks) { return make_reader(marks, tools_); }, segment_->marks);
    segment_begin_ = input_.position();
    mode_ = Mode::segment;
    return;
  }
  input_.commit();
  sink_.mark();
  fresh_ = true;
  if (mark.kind != Mark::Kind::reasoning) return;
  reasoning_close_ = format_.reasoning[mark.index].close;
  mode_ = Mode::reasoning;
}

bool AnswerParser::scan_reasoning() {
  const std::string_view text = input_.unread();
  size_t end = input_.find(reasoning_close_);
  const bool closed = end != std::string_view::npos;
  if (!closed) {  // all but what may begin the mark
    end = text.size();
    for (size_t n = std::min(text.size(), reasoning_close_.size() - 1); n > 0; --n) {
      if (input_.ended() || !text.ends_with(reasoning_close_.substr(0, n))) continue;
      end = text.size() - n;
      break;
    }
  }
  sink_.reasoning(text.substr(0, end));
  input_.skip(end + (closed ? reasoning_close_.size() : 0));
  input_.commit();
  if (!closed) return false;
  sink_.mark();
  fresh_ = true;
  mode_ = Mode::content;
  return true;
}

bool AnswerParser::read_segment() {
  const SegmentReader::Status status = reader_->read(input_, sink_);
  using Status = SegmentReader::Status;
  if (status == Status::more && !input_.ended()) return false;
  mode_ = Mode::content;
  fresh_ = true;
  switch (status) {
    case Status::done:
      input_.commit();
      sink_.mark();
      break;
    case Status::reasoning:
      reasoning_close_ = format_.reasoning.front().close;
      mode_ = Mode::reasoning;
      break;
    case Status::more:  // cut off: there is nothing more to look for
      input_.skip(input_.unread().size());
      give_back();
      break;
    case Status::failed:
      if (segment_->keep_open && input_.position() == segment_begin_) {
        input_.skip(segment_->open.size());
      }
      give_back();
      break;
  }
  return true;
}

void AnswerParser::give_back() {
  sink_.end_call(false);
  const std::string text = input_.take_uncommitted();
  if (count_spaces(text) < text.size()) fresh_ = false;
  sink_.content(text);
}

}  // namespace hwtv::text
