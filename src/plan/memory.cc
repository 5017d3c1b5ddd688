#include "plan/memory.h"

#include <fmt/format.h>

#include "base/units.h"

namespace hwtv::plan {
namespace {

// Calibrated once on x86-64 with glibc; docs/memory.md has the measurements.
constexpr int64_t kProcessBytes = 3 << 20;  // libraries' data, heap and the main stack
constexpr int64_t kThreadBytes = 64 << 10;  // touched part of a stack, and the thread's arena
constexpr int64_t kTokenBytes = 96;         // index entries of one vocabulary entry

std::string components(const MemoryPlan& plan) {
  return fmt::format(
      "weights {}, kv {}, activations {}, runtime {}",
      format_bytes(static_cast<double>(plan.device.weights + plan.device.packed_weights)),
      format_bytes(static_cast<double>(plan.device.kv)),
      format_bytes(static_cast<double>(plan.device.activations + plan.device.staging)),
      format_bytes(static_cast<double>(plan.runtime_bytes)));
}

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

MemoryPlan predict_memory(const ops::BackendSpec& backend, const ops::Program& program,
                          const ops::Limits& limits, const RuntimeShape& runtime) {
  MemoryPlan plan;
  plan.device = backend.memory(program, limits);
  plan.runtime_bytes = kProcessBytes + runtime.n_threads * kThreadBytes +
                       runtime.vocab_size * kTokenBytes + runtime.vocab_bytes;
  return plan;
}

Result<void> check_fit(const MemoryPlan& plan, int64_t context_tokens, const hw::Device& device,
                       const std::function<MemoryPlan(int64_t)>& plan_for) {
  if (plan.total_bytes() <= device.available_bytes) return {};
  const int64_t context = largest_context(context_tokens, device.available_bytes, plan_for);
  return fail(
      ErrorCode::out_of_memory,
      fmt::format("the model needs {} ({}) with a context of {}, {} has {} ({})",
                  format_bytes(static_cast<double>(plan.total_bytes())), components(plan),
                  context_tokens, device.name,
                  format_bytes(static_cast<double>(device.available_bytes)), device.memory_limit),
      context > 0 ? fmt::format("the largest context that fits is {}: --ctx {}", context, context)
                  : "no context fits: use a smaller or more quantized model, or free memory");
}

}  // namespace hwtv::plan
