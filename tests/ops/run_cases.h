// Runs the case table through a backend.  A test program registers each of its backends (each
// forced ISA) in one line, before main():
//   const bool kRegistered = register_op_cases("cpu.avx2", make_cpu, make_ref);
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ops/backend.h"
#include "tests/ops/case.h"
#include "tests/ops/naive.h"

namespace hwtv::test {

// A backend on a team of n_threads.  What it stands on (team, ledger) lives as long as the pointer.
using MakeBackend = std::function<std::shared_ptr<ops::Backend>(int n_threads)>;

// By step, by Program::outputs: (n_outputs, width).
using Outputs = std::vector<std::vector<std::vector<float>>>;

// Imports the weights and prepares the program; null after a reported failure.  Also expects that
// spec().memory() is exactly what import() and prepare() reserved.
std::unique_ptr<ops::Executable> prepare_case(const OpCase& op_case, ops::Backend& backend);

// Empty after a reported failure.
Outputs run_case(const OpCase& op_case, ops::Backend& backend);

// Expects the outputs within the case's tolerance (tolerance.h) of the exact ones.
void expect_close(const OpCase& op_case, const Outputs& outputs, const NaiveOutputs& exact);

// One gtest for each case: `make` on two threads against `make_oracle`, or, where that is empty,
// against the formulas in double precision.
bool register_op_cases(const std::string& name, MakeBackend make, MakeBackend make_oracle);

}  // namespace hwtv::test
