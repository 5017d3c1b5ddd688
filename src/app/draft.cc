#include "app/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quoted.h"
#include "engine/lookup_first.h"
#include "store/model_cache.h"

namespace hwtv::app {
namespace {

constexpr const char* kOtherDraft =
    "use a draft of the model's own family, with the same tokenizer, or leave --draft out";

Result<model::Model> open_model(const std::string& name, int64_t context_tokens) {
  HWTV_TRY(const std::string path, store::resolve_model(name));
  HWTV_TRY(gguf::File file, gguf::File::open(path));
  return model::Model::from_file(std::move(file), {context_tokens});
}

constexpr const char* kTokens = "tokenizer.ggml.tokens";

// Without a copy of either vocabulary.
bool are_equal(const gguf::Value* a, const gguf::Value* b) {
  return a && b && a->description() == b->description() &&
         std::ranges::equal(a->payload(), b->payload());
}

}  // namespace

Result<void> check_same_vocabulary(const gguf::File& target, const gguf::File& draft) {
  if (are_equal(target.find(kTokens), draft.find(kTokens))) return {};
  using Tokens = std::vector<std::string_view>;
  HWTV_TRY(const Tokens expected, target.require<Tokens>(kTokens));
  HWTV_TRY(const Tokens found, draft.require<Tokens>(kTokens));
  if (expected.size() != found.size())
    return fail(ErrorCode::invalid_request,
                fmt::format("the draft has a vocabulary of {} tokens, the model one of {}",
                            found.size(), expected.size()),
                kOtherDraft);
  const auto at = std::mismatch(expected.begin(), expected.end(), found.begin());
  if (at.first == expected.end()) return {};
  return fail(
      ErrorCode::invalid_request,
      fmt::format("the draft has another vocabulary: its token {} of {} is {}, the model's is {}",
                  at.first - expected.begin(), expected.size(), hwtv::quoted(*at.second),
                  hwtv::quoted(*at.first)),
      kOtherDraft);
}

Result<std::unique_ptr<Draft>> Draft::open(const std::string& name, const model::Model& target,
                                           int64_t context_tokens) {
  Result<model::Model> model = open_model(name, context_tokens);
  if (!model) {
    Error error = model.error();
    error.what = "--draft: " + error.what;
    return fail(error);
  }
  HWTV_TRY_VOID(check_same_vocabulary(target.file(), model->file()));
  // Rows beyond the vocabulary's tokens would be ids that the other one does not have.
  if (model->config().vocab_size != target.config().vocab_size)
    return fail(ErrorCode::invalid_request,
                fmt::format("the draft's output has {} rows, the model's {}",
                            model->config().vocab_size, target.config().vocab_size),
                kOtherDraft);
  if (!engine::can_take_back(model->program()))
    return fail(ErrorCode::unsupported,
                "the draft keeps a recurrent state, from which guesses cannot be taken back",
                kOtherDraft);
  std::unique_ptr<Draft> draft(new Draft());
  draft->model_ = std::make_unique<model::Model>(std::move(*model));
  return draft;
}

engine::EngineConfig Draft::config_for(const engine::EngineConfig& target) const {
  return engine::DraftModel::config_for(target, model_->config().context_tokens_max);
}

Result<void> Draft::supports(const ops::BackendSpec& backend,
                             const engine::EngineConfig& target) const {
  return backend.supports(model_->program(),
                          engine::limits_for(config_for(target), model_->program()));
}

plan::MemoryPlan Draft::price(const ops::BackendSpec& backend,
                              const engine::EngineConfig& target) const {
  const plan::RuntimeShape runtime{.vocab_size = model_->config().vocab_size,
                                   .metadata_bytes = model_->file().metadata_bytes(),
                                   .is_second = true};
  return plan::predict_memory(backend, model_->program(),
                              engine::limits_for(config_for(target), model_->program()), runtime);
}

Result<void> Draft::load(ops::Backend& backend, const engine::EngineConfig& target, Clock& clock,
                         const engine::Engine::Progress& on_progress) {
  HWTV_TRY(engine_, engine::Engine::create(backend, *model_, config_for(target), clock, recorder_,
                                           on_progress));
  HWTV_TRY(draft_, engine::DraftModel::create(*engine_, clock));
  return {};
}

engine::ProposerFactory Draft::make_proposer(bool lookup_first) {
  if (!lookup_first) return [this](int64_t) { return draft_->make_proposer(); };
  return [this](int64_t capacity_tokens) {
    return std::make_unique<engine::LookupFirst>(capacity_tokens, draft_->make_proposer());
  };
}

}  // namespace hwtv::app
