// Decides what the next step computes.  Pure: no device, no clock, no allocation of cache;
// simulated in tests/sim with thousands of sequences.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace hwtv::engine {

// A running sequence as the scheduler sees it.
struct Demand {
  int64_t n_cached = 0;      // tokens in the cache
  int64_t n_to_compute = 0;  // known tokens that are not; 1 is a decode, more is a prefill
  int64_t n_rows = 1;        // of those, the last ones whose output rows are wanted; at least 1
  int64_t n_proposed = 0;    // guessed tokens that a decode would like to check, each with its row
};

struct SlicePlan {
  int32_t sequence = 0;  // index into the demands
  int64_t n_tokens = 0;
  int64_t n_outputs = 0;  // the slice's last n_outputs tokens
};

struct BatchPlan {
  std::vector<SlicePlan> slices;
  int64_t n_tokens = 0;
  int64_t n_outputs = 0;

  void clear();
};

struct StepLimits {
  int64_t n_tokens_max = 512;
  int64_t n_seqs_max = 1;
  int64_t n_outputs_max = 1;
};

class Scheduler {
 public:
  explicit Scheduler(StepLimits limits);

  // Every decode first, so that no prompt delays a running answer; the room that is left goes to
  // prefills in the order of arrival, the last one in part; what then is left to guessed tokens,
  // one for each decode in turn.  Fills `plan`, reusing its memory.
  void plan(std::span<const Demand> demands, BatchPlan& plan) const;

 private:
  void add_slice(std::span<const Demand> demands, size_t index, BatchPlan& plan) const;
  void add_proposed(std::span<const Demand> demands, BatchPlan& plan) const;
  const StepLimits limits_;
};

}  // namespace hwtv::engine
