// One prompt to one answer on a session: streams the text, obeys Ctrl-C, keeps what the account
// needs.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/account.h"
#include "app/session.h"

namespace hwtv::app {

struct AnswerRequest {
  std::vector<int32_t> prompt;
  int64_t n_tokens_max = 0;
  engine::SamplingParams sampling;
  std::vector<std::string> stops;
  int64_t n_logprobs = 0;
  bool keep = false;                                      // keep the cache for a next turn
  std::optional<engine::SequenceId> continues;            // the turn before
  std::function<Result<void>(std::string_view)> on_text;  // whole characters; may be empty
};

struct AnswerLogprobs {
  int32_t token;
  float logprob;
  std::vector<engine::TokenLogprob> top;
};

struct Answer {
  engine::SequenceId id = 0;
  std::string text;
  std::vector<int32_t> tokens;
  std::vector<AnswerLogprobs> logprobs;
  engine::FinishReason finish = engine::FinishReason::stop;
  AnswerFacts facts;
};

// Errors: invalid_request, device_lost; what on_text returns.  Ctrl-C ends the answer, not the
// program; a second one ends the program.
Result<Answer> answer_prompt(Session& session, const AnswerRequest& request);

// The asked number of answer tokens, clipped to the room that the context leaves.
// Errors: invalid_request, when not even one token fits: with both numbers and one that works.
Result<int64_t> clip_answer(const Session& session, int64_t n_prompt, int64_t n_asked);

}  // namespace hwtv::app
