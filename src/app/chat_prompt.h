// Conversations as the model was trained to read them: its chat template, then its tokenizer.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/session.h"
#include "text/chat_template.h"

namespace hwtv::app {

class ChatPrompt {
 public:
  // The session must outlive it.  Errors: invalid_request (the model has no template: says what to
  // do), what the template's parser says.
  static Result<ChatPrompt> of(const Session& session);

  // The whole conversation's tokens, BOS included where the model wants one.  `open_answer` adds the
  // beginning of the assistant's turn.  Errors: what the template raises.
  Result<std::vector<int32_t>> tokens(const std::vector<text::ChatMessage>& messages,
                                      bool open_answer) const;

 private:
  ChatPrompt(const Session& session, text::ChatTemplate parsed);

  const Session* session_;
  text::ChatTemplate template_;
};

// Prepends BOS where the model wants one and `tokens` do not begin with it.
std::vector<int32_t> with_bos(const text::Tokenizer& tokenizer, std::vector<int32_t> tokens);

}  // namespace hwtv::app
