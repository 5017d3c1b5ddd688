// Conversations as the model was trained to read them: its chat template, then its tokenizer.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session.h"
#include "text/chat_template.h"

namespace hwtv::app {

class ChatPrompt {
 public:
  // The session must outlive it.  Errors: invalid_request (the model has no template: says what to
  // do), what the template's parser says.
  static Result<ChatPrompt> of(const Session& session);
  // The template that --chat-template names, or the model's own where it names none.
  static Result<ChatPrompt> choose(const Session& session, const std::string& name_or_file);
  // The same with a template's source.
  static Result<ChatPrompt> with_template(const Session& session, std::string_view source);

  // The whole conversation's tokens, BOS included where the model wants one.  `open_answer` adds
  // the beginning of the assistant's turn.  Errors: what the template raises.
  Result<std::vector<int32_t>> tokens(const std::vector<text::ChatMessage>& messages,
                                      bool open_answer) const;

 private:
  ChatPrompt(const Session& session, text::ChatTemplate parsed);

  const Session* session_;
  text::ChatTemplate template_;
};

// The source of a template that this program knows by name, or of a file.  Errors: invalid_request,
// io.
Result<std::string> template_source(const std::string& name_or_file);

// Prepends BOS where the model wants one and `tokens` do not begin with it.
std::vector<int32_t> with_bos(const text::Tokenizer& tokenizer, std::vector<int32_t> tokens);

}  // namespace hwtv::app
