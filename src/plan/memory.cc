#include "plan/memory.h"

#include <fmt/format.h>

#include "base/units.h"

namespace hwtv::plan {
namespace {

// Measured once on x86-64 with glibc: docs/memory.md.
constexpr int64_t kProcessBytes = 1536 << 10;  // libraries' data, heap, the main stack
constexpr int64_t kThreadBytes = 32 << 10;     // touched part of a stack, the thread's arena
// A greedy sampler touches a logit and a count for each token of the vocabulary; one that draws
// takes 16 bytes more.
constexpr int64_t kSamplerTokenBytes = 8;

// The largest context whose plan fits; 0: none does.
int64_t largest_context(int64_t above, int64_t limit_bytes,
                        const std::function<MemoryPlan(int64_t)>& plan_for) {
  int64_t fits = 0, too_large = above;
  while (too_large - fits > 1) {
    const int64_t middle = fits + (too_large - fits) / 2;
    (plan_for(middle).total_bytes() <= limit_bytes ? fits : too_large) = middle;
  }
  return fits;
}

}  // namespace

MemoryPlan& MemoryPlan::operator+=(const MemoryPlan& other) {
  device.weights += other.device.weights;
  device.packed_weights += other.device.packed_weights;
  device.kv += other.device.kv;
  device.activations += other.device.activations;
  device.staging += other.device.staging;
  runtime_bytes += other.runtime_bytes;
  return *this;
}

std::string describe(const MemoryPlan& plan) {
  return fmt::format(
      "{}: weights {}, kv {}, activations {}, runtime {}",
      format_bytes(static_cast<double>(plan.total_bytes())),
      format_bytes(static_cast<double>(plan.device.weights + plan.device.packed_weights)),
      format_bytes(static_cast<double>(plan.device.kv)),
      format_bytes(static_cast<double>(plan.device.activations + plan.device.staging)),
      format_bytes(static_cast<double>(plan.runtime_bytes)));
}

MemoryPlan predict_memory(const ops::BackendSpec& backend, const ops::Program& program,
                          const ops::Limits& limits, const RuntimeShape& runtime) {
  MemoryPlan plan;
  plan.device = backend.memory(program, limits);
  plan.runtime_bytes =
      (runtime.is_second ? 0 : kProcessBytes + runtime.n_threads * kThreadBytes) +
      runtime.n_seqs * (runtime.vocab_size * kSamplerTokenBytes + runtime.lookup_bytes) +
      runtime.tokenizer_bytes + runtime.metadata_bytes;
  return plan;
}

Result<void> check_fit(const MemoryPlan& plan, int64_t context_tokens, const hw::Device& device,
                       const std::function<MemoryPlan(int64_t)>& plan_for) {
  if (plan.total_bytes() <= device.available_bytes) return {};
  const int64_t context = largest_context(context_tokens, device.available_bytes, plan_for);
  return fail(
      ErrorCode::out_of_memory,
      fmt::format("with a context of {} the model needs {}; {} has {} ({})", context_tokens,
                  describe(plan), device.name,
                  format_bytes(static_cast<double>(device.available_bytes)), device.memory_limit),
      context > 0 ? fmt::format("the largest context that fits is {}: --ctx {}", context, context)
                  : "no context fits: use a smaller or more quantized model, or free memory");
}

}  // namespace hwtv::plan
