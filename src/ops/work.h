// What an op costs, from shapes and dtypes alone.  One number, three witnesses: `plan` predicts
// with it, `observe` measures against it, the account shows the ratio.
#pragma once
#include <cstdint>
#include <span>

#include "hw/work.h"
#include "ops/program.h"

namespace hwtv::ops {

// The tokens of one sequence in one step.
struct SliceSize {
  int64_t n_cached = 0;  // tokens in the cache before the step
  int64_t n_tokens = 0;
  int64_t n_outputs = 0;  // of its tokens, those whose output is asked for
  std::span<const int32_t> adapters = {};
};

// The sizes of one step.
struct StepSizes {
  int64_t n_tokens = 0;
  int64_t n_outputs = 0;
  int64_t n_seqs = 0;
  std::span<const SliceSize> slices = {};
  DType k_dtype = DType::F16;
  DType v_dtype = DType::F16;
};

// Weights count as the file's bytes, once for a step, and of experts those that its tokens are
// expected to touch; activations as F32; the cache as its dtype. A multiply and an add are two
// operations.  Of adapters those that a slice names.
hw::Work work(const Program& program, const Op& op, const StepSizes& sizes);
hw::Work work(const Program& program, const StepSizes& sizes);  // the sum over all ops

}  // namespace hwtv::ops
