// The ops' formulas in double precision, written down as they stand in the papers: no arena, no
// blocks, no threads.  What the ref backend is held against.
#pragma once
#include <vector>

#include "tests/ops/case.h"

namespace hwtv::test {

// By step, by Program::outputs: (n_outputs, width).
using NaiveOutputs = std::vector<std::vector<std::vector<double>>>;

NaiveOutputs evaluate_naively(const OpCase& op_case);

}  // namespace hwtv::test
