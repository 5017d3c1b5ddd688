// Guesses what a smaller model of the same vocabulary would say, greedily [Leviathan 2023].  It runs
// as an engine of its own, one sequence after the other, and keeps each one's cache.
#pragma once
#include <memory>
#include <optional>

#include "base/clock.h"
#include "engine/engine.h"
#include "engine/proposer.h"

namespace hwtv::engine {

class DraftModel {
 public:
  // Requires: engine and clock outlive this object and its proposers; nobody else uses the engine.
  DraftModel(Engine& engine, Clock& clock) : engine_(engine), clock_(clock) {}

  // The settings of an engine that drafts for one with `target`.
  static EngineConfig config_for(const EngineConfig& target);

  // For one sequence.  Requires: this object outlives it.
  std::unique_ptr<Proposer> make_proposer();

 private:
  class OfSequence;

  Engine& engine_;
  Clock& clock_;
  std::optional<SequenceId> left_;  // the cache of the sequence that ended last
  double guess_s_ = 0;              // of one token, a moving mean
};

}  // namespace hwtv::engine
