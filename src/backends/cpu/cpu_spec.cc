#include <fmt/format.h>

#include <bit>
#include <string>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/layout.h"
#include "backends/cpu/row_chain.h"
#include "backends/cpu/types.h"
#include "backends/cpu/weight.h"
#include "ops/arena.h"

namespace hwtv::cpu {
namespace {

Result<void> supports_cache_type(DType dtype, int64_t dim, std::string_view what) {
  if (!kv_type(dtype))
    return fail(ErrorCode::unsupported,
                fmt::format("the cache cannot keep {} as {}", what, dtype_name(dtype)),
                "use F32, F16, BF16, Q8_0 or Q4_0");
  if (dim % dtype_info(dtype).block_elements != 0)
    return fail(ErrorCode::unsupported,
                fmt::format("{} of {} elements cannot be kept as {}: its blocks have {}", what, dim,
                            dtype_name(dtype), dtype_info(dtype).block_elements),
                "use F16 for the cache");
  return {};
}

Result<void> supports_cache(const ops::KvGroup& kv, const ops::Limits& limits) {
  if (kv.is_state()) return {};
  if (limits.kv_block_tokens > kSplitTokens ||
      !std::has_single_bit(static_cast<uint64_t>(limits.kv_block_tokens)))
    return fail(ErrorCode::unsupported,
                fmt::format("cpu cannot keep kv_blocks of {} tokens", limits.kv_block_tokens),
                fmt::format("use a power of two up to {}", kSplitTokens));
  HWTV_TRY_VOID(supports_cache_type(limits.k_dtype, kv.head_dim, "keys"));
  return supports_cache_type(limits.v_dtype, kv.value_dim, "values");
}

bool must_be_f32(ops::WeightRole role) {
  return role == ops::WeightRole::norm || role == ops::WeightRole::bias ||
         role == ops::WeightRole::sinks || role == ops::WeightRole::rope_factors ||
         role == ops::WeightRole::convolution;
}

Result<void> supports_weight(const ops::WeightDecl& weight) {
  if (!weight_type(weight.dtype))
    return fail(ErrorCode::unsupported,
                fmt::format("cpu cannot compute with weight {} of type {}", weight.name,
                            dtype_name(weight.dtype)),
                "convert the tensor to F32");
  if (must_be_f32(weight.role) && weight.dtype != DType::F32)
    return fail(
        ErrorCode::unsupported,
        fmt::format("cpu takes {} weights as F32 only, and {} is {}",
                    ops::weight_role_name(weight.role), weight.name, dtype_name(weight.dtype)),
        "convert the tensor to F32");
  return {};
}

}  // namespace

Result<void> CpuSpec::supports(const ops::Program& program, const ops::Limits& limits) const {
  for (const ops::WeightDecl& weight : program.weights) HWTV_TRY_VOID(supports_weight(weight));
  for (const ops::KvGroup& kv : program.kv_groups) HWTV_TRY_VOID(supports_cache(kv, limits));
  return {};
}

ops::BytesByUse CpuSpec::memory(const ops::Program& program, const ops::Limits& limits) const {
  ops::BytesByUse bytes;
  for (const ops::WeightDecl& weight : program.weights)
    if (packing_ == Packing::tiles && is_packable(weight))
      bytes.packed_weights += weight.n_experts * packed_matrix_bytes(weight);
    else
      bytes.weights += held_bytes(weight);
  for (size_t group = 0; group < program.kv_groups.size(); ++group)
    bytes.kv += kv_layout(program.kv_groups[group], group, limits).pool_bytes();
  bytes.activations = ops::plan_arena(program, limits, plan_stages(program)).n_bytes;
  bytes.staging = plan_staging(program, limits).n_bytes;
  return bytes;
}

}  // namespace hwtv::cpu
