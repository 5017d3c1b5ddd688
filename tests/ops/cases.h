// THE case table: every op with the shapes, dtypes and situations that each backend must get right.
// Run for each backend and each forced ISA against the oracle (run_cases.h).
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tests/ops/case.h"

namespace hwtv::test {

struct NamedCase {
  std::string name;  // "MatMul/Q4_K/width_256/rows_17"
  std::function<OpCase()> make;
};

std::vector<NamedCase> op_cases();

}  // namespace hwtv::test
