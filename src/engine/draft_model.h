// Guesses what a smaller model of the same vocabulary would say, greedily [Leviathan 2023].  It
// runs as an engine of its own, one sequence after the other, and keeps each one's cache.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "engine/engine.h"
#include "engine/proposer.h"

namespace hwtv::engine {

class DraftModel {
 public:
  // What guessing took so far.
  struct Totals {
    int64_t n_steps = 0;  // that made a guess each
    double steps_s = 0;
    int64_t n_read_tokens = 0;  // of prompts, and of what came while nothing was guessed
    double read_s = 0;          // with the first guess that came of it

    double seconds() const { return steps_s + read_s; }
    Totals since(const Totals& before) const;
  };

  // Measures what guesses take by making a few about nothing.  Requires: engine and clock outlive
  // the object and its proposers; nobody else uses the engine.  Errors: device_lost.
  static Result<std::unique_ptr<DraftModel>> create(Engine& engine, Clock& clock);

  // The settings of an engine that drafts for one with `target`.  A draft that was trained for
  // fewer tokens than a sequence has reads the latest ones only.
  static EngineConfig config_for(const EngineConfig& target, int64_t trained_tokens);

  // For one sequence.  Requires: this object outlives it.
  std::unique_ptr<Proposer> make_proposer();

  const Totals& totals() const { return totals_; }

 private:
  class OfSequence;

  // What the engine has read of one sequence, all but the last guess.
  struct Cache {
    std::optional<SequenceId> id;
    int64_t begin = 0;            // the first token of the text that was read
    std::vector<int32_t> tokens;  // from there, with guesses
  };

  DraftModel(Engine& engine, Clock& clock) : engine_(engine), clock_(clock) {}
  Result<void> measure();
  Result<void> run(int64_t n_read, std::vector<int32_t>& guesses);
  void learn(int64_t n_tokens, double seconds);

  Engine& engine_;
  Clock& clock_;
  Cache left_;  // of the sequence that ended last
  Totals totals_;
  double guess_s_ = 0, read_token_s_ = 0;  // moving means
};

}  // namespace hwtv::engine
