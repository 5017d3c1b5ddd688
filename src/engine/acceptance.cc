#include "engine/acceptance.h"

namespace hwtv::engine {
namespace {

// Before anything is seen of a sequence.  Ordinary answers repeat two or three tokens by chance;
// who repeats a line goes on with the next one.
constexpr std::array<double, kEvidenceLevels> kExpected = {0.3, 0.4, 0.5, 0.7, 0.85, 0.93};
constexpr double kExpectedGuesses = 2;  // what the expectation counts as
// How much a guess counts after one more: the latest 50 or so decide.
constexpr double kMemory = 0.98;

}  // namespace

void Acceptance::observe(Evidence evidence, bool came_true) {
  Tally& tally = tallies_[static_cast<size_t>(evidence)];
  tally.n_guesses = kMemory * tally.n_guesses + 1;
  tally.n_true = kMemory * tally.n_true + (came_true ? 1 : 0);
}

double Acceptance::rate(Evidence evidence) const {
  const Tally& tally = tallies_[static_cast<size_t>(evidence)];
  const double expected = kExpected[static_cast<size_t>(evidence)];
  return (tally.n_true + kExpectedGuesses * expected) / (tally.n_guesses + kExpectedGuesses);
}

}  // namespace hwtv::engine
