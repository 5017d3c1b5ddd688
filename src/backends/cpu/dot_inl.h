// Matrix products with float weights (F32, F16, BF16): each sum over k runs in 16 lanes, lane i
// taking elements i, i + 16, ...; the lanes are added at the end.  After simd_*_inl.h.
#pragma once
#include <cstdint>

#include "backends/cpu/kernels.h"

namespace hwtv::cpu {
namespace {

struct PlainF32 {
  static constexpr int64_t kBytes = 4;
  HWTV_INLINE F load(const uint8_t* p) { return load_f(reinterpret_cast<const float*>(p)); }
};
struct PlainF16 {
  static constexpr int64_t kBytes = 2;
  HWTV_INLINE F load(const uint8_t* p) { return load_half(reinterpret_cast<const uint16_t*>(p)); }
};
struct PlainBF16 {
  static constexpr int64_t kBytes = 2;
  HWTV_INLINE F load(const uint8_t* p) { return load_bfloat(reinterpret_cast<const uint16_t*>(p)); }
};

// sums (kRows, kTokens)
template <typename Plain, int kRows, int kTokens>
static void dot_rows(const uint8_t* const* w, const float* x, int64_t n_in,
                     float (*sums)[kDotTokens]) {
  F acc[kRows][kTokens];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int t = 0; t < kTokens; ++t) acc[r][t] = set_f(0);
  const auto step = [&](const F* w_lanes, const F* x_lanes) __attribute__((always_inline)) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
      for (int t = 0; t < kTokens; ++t) acc[r][t] = madd_f(w_lanes[r], x_lanes[t], acc[r][t]);
  };
  F w_lanes[kRows], x_lanes[kTokens];
  int64_t k = 0;
  for (; k + kLanes <= n_in; k += kLanes) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      w_lanes[r] = Plain::load(w[r] + k * Plain::kBytes);
      if constexpr (kTokens == 1)  // where the next rows lie
        __builtin_prefetch(w[r] + k * Plain::kBytes + kRows * n_in * Plain::kBytes);
    }
#pragma GCC unroll 4
    for (int t = 0; t < kTokens; ++t) x_lanes[t] = load_f(x + t * n_in + k);
    step(w_lanes, x_lanes);
  }
  if (const int64_t rest = n_in - k; rest > 0) {
    for (int r = 0; r < kRows; ++r) {
      alignas(4) uint8_t padded[kLanes * Plain::kBytes] = {};
      __builtin_memcpy(padded, w[r] + k * Plain::kBytes,
                       static_cast<uint64_t>(rest * Plain::kBytes));
      w_lanes[r] = Plain::load(padded);
    }
    for (int t = 0; t < kTokens; ++t) x_lanes[t] = load_n(x + t * n_in + k, rest);
    step(w_lanes, x_lanes);
  }
  for (int r = 0; r < kRows; ++r)
    for (int t = 0; t < kTokens; ++t) sums[r][t] = sum_f(acc[r][t]);
}

template <typename Plain, int kTokens>
static void dot_tile(const MatMulArgs& a, int64_t out_begin, int64_t out_end, int64_t row) {
  for (int64_t out = out_begin; out < out_end; out += kDotRows) {
    const uint8_t* w[kDotRows];
    for (int64_t r = 0; r < kDotRows; ++r)  // the last rows are repeated past the end
      w[r] = a.weight + (out + r < a.n_out ? out + r : a.n_out - 1) * a.row_bytes;
    float sums[kDotRows][kDotTokens];
    dot_rows<Plain, kDotRows, kTokens>(w, a.x + row * a.n_in, a.n_in, sums);
    for (int64_t r = 0; r < kDotRows && out + r < out_end; ++r)
      for (int64_t t = 0; t < kTokens; ++t)
        a.out[(row + t) * a.n_out + out + r] = sums[r][t] + (a.bias ? a.bias[out + r] : 0.0f);
  }
}

template <typename Plain>
static void matmul_plain(const MatMulArgs& a, const MatMulPart& part) {
  for (int64_t out = part.out_begin; out < part.out_end; out += kTileOutputs) {
    const int64_t end = out + kTileOutputs < part.out_end ? out + kTileOutputs : part.out_end;
    int64_t row = part.row_begin;
    for (; row + kDotTokens <= part.row_end; row += kDotTokens)
      dot_tile<Plain, kDotTokens>(a, out, end, row);
    for (; row < part.row_end; ++row) dot_tile<Plain, 1>(a, out, end, row);
  }
}

}  // namespace
}  // namespace hwtv::cpu
