// What must hold for a whole program on any backend: batch invariance (ARCHITECTURE idea 5), copies
// of kv_blocks, nothing taken from the heap in a step, spans.  Registered like the cases:
//   const bool kRegistered = register_backend_contract("cpu.avx2", make_cpu);
#pragma once
#include <string>

#include "tests/ops/run_cases.h"

namespace hwtv::test {

// Bit-identical logits of one sequence on 1, 2 and 3 threads, in chunks of 1, 7, 64 and all, alone
// and among three mates.
void expect_batch_invariant(const MakeBackend& make, DType k_dtype, DType v_dtype);

// A sequence that goes on from copied kv_blocks gives the bits of the one it was copied from.
void expect_copied_blocks_serve(const MakeBackend& make);

// submit() and wait() call no operator new after one step of warm-up.
void expect_no_allocations(const MakeBackend& make);

// A profiled step, which runs op by op, gives the bits of one that may run several as one piece of work.
void expect_profile_changes_nothing(const MakeBackend& make);

// A profiled step gives each op of the program one span, in order; another step gives none.
void expect_spans(const MakeBackend& make);

bool register_backend_contract(const std::string& name, const MakeBackend& make);

}  // namespace hwtv::test
