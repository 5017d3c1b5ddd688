// Runs the tests of `hwtv bench` on a session: random tokens from a fixed seed, greedy, no end
// token. Seconds are those of the engine's steps, as the account of a run counts them.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/bench_result.h"
#include "app/bench_tests.h"
#include "app/interrupt.h"
#include "app/session.h"
#include "probe/observed.h"

namespace hwtv::app {

class BenchMeasure {
 public:
  // `on_step` is called after each step.  Requires: the session was opened with room for each test
  // that it will be given; n_repetitions >= 1.
  BenchMeasure(Session& session, int64_t n_repetitions, std::function<void()> on_step);

  // What is computed first, so that no test pays for first touches.
  Result<void> warm_up();

  // At most n_repetitions, and no further one after kLongTest_s.
  // Errors: device_lost; cancelled, after Ctrl-C.
  Result<BenchResult> measure(const BenchTest& test);

  static constexpr double kLongTest_s = 20;

 private:
  using Prompts = std::vector<std::vector<int32_t>>;

  Result<void> measure_prefill(BenchResult& result);
  Result<void> measure_decode(BenchResult& result);
  Result<void> decode_once(const Prompts& prompts, std::vector<engine::SequenceId>& kept,
                           BenchResult& result);
  Result<void> compute_all();  // steps until the engine is idle
  void add_joules(const probe::Observed<double>& joules, BenchResult& result);
  std::vector<int32_t> random_prompt(int64_t n_tokens);

  Session& session_;
  const int64_t n_repetitions_;
  const std::function<void()> on_step_;
  const Interrupt interrupt_;
  uint64_t random_state_ = 1;
  // Of each repetition.
  std::vector<double> joules_;
  std::vector<BandwidthLimit> read_limits_;
};

}  // namespace hwtv::app
