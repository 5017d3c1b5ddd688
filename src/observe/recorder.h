// Keeps the latest steps and op spans of one engine in rings allocated once: recording never
// allocates and never fails.  One thread records; any thread may read.
#pragma once
#include <cstdint>
#include <mutex>
#include <vector>

#include "observe/step_record.h"

namespace hwtv::observe {

// What all steps of one kind came to, kept for the whole life of the recorder.
struct StepTotals {
  int64_t n_steps = 0;
  int64_t n_tokens = 0;
  int64_t n_proposed_tokens = 0, n_accepted_tokens = 0;
  double seconds = 0;
  hw::Work work;

  StepTotals since(const StepTotals& before) const;  // what came after `before`
  double tokens_per_s() const { return seconds > 0 ? static_cast<double>(n_tokens) / seconds : 0; }
};

class Recorder {
 public:
  // Requires: capacities >= 0.  n_spans == 0 turns profiling off.
  explicit Recorder(int n_steps = 4096, int n_spans = 0);

  bool profiles() const { return !spans_.empty(); }  // whether backends should time their ops
  void add_step(const StepRecord& step);
  void add_span(const OpSpan& span);

  // Steps of only prefill, only decode, and of both.
  struct Totals {
    StepTotals prefill, decode, mixed;
    int64_t n_steps_dropped = 0;  // no longer in the ring; still in the totals
    int64_t n_spans_dropped = 0;
  };
  Totals totals() const;
  std::vector<StepRecord> steps() const;  // those still in the ring, oldest first
  std::vector<OpSpan> spans() const;

 private:
  mutable std::mutex mutex_;
  std::vector<StepRecord> steps_;  // ring: the newest is at (n_steps_ - 1) % size
  std::vector<OpSpan> spans_;      // ring, alike
  int64_t n_steps_ = 0;
  int64_t n_spans_ = 0;
  Totals totals_;
};

}  // namespace hwtv::observe
