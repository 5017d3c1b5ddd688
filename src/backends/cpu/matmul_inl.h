// Matrix products with integer weights: 16 outputs side by side, one per lane.  A tile of 16 weight
// rows is expanded to bytes once and used for every token of the part.  After formats_inl.h.
#pragma once
#include <cstdint>

#include "backends/cpu/kernels.h"

namespace hwtv::cpu {
namespace {

constexpr int64_t kChunk = 512;  // elements of a row that are expanded at a time

struct Tile {
  alignas(64) uint8_t quants[kChunk / 4][kTileOutputs][4];
  alignas(64) float scales[kChunk / 16][kTileOutputs];
  alignas(64) float mins[kChunk / 16][kTileOutputs];
};

// Elements [k_begin, k_begin + n) of 16 rows.  Requires: k_begin is a multiple of kChunk.
template <typename Format>
static void expand_tile(const uint8_t* const* rows, int64_t row_bytes, int64_t k_begin, int64_t n,
                        Tile& tile) {
  constexpr int64_t kStep = Format::kBlock < 64 ? 64 : Format::kBlock;
  constexpr int64_t kStepBlocks = kStep / Format::kBlock;
  alignas(64) uint8_t bytes[kTileOutputs][kStep];
  using Block = typename Format::Block;
  for (int64_t k = 0; k < n; k += kStep) {
    for (int64_t r = 0; r < kTileOutputs; ++r) {
      const Block* blocks =
          reinterpret_cast<const Block*>(rows[r]) + (k_begin + k) / Format::kBlock;
      // The next tile's rows follow this one's in memory.
      __builtin_prefetch(reinterpret_cast<const uint8_t*>(blocks) + kTileOutputs * row_bytes);
      for (int64_t b = 0; b < kStepBlocks; ++b) {
        if (k + b * Format::kBlock >= n) {  // half a step: its lines are never read
          __builtin_memset(&bytes[r][b * Format::kBlock], 0, Format::kBlock);
          continue;
        }
        const int64_t group = (k + b * Format::kBlock) / Format::kGroup;
        Format::expand(blocks[b], &bytes[r][b * Format::kBlock], &tile.scales[group][r],
                       &tile.mins[group][r]);
      }
    }
    for (int64_t p = 0; p < kStep; p += 64)
      transpose(&bytes[0][p], kStep, &tile.quants[(k + p) / 4][0][0]);
  }
}

// Adds elements [k_begin, k_begin + n) of kTokens rows of x to acc (kTokens, 16).  In each lane, for
// each group in order: acc += float(integer dot) * (weight scale * x scale), then the minimum's part.
template <typename Format, int kTokens>
static void add_products(const Tile& tile, const QuantizedRows& x, int64_t n_in, int64_t row,
                         int64_t k_begin, int64_t n, float (*acc)[kLanes]) {
  constexpr int kGroup = Format::kGroup;
  constexpr bool kShift = Format::kZero != 0 && !(Format::kWide && kCentersWide);
  const int8_t* quants = x.quants + row * n_in + k_begin;
  const float* scales = x.scales + (row * n_in + k_begin) / 32;
  const int16_t* sums = x.sums + (row * n_in + k_begin) / 16;
  const int64_t scales_stride = n_in / 32, sums_stride = n_in / 16;
  F total[kTokens];
#pragma GCC unroll 8
  for (int t = 0; t < kTokens; ++t) total[t] = load_f(acc[t]);
  for (int64_t g = 0; g < n / kGroup; ++g) {
    const auto group_sum = [&](int t) -> int32_t {
      const int16_t* const s = sums + t * sums_stride;
      return kGroup == 16 ? s[g] : s[2 * g] + s[2 * g + 1];
    };
    I dot[kTokens];
#pragma GCC unroll 8
    for (int t = 0; t < kTokens; ++t) dot[t] = set_i(kShift ? -Format::kZero * group_sum(t) : 0);
#pragma GCC unroll 8
    for (int j = 0; j < kGroup / 4; ++j) {
      const uint8_t* const w = &tile.quants[g * (kGroup / 4) + j][0][0];
#pragma GCC unroll 8
      for (int t = 0; t < kTokens; ++t)
        dot[t] = dot4<Format::kWide>(dot[t], w, quants + t * n_in + g * kGroup + 4 * j);
    }
    const F w_scales = load_f(tile.scales[g]);
#pragma GCC unroll 8
    for (int t = 0; t < kTokens; ++t) {
      const float x_scale = scales[t * scales_stride + g * kGroup / 32];
      total[t] = add_f(total[t], mul_f(to_float(dot[t]), mul_f(w_scales, set_f(x_scale))));
      if constexpr (Format::kHasMin) {
        const float x_sum = x_scale * static_cast<float>(group_sum(t));
        total[t] = add_f(total[t], mul_f(load_f(tile.mins[g]), set_f(x_sum)));
      }
    }
  }
#pragma GCC unroll 8
  for (int t = 0; t < kTokens; ++t) store_f(acc[t], total[t]);
}

template <typename Format>
static void multiply_tile(const MatMulArgs& a, int64_t out, int64_t row_begin, int64_t row_end) {
  const uint8_t* rows[kTileOutputs];
  for (int64_t r = 0; r < kTileOutputs; ++r)  // the last tile repeats the last row
    rows[r] = a.weight + (out + r < a.n_out ? out + r : a.n_out - 1) * a.row_bytes;
  Tile tile;
  alignas(64) float acc[kPartRows][kLanes];
  const int64_t n_rows = row_end - row_begin;
  __builtin_memset(acc, 0, sizeof acc[0] * static_cast<uint64_t>(n_rows));
  for (int64_t k = 0; k < a.n_in; k += kChunk) {
    const int64_t n = a.n_in - k < kChunk ? a.n_in - k : kChunk;
    expand_tile<Format>(rows, a.row_bytes, k, n, tile);
    int64_t t = 0;
    for (; t + kMicroTokens <= n_rows; t += kMicroTokens)
      add_products<Format, kMicroTokens>(tile, a.quantized, a.n_in, row_begin + t, k, n, acc + t);
    if constexpr (kMicroTokens > 2)
      for (; t + 2 <= n_rows; t += 2)
        add_products<Format, 2>(tile, a.quantized, a.n_in, row_begin + t, k, n, acc + t);
    for (; t < n_rows; ++t)
      add_products<Format, 1>(tile, a.quantized, a.n_in, row_begin + t, k, n, acc + t);
  }
  const int64_t n_outs = a.n_out - out < kTileOutputs ? a.n_out - out : kTileOutputs;
  const F bias = a.bias ? load_n(a.bias + out, n_outs) : set_f(0);
  for (int64_t t = 0; t < n_rows; ++t) {
    float* const to = a.out + (row_begin + t) * a.n_out + out;
    const F sum = add_f(load_f(acc[t]), bias);
    n_outs == kTileOutputs ? store_f(to, sum) : store_n(to, sum, n_outs);
  }
}

template <typename Format>
static void matmul_integer(const MatMulArgs& args, const MatMulPart& part) {
  for (int64_t out = part.out_begin; out < part.out_end; out += kTileOutputs)
    multiply_tile<Format>(args, out, part.row_begin, part.row_end);
}

static void quantize_rows(const float* x, int64_t n_in, int64_t row_begin, int64_t row_end,
                          const QuantizedRows& out) {
  for (int64_t i = row_begin * n_in; i < row_end * n_in; i += 32) {
    const F first = load_f(x + i), second = load_f(x + i + 16);
    const float largest = max_lane(max_f(abs_f(first), abs_f(second)));
    const float inverse = largest > 1e-30f ? 127.0f / largest : 0.0f;  // finite
    out.scales[i / 32] = largest / 127.0f;
    const I q_first = round_i(mul_f(first, set_f(inverse)));
    const I q_second = round_i(mul_f(second, set_f(inverse)));
    store_int8(out.quants + i, q_first);
    store_int8(out.quants + i + 16, q_second);
    out.sums[i / 16] = static_cast<int16_t>(sum_i(q_first));
    out.sums[i / 16 + 1] = static_cast<int16_t>(sum_i(q_second));
  }
}

}  // namespace
}  // namespace hwtv::cpu
