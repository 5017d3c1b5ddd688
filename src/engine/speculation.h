// Decides how many guessed tokens a step carries: as many as make tokens come faster, by the
// acceptance and the step costs that were observed.  Pure: no device and no clock of its own.
#pragma once
#include <cstdint>

#include "engine/step_costs.h"

namespace hwtv::engine {

enum class SpeculationMode {
  off,
  automatic,  // where it pays
  always,     // whatever it costs: to test, and to compare
};

class Speculation {
 public:
  // n_proposed_max: most guesses in one step; n_rows_max: most output rows in one step.
  Speculation(SpeculationMode mode, int64_t n_proposed_max, int64_t n_rows_max);

  bool is_on() const { return mode_ != SpeculationMode::off; }

  // Begins a step in which n_decodes sequences get a token each.
  void begin(int64_t n_decodes);
  // What may be spent now on getting ready to guess; infinite where cost is no matter.
  double budget_s() const;
  // How many guesses the step should carry for the next sequence, of which `rate` come true, each
  // takes guess_s to make, and whose answer has room for n_room.  Requires: begin().
  int64_t n_proposed(double rate, double guess_s, int64_t n_room);
  // What was spent on guesses of this step, and on getting ready for them.
  void spend(double seconds) { credit_s_ -= seconds; }

  // The step that was begun, of decodes alone: n_rows computed in so many seconds, of them
  // n_accepted guesses that came true.
  void observe_step(int64_t n_rows, int64_t n_accepted, double seconds);
  void observe_prefill(int64_t n_tokens, double seconds) {
    costs_.observe_prefill(n_tokens, seconds);
  }

 private:
  int64_t fastest(double rate, double guess_s, int64_t n_most) const;
  double tokens_per_s(int64_t n_more, double rate, double guess_s) const;

  const SpeculationMode mode_;
  const int64_t n_proposed_max_;
  const int64_t n_rows_max_;
  StepCosts costs_;
  int64_t n_steps_ = 0;
  double credit_s_ = 0;  // what may still be lost on guesses that fail
  // The step in the making.
  int64_t n_decodes_ = 0;
  int64_t n_rows_ = 0;     // with the guesses so far
  double n_expected_ = 0;  // tokens that will come of them
  double guesses_s_ = 0;   // what the guesses take
};

}  // namespace hwtv::engine
