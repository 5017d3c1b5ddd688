// Any bytes as a chat template, over a fixed conversation: an answer within the limits, never a
// crash or a hang.
#include <cstdint>
#include <string_view>

#include "text/chat_template.h"

namespace {
hwtv::text::ChatTemplateInput conversation() {
  hwtv::text::ChatTemplateInput input;
  input.messages_json =
      R"([{"role": "system", "content": "Be brief."},
          {"role": "user", "content": [{"type": "text", "text": "Zürich 北京?"}, {"type": "image"}]},
          {"role": "assistant", "content": null, "reasoning_content": "Hm.", "tool_calls": [
            {"id": "call00001", "type": "function",
             "function": {"name": "f", "arguments": {"a": 1, "b": [true, 1.5, "x"]}}}]},
          {"role": "tool", "tool_call_id": "call00001", "content": "21"}])";
  input.tools_json = R"([{"type": "function", "function": {"name": "f", "description": "d",
      "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}}])";
  input.extra_json = R"({"i": 7, "f": 2.5, "s": "Hello", "l": [3, 1, 2], "d": {"b": 1, "a": "x"}})";
  input.special_tokens = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};
  return input;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const hwtv::text::ChatTemplateInput input = conversation();
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  if (const auto parsed = hwtv::text::ChatTemplate::parse(source)) {
    const hwtv::text::ChatTemplateLimits limits{200'000, size_t{16} << 20, size_t{4} << 20};
    (void)parsed->render(input, limits);
  }
  return 0;
}
