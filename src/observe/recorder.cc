#include "observe/recorder.h"

#include <algorithm>

#include "base/check.h"

namespace hwtv::observe {
namespace {

// The last `n` entries ever put into the ring, oldest first.
template <typename T>
std::vector<T> unrolled(const std::vector<T>& ring, int64_t n_added) {
  const int64_t capacity = static_cast<int64_t>(ring.size());
  std::vector<T> out;
  out.reserve(static_cast<size_t>(std::min(n_added, capacity)));
  for (int64_t i = std::max<int64_t>(0, n_added - capacity); i < n_added; ++i)
    out.push_back(ring[static_cast<size_t>(i % capacity)]);
  return out;
}

void put(StepTotals& totals, const StepRecord& step) {
  totals.n_steps += 1;
  totals.n_tokens += step.n_tokens();
  totals.n_proposed_tokens += step.n_proposed_tokens;
  totals.n_accepted_tokens += step.n_accepted_tokens;
  totals.seconds += step.seconds;
  totals.work += step.work;
}

}  // namespace

StepTotals StepTotals::since(const StepTotals& before) const {
  StepTotals after = *this;
  after.n_steps -= before.n_steps;
  after.n_tokens -= before.n_tokens;
  after.n_proposed_tokens -= before.n_proposed_tokens;
  after.n_accepted_tokens -= before.n_accepted_tokens;
  after.seconds -= before.seconds;
  after.work.read_bytes -= before.work.read_bytes;
  after.work.written_bytes -= before.work.written_bytes;
  after.work.flops -= before.work.flops;
  after.work.int8_ops -= before.work.int8_ops;
  return after;
}

Recorder::Recorder(int n_steps, int n_spans) {
  CHECK(n_steps >= 0 && n_spans >= 0);
  steps_.resize(static_cast<size_t>(n_steps));
  spans_.resize(static_cast<size_t>(n_spans));
}

void Recorder::add_step(const StepRecord& step) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!steps_.empty()) steps_[static_cast<size_t>(n_steps_) % steps_.size()] = step;
  ++n_steps_;
  if (step.n_prefill_tokens > 0 && step.n_decode_tokens > 0) {
    put(totals_.mixed, step);
  } else {
    put(step.n_prefill_tokens > 0 ? totals_.prefill : totals_.decode, step);
  }
}

void Recorder::add_span(const OpSpan& span) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!spans_.empty()) spans_[static_cast<size_t>(n_spans_) % spans_.size()] = span;
  ++n_spans_;
}

Recorder::Totals Recorder::totals() const {
  std::lock_guard<std::mutex> lock(mutex_);
  Totals totals = totals_;
  totals.n_steps_dropped = std::max<int64_t>(0, n_steps_ - static_cast<int64_t>(steps_.size()));
  totals.n_spans_dropped = std::max<int64_t>(0, n_spans_ - static_cast<int64_t>(spans_.size()));
  return totals;
}

std::vector<StepRecord> Recorder::steps() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return unrolled(steps_, n_steps_);
}

std::vector<OpSpan> Recorder::spans() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return unrolled(spans_, n_spans_);
}

}  // namespace hwtv::observe
