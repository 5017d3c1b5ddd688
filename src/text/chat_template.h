// A model's own chat template (GGUF's `tokenizer.chat_template`), rendered as Hugging Face
// transformers renders it.  For whoever turns a conversation into a prompt: app and serve.
#pragma once
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace hwtv::text {

namespace jinja {
struct Template;
}

struct ChatMessage {
  std::string role;     // "system", "user", "assistant", "tool", ...
  std::string content;  // UTF-8
};

// The JSON of messages that have only a role and a text, for ChatTemplateInput::messages_json.
std::string messages_to_json(std::span<const ChatMessage> messages);

struct ChatTemplateInput {
  std::string messages_json;   // a JSON array of messages, in OpenAI's form
  std::string tools_json;      // a JSON array of tool schemas; empty: the template sees none
  std::string documents_json;  // a JSON array of documents; empty: the template sees none
  bool add_generation_prompt = true;
  // What the tokenizer calls them: {"bos_token", "<s>"}, {"eos_token", "</s>"}, ...
  std::map<std::string, std::string> special_tokens;
  // A JSON object of further variables, such as {"enable_thinking": false}; empty: none.  They
  // win over special tokens of the same name.
  std::string extra_json;
  std::tm now{};  // what strftime_now() prints
};

// What one rendering may use.  A template comes out of a downloaded file: it is not trusted.
struct ChatTemplateLimits {
  std::uint64_t steps_max = 20'000'000;  // expressions evaluated, or 32 bytes of text worked on
  std::size_t live_bytes_max = std::size_t{256} << 20;  // values alive at one time
  std::size_t output_bytes_max = std::size_t{64} << 20;
};

class ChatTemplate {
 public:
  // Errors: invalid_request (not a Jinja template; `what` names line and column), unsupported (a
  // tag that only web sites use: include, import, extends, block, autoescape).
  static Result<ChatTemplate> parse(std::string_view source);

  // The prompt.  Errors: invalid_request (the JSON is none, or the template refuses the
  // conversation; `what` names line and column and carries the template's own message),
  // unsupported (a limit was reached, a rarely used filter).  Safe to call from several threads.
  Result<std::string> render(const ChatTemplateInput& input,
                             const ChatTemplateLimits& limits = {}) const;

 private:
  explicit ChatTemplate(std::shared_ptr<const jinja::Template> parsed);

  std::shared_ptr<const jinja::Template> parsed_;
};

}  // namespace hwtv::text
