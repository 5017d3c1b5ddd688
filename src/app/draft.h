// The smaller model of --draft: opened, compared with the one it guesses for, priced and loaded
// beside it.
#pragma once
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "engine/draft_model.h"
#include "engine/engine.h"
#include "model/model.h"
#include "observe/recorder.h"
#include "ops/backend.h"
#include "plan/memory.h"
#include "text/tokenizer.h"

namespace hwtv::app {

class Draft {
 public:
  // `name` as --draft has it.  Errors: those of opening a model; invalid_request, when it speaks
  // another vocabulary than `tokenizer`: with both sizes, or the first token that differs.
  static Result<std::unique_ptr<Draft>> open(const std::string& name,
                                             const text::Tokenizer& tokenizer,
                                             int64_t context_tokens);

  const model::Model& model() const { return *model_; }
  // Requires: load() was called.
  const engine::Engine& engine() const { return *engine_; }

  // What the draft takes beside a model that runs with `target`.
  plan::MemoryPlan price(const ops::BackendSpec& backend, const engine::EngineConfig& target) const;

  // Requires: backend and clock outlive this object.  Errors: as Engine::create.
  Result<void> load(ops::Backend& backend, const engine::EngineConfig& target, Clock& clock,
                    const engine::Engine::Progress& on_progress);

  // Requires: load() was called; this object outlives what it makes.
  engine::ProposerFactory make_proposer();

 private:
  Draft() = default;
  engine::EngineConfig config_for(const engine::EngineConfig& target) const;

  std::unique_ptr<model::Model> model_;
  observe::Recorder recorder_{0};
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<engine::DraftModel> draft_;
};

}  // namespace hwtv::app
