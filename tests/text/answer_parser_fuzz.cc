// Any bytes as an answer, in any pieces, in every format: deltas in order, the same whatever the
// pieces, and arguments that are JSON where a call says that it is complete.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tests/text/parsed_answer.h"
#include "text/unicode.h"

namespace {
using hwtv::text::AnswerFormat;
using hwtv::text::ParsedAnswer;

// A template's text for each format; the first byte of the input picks one.
constexpr std::string_view kTemplates[] = {"<|channel|>analysis",
                                           "<atem:invoke",
                                           "<|tool_call>call:",
                                           "<|open|>",
                                           "<|tool_call_argument_begin|>",
                                           "<|tool_call:begin|>",
                                           "]<]minimax[>[",
                                           "minimax:tool_call",
                                           ":opensource tool_sep",
                                           "｜DSML｜",
                                           "tool▁sep ```json",
                                           "tool▁sep",
                                           "seed:tool_call",
                                           "<function name=\" <param name=\"",
                                           "<function= <parameter=",
                                           "<function=",
                                           ">>> all",
                                           "<arg_key>",
                                           "<|tools_prefix|>",
                                           "<|tool_list_start|>",
                                           "<|START_ACTION|>",
                                           "Action: ```json tool_name",
                                           "<|function_call|>",
                                           "<TOOLCALL>",
                                           "[TOOL_CALLS]",
                                           "<|tool_call|>",
                                           "functools[",
                                           "<|python_tag|>",
                                           "<tool_calls>",
                                           "<tool_call>",
                                           ""};

constexpr std::string_view kTools =
    R"([{"name": "f", "parameters": {"type": "object", "properties": {
        "s": {"type": "string"}, "n": {"type": "integer"}, "l": {"type": "array"}}}}])";

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const int n = hwtv::text::strict_utf8_length(text);
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const AnswerFormat& format =
      hwtv::text::choose_answer_format(kTemplates[data[0] % std::size(kTemplates)]).format;
  const size_t n_bytes = data[1] % 32 + size_t{1};
  const std::string_view answer(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string tools(kTools);
  const ParsedAnswer whole = parse_in_pieces(format, "", tools, answer, answer.size() + 1);
  if (!(parse_in_pieces(format, "", tools, answer, n_bytes) == whole)) std::abort();
  for (const auto& call : whole.calls) {
    if (!call.ended) std::abort();
    // Half a pair of surrogates is JSON, but no text that nlohmann takes.
    const bool half = call.arguments.find("\\u") != std::string::npos;
    if (!call.complete || half || !is_utf8(answer)) continue;
    if (!nlohmann::json::accept(call.arguments)) std::abort();
  }
  return 0;
}
