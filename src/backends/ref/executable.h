// A Program made ready for the ref backend: its weights, arena, cache and scratch.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "backends/ref/cache.h"
#include "backends/ref/weight.h"
#include "hw/buffer.h"
#include "ops/arena.h"
#include "ops/backend.h"
#include "ops/program.h"

namespace hwtv::ref {

// Floats of scratch that the largest Attention of the program needs: one sequence's keys and values
// as F32, and for each thread the scores of one token's head.
int64_t attention_scratch_floats(const ops::Program& program, const ops::Limits& limits,
                                 int n_threads);
// Floats that each thread needs for the largest Lora: what a and b give of one row.
int64_t lora_scratch_floats(const ops::Program& program);
// Floats of all Ropes' frequencies.
int64_t rope_scratch_floats(const ops::Program& program);
// Floats of the whole staging buffer.
int64_t scratch_floats(const ops::Program& program, const ops::Limits& limits, int n_threads);

class RefExecutable final : public ops::Executable {
 public:
  // Errors: out_of_memory.
  static Result<std::unique_ptr<RefExecutable>> make(const ops::Program& program,
                                                     const ops::Limits& limits,
                                                     std::vector<const Weight*> weights,
                                                     int n_threads, hw::Ledger& ledger);

  ops::BytesByUse reserved() const override;
  std::vector<std::string> kernels() const override;

  const ops::Program& program() const { return *program_; }
  const ops::Limits& limits() const { return limits_; }
  const Weight& weight(ops::WeightId id) const { return *weights_[static_cast<size_t>(id)]; }
  float* value(ops::ValueId id) {
    return activations_.floats() + arena_.offsets[static_cast<size_t>(id)] / 4;
  }
  Cache& cache(int32_t group) { return caches_[static_cast<size_t>(group)]; }
  float* attention_scratch() { return staging_.floats() + rope_scratch_floats_; }
  float* lora_scratch() { return attention_scratch(); }  // no op needs both
  // Radians per position for each pair of a Rope of this program: (n_rotated / 2)
  const float* rope_frequencies(const ops::Rope& op) const {
    return staging_.floats() + frequency_offsets_[static_cast<size_t>(op.out)];
  }

  ops::StepResult result;          // of the last submit()
  std::vector<ops::OpSpan> spans;  // room for all ops
  uint64_t n_steps = 0;

 private:
  RefExecutable(const ops::Program& program, const ops::Limits& limits,
                std::vector<const Weight*> weights);
  void fill_rope_frequencies();

  const ops::Program* program_;
  ops::Limits limits_;
  std::vector<const Weight*> weights_;  // by WeightId
  ops::ArenaPlan arena_;
  std::vector<Cache> caches_;               // by kv_group
  std::vector<int64_t> frequency_offsets_;  // in staging, by the ValueId that a Rope writes
  int64_t rope_scratch_floats_ = 0;
  hw::Buffer activations_;
  hw::Buffer staging_;
};

}  // namespace hwtv::ref
