#include "text/chat_template.h"

#include <fmt/format.h>

#include <limits>
#include <new>

#include "text/jinja_interpreter.h"
#include "text/jinja_lexer.h"
#include "text/jinja_parser.h"
#include "text/unicode.h"

namespace hwtv::text {

namespace {
using jinja::Position;
using jinja::Value;

tl::unexpected<Error> fail_at(const jinja::Failure& failure, Position at) {
  return fail(
      failure.code,
      fmt::format("chat template, line {} column {}: {}", at.line, at.column, failure.message),
      failure.code == ErrorCode::unsupported
          ? "choose another chat template, or write the prompt without one"
          : "send the conversation in the form that this template accepts, or choose "
            "another template");
}

// The byte at which `text` stops being UTF-8; its size if it does not.
size_t valid_prefix(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const int n = strict_utf8_length(text.substr(at));
    if (n <= 0) return at;
    at += static_cast<size_t>(n);
  }
  return text.size();
}

// A token's text, each byte that is no UTF-8 replaced.
std::string clean_utf8(std::string text) {
  std::string out;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t n = valid_prefix(rest);
    out += rest.substr(0, n);
    if (n == rest.size()) break;
    append_utf8(kReplacement, out);
    rest.remove_prefix(n + 1);
  }
  return out;
}

Result<Value> optional_json(const std::string& json, std::string_view what) {
  if (json.empty()) return Value::none();
  return jinja::parse_json(json, what);
}

Result<jinja::Variables> variables_of(const ChatTemplateInput& input) {
  jinja::Variables variables;
  for (const auto& [name, text] : input.special_tokens) {
    variables[name] = Value::constant(clean_utf8(text));
  }
  HWTV_TRY(Value extra, optional_json(input.extra_json, "extra variables"));
  if (extra.is(jinja::Kind::dict)) {
    for (const auto& [name, value] : extra.dict().entries()) {
      variables[std::string(name.text())] = value;
    }
  } else if (!extra.is(jinja::Kind::none)) {
    return fail(ErrorCode::invalid_request,
                "the chat template's extra variables are no JSON object",
                "give them as in {\"enable_thinking\": false}");
  }
  HWTV_TRY(variables["messages"], jinja::parse_json(input.messages_json, "messages"));
  HWTV_TRY(variables["tools"], optional_json(input.tools_json, "tools"));
  HWTV_TRY(variables["documents"], optional_json(input.documents_json, "documents"));
  variables["add_generation_prompt"] = Value::boolean(input.add_generation_prompt);
  return variables;
}
}  // namespace

std::string messages_to_json(std::span<const ChatMessage> messages) {
  constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();
  jinja::Runtime runtime({kUnlimited, kUnlimited, kUnlimited}, {});
  std::vector<Value> list;
  for (const ChatMessage& message : messages) {
    auto dict = std::make_shared<jinja::Dict>(nullptr);
    dict->set(Value::constant("role"), Value::constant(clean_utf8(message.role)));
    dict->set(Value::constant("content"), Value::constant(clean_utf8(message.content)));
    list.push_back(Value::dict(std::move(dict)));
  }
  return jinja::to_json(runtime.list(std::move(list)), {}, runtime);
}

ChatTemplate::ChatTemplate(std::shared_ptr<const jinja::Template> parsed)
    : parsed_(std::move(parsed)) {}

Result<ChatTemplate> ChatTemplate::parse(std::string_view source) {
  constexpr size_t kSourceBytesMax = size_t{1} << 20;  // the longest known template has 17 KB
  if (source.size() > kSourceBytesMax) {
    return fail(ErrorCode::unsupported,
                fmt::format("the chat template has {} bytes, the limit is {}", source.size(),
                            kSourceBytesMax),
                "choose another chat template, or write the prompt without one");
  }
  if (const size_t n = valid_prefix(source); n < source.size()) {
    return fail(ErrorCode::invalid_request,
                fmt::format("the chat template is no UTF-8 at byte {}", n),
                "choose another chat template, or write the prompt without one");
  }
  try {
    return ChatTemplate(std::make_shared<const jinja::Template>(jinja::parse_template(source)));
  } catch (const jinja::SyntaxFailure& failure) {
    return fail_at(failure.failure, failure.at);
  }
}

Result<std::string> ChatTemplate::render(const ChatTemplateInput& input,
                                         const ChatTemplateLimits& limits) const {
  HWTV_TRY(const jinja::Variables variables, variables_of(input));
  jinja::Runtime runtime(limits, input.now);
  try {
    return jinja::Interpreter(*parsed_, variables, runtime).render();
  } catch (const jinja::Failure& failure) {
    return fail_at(failure, runtime.at);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "no memory to render the chat template",
                "free memory, or shorten the conversation");
  }
}

}  // namespace hwtv::text
