// The smaller model of --draft: opened, compared with the one it guesses for, priced and loaded
// beside it.
#pragma once
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "engine/draft_model.h"
#include "engine/engine.h"
#include "engine/proposer.h"
#include "gguf/file.h"
#include "model/model.h"
#include "observe/recorder.h"
#include "ops/backend.h"
#include "plan/memory.h"

namespace hwtv::app {

class Draft {
 public:
  // `name` as --draft has it; `target`: what it guesses for, with contexts of so many tokens.
  // Errors: those of opening a model; invalid_request, when its vocabulary is another one: with
  // both sizes, or the first token that differs.
  static Result<std::unique_ptr<Draft>> open(const std::string& name, const model::Model& target,
                                             int64_t context_tokens);

  const model::Model& model() const { return *model_; }
  // Requires: load() was called.
  const engine::Engine& engine() const { return *engine_; }
  engine::DraftModel::Totals totals() const { return draft_->totals(); }

  // Errors: unsupported.
  Result<void> supports(const ops::BackendSpec& backend, const engine::EngineConfig& target) const;
  // What the draft takes beside a model that runs with `target`.
  plan::MemoryPlan price(const ops::BackendSpec& backend, const engine::EngineConfig& target) const;

  // Requires: backend and clock outlive this object.  Errors: as Engine::create.
  Result<void> load(ops::Backend& backend, const engine::EngineConfig& target, Clock& clock,
                    const engine::Engine::Progress& on_progress);

  // `lookup_first`: where a long piece of the text comes again, that is what is guessed.
  // Requires: load() was called; this object outlives what it makes.
  engine::ProposerFactory make_proposer(bool lookup_first);

 private:
  Draft() = default;
  engine::EngineConfig config_for(const engine::EngineConfig& target) const;

  std::unique_ptr<model::Model> model_;
  observe::Recorder recorder_{0};
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<engine::DraftModel> draft_;
};

// Errors: invalid_request, as Draft::open says.
Result<void> check_same_vocabulary(const gguf::File& target, const gguf::File& draft);

}  // namespace hwtv::app
