#include "text/answer_sink.h"

#include <utility>

namespace hwtv::text {

namespace {
constexpr std::string_view kSpaces = " \t\r\n";
}

void AnswerSink::append(AnswerDelta::Kind kind, std::string_view text) {
  if (text.empty()) return;
  const size_t call = kind == AnswerDelta::Kind::call_arguments ? n_calls_ - 1 : 0;
  if (!deltas_.empty() && deltas_.back().kind == kind && deltas_.back().call == call) {
    deltas_.back().text += text;
  } else {
    deltas_.push_back({kind, call, std::string(text)});
  }
}

void AnswerSink::begin_call(std::string name, std::string id) {
  mark();
  deltas_.push_back({AnswerDelta::Kind::call_begin, n_calls_++, std::move(name), std::move(id)});
  in_call_ = true;
}

void AnswerSink::arguments(std::string_view json) {
  append(AnswerDelta::Kind::call_arguments, json);
}

void AnswerSink::end_call(bool complete, std::string id) {
  if (!std::exchange(in_call_, false)) return;
  deltas_.push_back({AnswerDelta::Kind::call_end, n_calls_ - 1, {}, std::move(id), complete});
}

void AnswerSink::finish() {
  reasoning_.finish(AnswerDelta::Kind::reasoning, *this);
  content_.finish(AnswerDelta::Kind::content, *this);
}

void AnswerSink::Trimmed::add(std::string_view text, AnswerDelta::Kind kind, AnswerSink& sink) {
  const size_t last = text.find_last_not_of(kSpaces);
  if (last == std::string_view::npos) {
    spaces_ += text;
    return;
  }
  // Spaces in front of the first text are the format's where a mark came first.
  if (!begun_ && marked_) {
    spaces_.clear();
    text.remove_prefix(text.find_first_not_of(kSpaces));
  }
  sink.append(kind, spaces_);
  const size_t end = text.find_last_not_of(kSpaces) + 1;
  sink.append(kind, text.substr(0, end));
  spaces_ = text.substr(end);
  begun_ = true;
  marked_ = false;
}

void AnswerSink::Trimmed::mark() { marked_ = true; }

void AnswerSink::Trimmed::finish(AnswerDelta::Kind kind, AnswerSink& sink) {
  if (!marked_) sink.append(kind, spaces_);
  spaces_.clear();
}

}  // namespace hwtv::text
