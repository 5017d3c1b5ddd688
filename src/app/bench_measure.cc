#include "app/bench_measure.h"

#include <algorithm>
#include <utility>

#include "app/energy.h"
#include "base/check.h"

namespace hwtv::app {
namespace {

EnergyReading read_energy() { return probe::read_energy(probe::Root("/")); }

engine::SequenceRequest request_for(const Session& session, std::vector<int32_t> prompt,
                                    int64_t n_decode, bool keep) {
  engine::SequenceRequest request;
  request.prompt = std::move(prompt);
  request.adapters = session.adapters();
  request.n_tokens_max = n_decode > 0 ? n_decode + 1 : 0;  // the prompt's last row gives the first
  request.keep = keep;
  return request;
}

}  // namespace

BenchMeasure::BenchMeasure(Session& session, int64_t n_repetitions, std::function<void()> on_step)
    : session_(session), n_repetitions_(n_repetitions), on_step_(std::move(on_step)) {}

// splitmix64 [Steele 2014].
std::vector<int32_t> BenchMeasure::random_prompt(int64_t n_tokens) {
  std::vector<int32_t> tokens(static_cast<size_t>(n_tokens));
  const uint64_t vocab_size = static_cast<uint64_t>(session_.model().config().vocab_size);
  for (int32_t& token : tokens) {
    uint64_t z = random_state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    token = static_cast<int32_t>((z ^ (z >> 31)) % vocab_size);
  }
  return tokens;
}

Result<void> BenchMeasure::compute_all() {
  engine::Engine& engine = session_.engine();
  while (!engine.idle()) {
    if (interrupt_.requested()) return fail(ErrorCode::cancelled, "stopped by Ctrl-C");
    HWTV_TRY_VOID(engine.step());
    on_step_();
  }
  return {};
}

void BenchMeasure::add_joules(const probe::Observed<double>& joules, BenchResult& result) {
  if (joules)
    joules_.push_back(*joules / static_cast<double>(result.n_tokens));
  else
    result.not_observed = probe::describe(joules.error());
}

Result<void> BenchMeasure::measure_prefill(BenchResult& result) {
  const observe::StepTotals before = session_.recorder().totals().prefill;
  const EnergyReading energy_before = read_energy();
  HWTV_TRY_VOID(
      session_.engine().add(request_for(session_, random_prompt(result.test.n_prompt), 0, false)));
  HWTV_TRY_VOID(compute_all());
  const observe::StepTotals done = session_.recorder().totals().prefill.since(before);
  result.n_tokens = done.n_tokens;
  result.work = done.work;
  result.seconds.push_back(done.seconds);
  add_joules(joules_between(energy_before, read_energy()), result);
  return {};
}

// Every sequence takes its cached prompt over from the repetition before, so that the first step
// computes the prompts' last tokens and each one after it decodes a token of all of them.
Result<void> BenchMeasure::decode_once(const Prompts& prompts,
                                       std::vector<engine::SequenceId>& kept, BenchResult& result) {
  engine::Engine& engine = session_.engine();
  for (size_t i = 0; i < prompts.size(); ++i) {
    engine::SequenceRequest request = request_for(session_, prompts[i], result.test.n_decode, true);
    request.continues = kept[i];
    HWTV_TRY(kept[i], engine.add(std::move(request)));
  }
  HWTV_TRY_VOID(engine.step());
  const observe::StepTotals before = session_.recorder().totals().decode;
  const EnergyReading energy_before = read_energy();
  HWTV_TRY_VOID(compute_all());
  const observe::StepTotals done = session_.recorder().totals().decode.since(before);
  CHECK(done.n_steps == result.test.n_decode);
  result.n_tokens = done.n_tokens;
  result.work = done.work;
  result.seconds.push_back(done.seconds);
  add_joules(joules_between(energy_before, read_energy()), result);
  return {};
}

Result<void> BenchMeasure::measure_decode(BenchResult& result) {
  const BenchTest& test = result.test;
  engine::Engine& engine = session_.engine();
  Prompts prompts;
  std::vector<engine::SequenceId> kept;
  for (int64_t i = 0; i < test.n_seqs; ++i) {
    prompts.push_back(random_prompt(test.n_prompt));
    HWTV_TRY(kept.emplace_back(), engine.add(request_for(session_, prompts.back(), 0, true)));
  }
  HWTV_TRY_VOID(compute_all());
  result.step_bytes =
      step_weight_bytes(session_.model().program()) +
      static_cast<double>(test.n_seqs) * cache_step_bytes(session_, test.n_prompt, test.n_decode);
  const double start_s = session_.clock().now_s();
  do {
    HWTV_TRY_VOID(decode_once(prompts, kept, result));
    read_limits_.push_back(measure_bandwidth_limit(session_, result.step_bytes));
  } while (static_cast<int64_t>(result.seconds.size()) < n_repetitions_ &&
           session_.clock().now_s() - start_s < kLongTest_s);
  for (const engine::SequenceId id : kept) engine.drop(id);
  std::vector<double> limits;
  for (const BandwidthLimit& limit : read_limits_) {
    if (limit.median_bytes_per_s <= 0) continue;  // no memory was left to measure it with
    limits.push_back(limit.median_bytes_per_s);
    result.read_level = limit.level;
  }
  if (!limits.empty()) result.read_limit_bytes_per_s = median(std::move(limits));
  return {};
}

Result<void> BenchMeasure::warm_up() {
  HWTV_TRY_VOID(session_.engine().add(request_for(session_, random_prompt(1), 3, false)));
  return compute_all();
}

Result<BenchResult> BenchMeasure::measure(const BenchTest& test) {
  BenchResult result;
  result.test = test;
  random_state_ = 1;
  joules_.clear();
  read_limits_.clear();
  if (test.kind == BenchTest::Kind::prefill) {
    const double start_s = session_.clock().now_s();
    do {
      HWTV_TRY_VOID(measure_prefill(result));
    } while (static_cast<int64_t>(result.seconds.size()) < n_repetitions_ &&
             session_.clock().now_s() - start_s < kLongTest_s);
  } else {
    HWTV_TRY_VOID(measure_decode(result));
  }
  if (joules_.size() == result.seconds.size()) result.joules_per_token = median(joules_);
  if (test.kind != BenchTest::Kind::decode)
    result.compute_limit_ops_per_s = measure_compute_limit(session_, compute_kind(result.work));
  return result;
}

}  // namespace hwtv::app
