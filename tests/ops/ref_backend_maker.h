// The oracle for tests of other backends.
#pragma once
#include "tests/ops/run_cases.h"

namespace hwtv::test {

std::shared_ptr<ops::Backend> make_ref(int n_threads);

}  // namespace hwtv::test
