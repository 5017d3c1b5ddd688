// How often the guesses about one sequence come true, by the evidence they rest on.
#pragma once
#include <array>

#include "engine/proposer.h"

namespace hwtv::engine {

class Acceptance {
 public:
  // One guess that was compared with the token that came.
  void observe(Evidence evidence, bool came_true);

  // One token came that might have been guessed and was not: what was seen counts a little less, so
  // that guesses which never come true are tried again now and then.
  void fade(Evidence evidence);

  // The share of guesses that will come true at least, less a part of the estimate's deviation;
  // what other texts have shown counts as a few guesses.
  double rate(Evidence evidence) const;

 private:
  struct Tally {
    double n_guesses = 0;
    double n_true = 0;
  };
  static double cautious_rate(const Tally& tally, Evidence evidence);

  std::array<Tally, kEvidenceLevels> tallies_;
};

}  // namespace hwtv::engine
