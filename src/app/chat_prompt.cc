#include "app/chat_prompt.h"

#include <ctime>
#include <utility>

namespace hwtv::app {

std::vector<int32_t> with_bos(const text::Tokenizer& tokenizer, std::vector<int32_t> tokens) {
  const std::optional<int32_t> bos = tokenizer.special_ids().bos;
  if (tokenizer.add_bos() && bos && (tokens.empty() || tokens.front() != *bos))
    tokens.insert(tokens.begin(), *bos);
  return tokens;
}

ChatPrompt::ChatPrompt(const Session& session, text::ChatTemplate parsed)
    : session_(&session), template_(std::move(parsed)) {}

Result<ChatPrompt> ChatPrompt::of(const Session& session) {
  HWTV_TRY(const auto source,
           session.model().file().get<std::string_view>("tokenizer.chat_template"));
  if (!source)
    return fail(ErrorCode::invalid_request, "the model has no chat template",
                "use --raw to give it the text as it is, or --chat-template NAME (such as chatml)");
  return with_template(session, *source);
}

Result<ChatPrompt> ChatPrompt::choose(const Session& session, const std::string& name_or_file) {
  if (name_or_file.empty()) return of(session);
  HWTV_TRY(const std::string source, template_source(name_or_file));
  return with_template(session, source);
}

Result<ChatPrompt> ChatPrompt::with_template(const Session& session, std::string_view source) {
  HWTV_TRY(text::ChatTemplate parsed, text::ChatTemplate::parse(source));
  return ChatPrompt(session, std::move(parsed));
}

Result<std::vector<int32_t>> ChatPrompt::tokens(const std::vector<text::ChatMessage>& messages,
                                                bool open_answer) const {
  const text::Tokenizer& tokenizer = session_->tokenizer();
  text::ChatTemplateInput input;
  input.messages_json = text::messages_to_json(messages);
  input.add_generation_prompt = open_answer;
  const auto name_token = [&](const char* name, std::optional<int32_t> id) {
    input.special_tokens[name] = id ? std::string(tokenizer.token_text(*id)) : "";
  };
  name_token("bos_token", tokenizer.special_ids().bos);
  name_token("eos_token", tokenizer.special_ids().eos);
  const std::time_t now = std::time(nullptr);
  ::localtime_r(&now, &input.now);
  HWTV_TRY(const std::string text, template_.render(input));
  return with_bos(tokenizer, tokenizer.encode(text, true));
}

}  // namespace hwtv::app
