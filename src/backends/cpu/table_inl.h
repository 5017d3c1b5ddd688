// Gathers the kernels of one instruction set into its table.  An ISA file includes its simd_*_inl.h,
// then this, and defines one constant with make_kernels(name).
#pragma once
#include "backends/cpu/kernels.h"
// The order matters: each uses the words of those before it.
#include "backends/cpu/formats_inl.h"
#include "backends/cpu/matmul_inl.h"
#include "backends/cpu/packed_inl.h"
#include "backends/cpu/packed_matmul_inl.h"
#include "backends/cpu/dot_inl.h"
#include "backends/cpu/elementwise_inl.h"
#include "backends/cpu/delta_net_inl.h"
#include "backends/cpu/cache_inl.h"
#include "backends/cpu/attention_inl.h"

namespace hwtv::cpu {
namespace {

constexpr Kernels make_kernels(const char* name) {
  return {
      .name = name,
      // In the order of WeightType.
      .matmul = {matmul_plain<PlainF32>, matmul_plain<PlainF16>, matmul_plain<PlainBF16>,
                 matmul_integer<FormatQ4_0>, matmul_integer<FormatQ4_1>,
                 matmul_integer<FormatQ5_0>, matmul_integer<FormatQ5_1>,
                 matmul_integer<FormatQ8_0>, matmul_integer<FormatQ2_K>,
                 matmul_integer<FormatQ3_K>, matmul_integer<FormatQ4_K>,
                 matmul_integer<FormatQ5_K>, matmul_integer<FormatQ6_K>,
                 matmul_integer<FormatIQ4_NL>, matmul_integer<FormatIQ4_XS>,
                 matmul_integer<FormatMXFP4>},
      .matmul_packed = {nullptr, nullptr, nullptr, matmul_packed<PackedQ4_0>,
                        matmul_packed<PackedQ4_1>, matmul_packed<PackedQ5_0>,
                        matmul_packed<PackedQ5_1>, matmul_packed<PackedQ8_0>,
                        matmul_packed<PackedQ2_K>, matmul_packed<PackedQ3_K>,
                        matmul_packed<PackedQ4_K>, matmul_packed<PackedQ5_K>,
                        matmul_packed<PackedQ6_K>, matmul_packed<PackedIQ4_NL>,
                        matmul_packed<PackedIQ4_XS>, matmul_packed<PackedMXFP4>},
      .quantize = quantize_rows,
      .rms_norm = rms_norm,
      .layer_norm = layer_norm,
      .rope = rope,
      .glu = glu,
      .activate = activate_all,
      .add = add,
      .softcap = softcap,
      .sigmoid_gate = sigmoid_gate,
      .delta_net = delta_net,
      // In the order of KvType.
      .write_key = {write_key<PlainKeys<CacheF32>>, write_key<PlainKeys<CacheF16>>,
                    write_key<PlainKeys<CacheBF16>>, write_key<Q8_0Keys>, write_key<Q4_0Keys>},
      .write_value = {write_value<PlainValues<CacheF32>>, write_value<PlainValues<CacheF16>>,
                      write_value<PlainValues<CacheBF16>>, write_value<Q8_0Values>,
                      write_value<Q4_0Values>},
      .attention = attend,
      .attention_split = attend_split,
      .merge_splits = merge_splits,
  };
}

}  // namespace
}  // namespace hwtv::cpu
