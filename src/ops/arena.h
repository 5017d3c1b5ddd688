// Where each activation lives: one block of memory in which values share space when their lifetimes
// do not meet.  Pure, so that a plan prices the same bytes that a backend allocates.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ops/backend.h"

namespace hwtv::ops {

struct ArenaPlan {
  std::vector<int64_t> offsets;  // bytes, by ValueId; -1 for a value no op writes
  int64_t n_bytes = 0;
};

// Each value takes rows_max * width * 4 bytes, rounded up to 64.  Values in Program::outputs live
// to the end of the step.  `stages`, if given, has a number for each op, never falling: ops of one stage
// run side by side, and no two values that a stage touches share space.
ArenaPlan plan_arena(const Program& program, const Limits& limits,
                     std::span<const int32_t> stages = {});

}  // namespace hwtv::ops
