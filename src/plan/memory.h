// The bytes a model will take, computed from shapes alone before anything is allocated.  It never
// reads an observation of the run it predicts.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "base/error.h"
#include "hw/machine.h"
#include "ops/backend.h"

namespace hwtv::plan {

// What the program itself takes beside the backend: code's data, heap, stacks, the vocabulary.
struct RuntimeShape {
  int64_t n_threads = 1;
  int64_t n_seqs = 1;  // at once: each has a sampler
  int64_t vocab_size = 0;
  int64_t lookup_bytes = 0;     // of one sequence's index of its text; 0: no speculation
  int64_t tokenizer_bytes = 0;  // of its tables
  int64_t metadata_bytes = 0;   // of the file, read once and mapped from then on
  bool is_second = false;       // a model beside another one: the process is counted there
};

struct MemoryPlan {
  ops::BytesByUse device;  // as the backend will reserve them
  int64_t runtime_bytes = 0;

  int64_t total_bytes() const { return device.total() + runtime_bytes; }
  MemoryPlan& operator+=(const MemoryPlan& other);
};

// "195.1 MiB: weights 92.1 MiB, kv 90.0 MiB, activations 6.9 MiB, runtime 6.1 MiB".
std::string describe(const MemoryPlan& plan);

MemoryPlan predict_memory(const ops::BackendSpec& backend, const ops::Program& program,
                          const ops::Limits& limits, const RuntimeShape& runtime);

// Whether `plan` fits into what the device has left.  `plan_for(context_tokens)` prices another
// context; it grows with the context.
// Errors: out_of_memory, with the components, the limit and the largest context that would fit.
Result<void> check_fit(const MemoryPlan& plan, int64_t context_tokens, const hw::Device& device,
                       const std::function<MemoryPlan(int64_t context_tokens)>& plan_for);

}  // namespace hwtv::plan
