#include <fmt/format.h>

#include "backends/ref/cache.h"
#include "backends/ref/executable.h"
#include "backends/ref/ref_backend.h"
#include "ops/arena.h"
#include "ops/quantize.h"

namespace hwtv::ref {
namespace {

Result<void> supports_cache(const ops::KvGroup& kv, const ops::Limits& limits) {
  if (kv.is_state()) return {};
  for (const auto& [dtype, dim, what] : {std::tuple{limits.k_dtype, kv.head_dim, "keys"},
                                         std::tuple{limits.v_dtype, kv.value_dim, "values"}}) {
    if (!ops::can_quantize_row(dtype))
      return fail(ErrorCode::unsupported,
                  fmt::format("the cache cannot keep {} as {}", what, dtype_name(dtype)),
                  "use F32, F16, BF16, Q8_0 or Q4_0");
    if (dim % dtype_info(dtype).block_elements != 0)
      return fail(ErrorCode::unsupported,
                  fmt::format("{} of {} elements cannot be kept as {}: its blocks have {}", what,
                              dim, dtype_name(dtype), dtype_info(dtype).block_elements),
                  "use F16 for the cache");
  }
  return {};
}

}  // namespace

Result<void> RefSpec::supports(const ops::Program& program, const ops::Limits& limits) const {
  for (const ops::WeightDecl& weight : program.weights)
    if (weight.dtype == DType::I32)
      return fail(ErrorCode::unsupported,
                  fmt::format("weight {} is I32, which no op computes with", weight.name),
                  "convert the tensor to F32");
  for (const ops::KvGroup& kv : program.kv_groups) HWTV_TRY_VOID(supports_cache(kv, limits));
  return {};
}

ops::BytesByUse RefSpec::memory(const ops::Program& program, const ops::Limits& limits) const {
  ops::BytesByUse bytes;
  for (const ops::WeightDecl& weight : program.weights)
    bytes.packed_weights += weight_bytes(weight);
  for (size_t group = 0; group < program.kv_groups.size(); ++group)
    bytes.kv += Cache::n_bytes(program.kv_groups[group], group, limits);
  bytes.activations = ops::plan_arena(program, limits).n_bytes;
  bytes.staging = 4 * scratch_floats(program, limits, n_threads_);
  return bytes;
}

}  // namespace hwtv::ref
