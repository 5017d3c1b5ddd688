// Where an answer's parts go: content and reasoning without the spaces beside marks, calls
// numbered.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hwtv::text {

struct AnswerDelta {
  enum class Kind { content, reasoning, call_begin, call_arguments, call_end };
  Kind kind;
  size_t call = 0;  // which one, from 0
  std::string text =
      {};               // content, reasoning, a piece of the arguments' JSON; call_begin: the name
  std::string id = {};  // call_begin, or call_end where the format writes it last; may be empty
  bool complete = false;  // call_end: the arguments are whole
};

class AnswerSink {
 public:
  void content(std::string_view text) { content_.add(text, AnswerDelta::Kind::content, *this); }
  void reasoning(std::string_view text) {
    reasoning_.add(text, AnswerDelta::Kind::reasoning, *this);
  }
  // A mark of the format stands here: spaces beside it are none of the text.
  void mark() {
    content_.mark();
    reasoning_.mark();
  }
  void begin_call(std::string name, std::string id);
  void arguments(std::string_view json);
  // No effect where no call is open.
  void end_call(bool complete, std::string id = {});
  // Spaces that turned out to belong to the text.
  void finish();

  std::vector<AnswerDelta> take() { return std::exchange(deltas_, {}); }

 private:
  // Holds spaces back until it is known what follows them.
  class Trimmed {
   public:
    void add(std::string_view text, AnswerDelta::Kind kind, AnswerSink& sink);
    void mark();
    void finish(AnswerDelta::Kind kind, AnswerSink& sink);

   private:
    std::string spaces_;
    bool begun_ = false;   // some text that is no space
    bool marked_ = false;  // since the last text
  };

  void append(AnswerDelta::Kind kind, std::string_view text);

  std::vector<AnswerDelta> deltas_;
  Trimmed content_, reasoning_;
  size_t n_calls_ = 0;
  bool in_call_ = false;
};

}  // namespace hwtv::text
