// Counts what the program takes from the heap, for tests that a step takes nothing.
#pragma once
#include <cstdint>

namespace hwtv::test {

// Calls of operator new since the program's start, by all threads.
int64_t n_allocations();

}  // namespace hwtv::test
