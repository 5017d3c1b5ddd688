// Row-wise ops: each row of what they write depends on that row of what they read, and on nothing else.
// Consecutive ones run as one piece of work, row by row: what one op writes is still in the cache when
// the next reads it, and the team meets once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cpu/step.h"
#include "ops/program.h"

namespace hwtv::cpu {

bool is_row_wise(const ops::Op& op);

// The stage of each op: consecutive row-wise ops over the same rows share one, every other op has its
// own.
std::vector<int32_t> plan_stages(const ops::Program& program);

// Runs ops [begin, end), then makes the QuantizedRows of `quantized` unless it is -1.
// Requires: all are row-wise and of one stage, and `quantized` has the same rows.
void run_row_chain(size_t begin, size_t end, ops::ValueId quantized, const Step& step);

}  // namespace hwtv::cpu
