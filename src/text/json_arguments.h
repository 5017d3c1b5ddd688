// The arguments of a call as one JSON value, sent on as they arrive.  Private to the answer parser.
#pragma once
#include <string>
#include <string_view>

#include "text/answer_sink.h"
#include "text/json_scanner.h"
#include "text/segment_reader.h"

namespace hwtv::text {

// Some templates write the arguments as a string that holds their JSON: it is unwrapped.
class JsonArguments {
 public:
  // Reads on, and commits what it sent.  With input.ended(), `more` means that it is cut off.
  JsonScanner::Status read(AnswerInput& input, AnswerSink& sink);
  // The same for text that was kept.
  void read_kept(std::string_view text, AnswerSink& sink);

  // Is it one whole JSON value, also inside of the string?
  bool complete() const;

 private:
  void send(std::string_view text, AnswerSink& sink);
  void unescape(std::string_view text, std::string& out);
  bool unescape_one(std::string& out);

  JsonScanner scanner_, inner_;
  bool begun_ = false, wrapped_ = false, unwrapped_bad_ = false;
  std::string escape_;  // so far, from its backslash on
};

}  // namespace hwtv::text
