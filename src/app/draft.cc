#include "app/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/model_cache.h"

namespace hwtv::app {
namespace {

Result<void> check_same_vocabulary(const text::Tokenizer& model, const text::Tokenizer& draft) {
  const char* advice = "use a draft of the model's own family, with the same tokenizer";
  if (model.vocab_size() != draft.vocab_size())
    return fail(ErrorCode::invalid_request,
                fmt::format("the draft has a vocabulary of {}, the model one of {}",
                            draft.vocab_size(), model.vocab_size()),
                advice);
  for (int32_t token = 0; token < model.vocab_size(); ++token)
    if (model.token_text(token) != draft.token_text(token))
      return fail(ErrorCode::invalid_request,
                  fmt::format("token {} is '{}' in the draft and '{}' in the model", token,
                              draft.token_text(token), model.token_text(token)),
                  advice);
  return {};
}

}  // namespace

Result<std::unique_ptr<Draft>> Draft::open(const std::string& name,
                                           const text::Tokenizer& tokenizer,
                                           int64_t context_tokens) {
  std::unique_ptr<Draft> draft(new Draft());
  HWTV_TRY(const std::string path, resolve_model(name));
  HWTV_TRY(gguf::File file, gguf::File::open(path));
  HWTV_TRY(const std::unique_ptr<text::Tokenizer> own, text::Tokenizer::from_gguf(file));
  HWTV_TRY_VOID(check_same_vocabulary(tokenizer, *own));
  HWTV_TRY(model::Model model, model::Model::from_file(std::move(file), {context_tokens}));
  draft->model_ = std::make_unique<model::Model>(std::move(model));
  return draft;
}

// A draft that was trained for less than the context guesses as far as it was.
engine::EngineConfig Draft::config_for(const engine::EngineConfig& target) const {
  engine::EngineConfig config = engine::DraftModel::config_for(target);
  config.context_tokens_max =
      std::min(config.context_tokens_max, model_->config().context_tokens_max);
  return config;
}

plan::MemoryPlan Draft::price(const ops::BackendSpec& backend,
                              const engine::EngineConfig& target) const {
  const plan::RuntimeShape runtime{.vocab_size = model_->config().vocab_size};
  plan::MemoryPlan plan = plan::predict_memory(
      backend, model_->program(), engine::limits_for(config_for(target), model_->program()),
      runtime);
  return plan;
}

Result<void> Draft::load(ops::Backend& backend, const engine::EngineConfig& target, Clock& clock,
                         const engine::Engine::Progress& on_progress) {
  HWTV_TRY(engine_, engine::Engine::create(backend, *model_, config_for(target), clock, recorder_,
                                           on_progress));
  draft_ = std::make_unique<engine::DraftModel>(*engine_, clock);
  return {};
}

engine::ProposerFactory Draft::make_proposer() {
  return [this](int64_t) { return draft_->make_proposer(); };
}

}  // namespace hwtv::app
