// An answer put together again from its deltas, and checks that the deltas keep their order.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "text/answer_parser.h"

namespace hwtv::text {

struct ParsedCall {
  std::string name, id, arguments;
  bool ended = false, complete = false;
  bool operator==(const ParsedCall&) const = default;
};

struct ParsedAnswer {
  std::string content, reasoning;
  std::vector<ParsedCall> calls;
  bool operator==(const ParsedAnswer&) const = default;

  // Throws std::logic_error where deltas are out of order.
  void add(const std::vector<AnswerDelta>& deltas) {
    for (const AnswerDelta& delta : deltas) {
      switch (delta.kind) {
        case AnswerDelta::Kind::content:
          content += delta.text;
          break;
        case AnswerDelta::Kind::reasoning:
          reasoning += delta.text;
          break;
        case AnswerDelta::Kind::call_begin:
          if (delta.call != calls.size()) throw std::logic_error("a call's number");
          if (!calls.empty() && !calls.back().ended) throw std::logic_error("a call in a call");
          calls.push_back({delta.text, delta.id, {}});
          break;
        default:
          add_to_call(delta);
      }
    }
  }

 private:
  void add_to_call(const AnswerDelta& delta) {
    if (delta.call + 1 != calls.size() || calls.back().ended) {
      throw std::logic_error("no such call is open");
    }
    ParsedCall& call = calls.back();
    if (delta.kind == AnswerDelta::Kind::call_arguments) {
      call.arguments += delta.text;
      return;
    }
    call.ended = true;
    call.complete = delta.complete;
    if (!delta.id.empty()) call.id = delta.id;
  }
};

// `answer` in pieces of `n_bytes` bytes.
inline ParsedAnswer parse_in_pieces(const AnswerFormat& format, std::string_view prompt,
                                    const std::string& tools, std::string_view answer,
                                    size_t n_bytes) {
  AnswerParser parser(format, prompt, tools);
  ParsedAnswer parsed;
  for (; !answer.empty(); answer.remove_prefix(std::min(n_bytes, answer.size()))) {
    parsed.add(parser.push(answer.substr(0, n_bytes)));
  }
  parsed.add(parser.finish());
  return parsed;
}

}  // namespace hwtv::text
