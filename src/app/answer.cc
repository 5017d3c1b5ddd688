#include "app/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "app/interrupt.h"
#include "base/units.h"
#include "constrain/stop_strings.h"

namespace hwtv::app {
namespace {

// Takes the engine's events of one sequence apart.
class Collector {
 public:
  Collector(const AnswerRequest& request, std::shared_ptr<constrain::StopStrings> watch,
            Answer& answer)
      : request_(request), watch_(std::move(watch)), answer_(answer) {}

  Result<void> take(const engine::TokenEvent& event) {
    if (event.token) {
      answer_.tokens.push_back(*event.token);
      if (request_.n_logprobs > 0)
        answer_.logprobs.push_back(
            {*event.token, event.logprob, {event.top.begin(), event.top.end()}});
    }
    if (event.finish) {
      answer_.finish = *event.finish;
      watch_->finish();
    }
    return take_text();
  }

  Result<void> cancel() {
    answer_.finish = engine::FinishReason::cancelled;
    watch_->finish();
    return take_text();
  }

 private:
  Result<void> take_text() {
    const std::string text = watch_->take_text();
    answer_.text += text;
    if (text.empty() || !request_.on_text) return {};
    return request_.on_text(text);
  }

  const AnswerRequest& request_;
  std::shared_ptr<constrain::StopStrings> watch_;
  Answer& answer_;
};

engine::SequenceRequest sequence_request(const Session& session, const AnswerRequest& request,
                                         std::shared_ptr<constrain::StopStrings> watch) {
  engine::SequenceRequest made;
  made.prompt = request.prompt;
  made.adapters = session.adapters();
  made.n_tokens_max = request.n_tokens_max;
  made.sampling = request.sampling;
  made.end_tokens = session.tokenizer().end_of_generation_ids();
  made.stop_watch = std::move(watch);
  made.with_logprobs = request.n_logprobs > 0;
  made.n_logprobs = static_cast<int32_t>(request.n_logprobs);
  made.keep = request.keep;
  made.continues = request.continues;
  return made;
}

}  // namespace

Result<Answer> answer_prompt(Session& session, const AnswerRequest& request) {
  engine::Engine& engine = session.engine();
  auto watch = std::make_shared<constrain::StopStrings>(
      text::StreamDetokenizer(session.tokenizer(), {}), request.stops);
  Answer answer;
  answer.facts.before = session.recorder().totals();
  if (session.draft()) answer.facts.draft_before = session.draft()->totals();
  const double start_s = session.clock().now_s();
  HWTV_TRY(answer.id, engine.add(sequence_request(session, request, watch)));
  answer.facts.n_prompt = static_cast<int64_t>(request.prompt.size());
  answer.facts.n_reused = engine.n_reused_tokens(answer.id);
  Collector collector(request, watch, answer);
  const Interrupt interrupt;
  while (!engine.idle()) {
    if (interrupt.requested()) {
      engine.cancel(answer.id);
      HWTV_TRY_VOID(collector.cancel());
      break;
    }
    HWTV_TRY(const auto events, engine.step());
    for (const engine::TokenEvent& event : events) {
      if (answer.facts.first_token_s == 0)
        answer.facts.first_token_s = session.clock().now_s() - start_s;
      HWTV_TRY_VOID(collector.take(event));
    }
  }
  answer.facts.n_answer = static_cast<int64_t>(answer.tokens.size());
  answer.facts.answer_s = session.clock().now_s() - start_s;
  return answer;
}

Result<int64_t> clip_answer(const Session& session, int64_t n_prompt, int64_t n_asked) {
  if (n_asked < 1)
    return fail(ErrorCode::invalid_request, fmt::format("-n {} asks for no tokens", n_asked),
                "give -n a positive number");
  const int64_t context = session.engine().config().context_tokens_max;
  const int64_t trained = session.model().config().context_tokens_max;
  if (n_prompt + 1 > context)
    return fail(ErrorCode::invalid_request,
                fmt::format("the prompt has {} and the answer needs one, the context has {}",
                            format_tokens(n_prompt), context),
                n_prompt < trained
                    ? fmt::format("use --ctx {} or more, or a shorter prompt",
                                  std::min(trained, n_prompt + std::min<int64_t>(n_asked, 256)))
                    : fmt::format("the model was trained for {}: use a shorter prompt", trained));
  return std::min(n_asked, context - n_prompt);
}

}  // namespace hwtv::app
