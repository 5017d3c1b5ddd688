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

// 16 weight rows from element k_begin on.  Requires: k_begin is a multiple of kChunk.
template <typename Format>
struct Rows {
  using Block = typename Format::Block;
  const uint8_t* rows[kTileOutputs];
  int64_t row_bytes;
  int64_t k_begin;

  const Block& block(int64_t r, int64_t k) const {
    return reinterpret_cast<const Block*>(rows[r])[(k_begin + k) / Format::kBlock];
  }
  // Elements [k, k + 64) of a row; k is a multiple of 64.  What lies past n is 0.
  HWTV_INLINE R quants(const Rows& self, int64_t r, int64_t k, int64_t n) {
    const Block& first = self.block(r, k);
    if constexpr (Format::kBlock == 32) {
      const bool whole = k + 32 < n;
      const B low = Format::quants(first, 0);
      return join(low, whole ? Format::quants(self.block(r, k + 32), 0) : field_b(low, 0, 0));
    } else {
      const int part = static_cast<int>(k % Format::kBlock / 32);
      return join(Format::quants(first, part), Format::quants(first, part + 1));
    }
  }
};

// The scales and minimums of elements [0, n) of the rows.
template <typename Format>
static void expand_scales(const Rows<Format>& w, int64_t n, Tile& tile) {
  if constexpr (Format::kHalves) {
    // All halves first: a load of 16 right behind 16 stores would wait for them.
    alignas(32) uint16_t scales[kChunk / 32][kTileOutputs], mins[kChunk / 32][kTileOutputs];
    for (int64_t r = 0; r < kTileOutputs; ++r)
      for (int64_t g = 0; g < n / 32; ++g) {
        const auto& block = w.block(r, 32 * g);
        scales[g][r] = block.scale;
        if constexpr (Format::kHasMin) mins[g][r] = block.min;
      }
    for (int64_t g = 0; g < n / 32; ++g) {
      store_f(tile.scales[g], load_half(scales[g]));
      if constexpr (Format::kHasMin) store_f(tile.mins[g], load_half(mins[g]));
    }
  } else {
    for (int64_t r = 0; r < kTileOutputs; ++r)
      for (int64_t k = 0; k < n; k += Format::kBlock) {
        const int64_t g = k / Format::kGroup;
        Format::scales(w.block(r, k), &tile.scales[g][r], &tile.mins[g][r]);
      }
  }
}

// The quants of elements [0, n) of the rows.
template <typename Format>
static void expand_quants(const Rows<Format>& w, int64_t n, Tile& tile) {
  for (int64_t k = 0; k < n; k += 64) {
    R rows[kTileOutputs];
#pragma GCC unroll kUnroll
    for (int64_t r = 0; r < kTileOutputs; ++r) rows[r] = Rows<Format>::quants(w, r, k, n);
    transpose(rows, &tile.quants[k / 4][0][0]);
  }
}

// One row of x, as add_products reads it.
struct XRow {
  const int8_t* quants;
  const float* scales;
  const int16_t* sums;
};

// Elements of x that share a scale; one or two groups of a weight lie in them.
constexpr int kXBlock = 32;
template <typename Format>
constexpr int kGroupsOfX = kXBlock / Format::kGroup;

// How integers become floats, in one place, so that every path has its order.  The two groups of a
// block of x are summed first, as float(integer dot) * weight scale in every lane; a group that fills
// the block is scaled below.
template <typename Format>
HWTV_INLINE void add_dot(F& sum, int group, I dot, F scale) {
  if constexpr (kGroupsOfX<Format> == 1)
    sum = to_float(dot);
  else
    sum = group == 0 ? mul_f(to_float(dot), scale) : fma_f(to_float(dot), scale, sum);
}
// Then the block is added to `total`: its sum by the scales, and the minimums' part.
// scale: of the block's only group; mins, x_sums (kGroupsOfX)
template <typename Format>
HWTV_INLINE F add_block(F total, F sum, F scale, float x_scale, const F* mins,
                        const float* x_sums) {
  const F factor = kGroupsOfX<Format> == 1 ? mul_f(scale, set_f(x_scale)) : set_f(x_scale);
  total = fma_f(sum, factor, total);
  if constexpr (Format::kHasMin) {
#pragma GCC unroll 2
    for (int i = 0; i < kGroupsOfX<Format>; ++i) total = fma_f(mins[i], set_f(x_sums[i]), total);
  }
  return total;
}
// The sum of a group of x as a float.
HWTV_INLINE float scaled_sum(float x_scale, int32_t x_sum) {
  return x_scale * static_cast<float>(x_sum);
}
// Whether dot products of the unsigned quants have a zero point in them.
template <typename Format>
constexpr bool kShifts = Format::kZero != 0 && !(Format::kWide && kCentersWide);
// What it adds to a dot product: -kZero times the sum of x.
template <typename Format>
HWTV_INLINE I zero_part(int32_t x_sum) {
  return set_i(kShifts<Format> ? -Format::kZero * x_sum : 0);
}
template <typename Format>
HWTV_INLINE int32_t sum_of_group(const int16_t* sums, int64_t g) {
  return Format::kGroup == 16 ? sums[g] : sums[2 * g] + sums[2 * g + 1];
}

// Adds elements [0, n) of the tile times kTokens rows of x to acc (kTokens, 16).
template <typename Format, int kTokens>
static void add_products(const Tile& tile, const XRow& x, int64_t n_in, int64_t n,
                         float (*acc)[kLanes]) {
  constexpr int kGroup = Format::kGroup, kGroups = kGroupsOfX<Format>;
  const int64_t scales_stride = n_in / kXBlock, sums_stride = n_in / 16;
  F total[kTokens];
#pragma GCC unroll 8
  for (int t = 0; t < kTokens; ++t) total[t] = load_f(acc[t]);
  for (int64_t block = 0; block < n / kXBlock; ++block) {
    F sum[kTokens], scale, mins[kGroups];
    float x_sums[kTokens][kGroups];
#pragma GCC unroll 2
    for (int i = 0; i < kGroups; ++i) {
      const int64_t g = block * kGroups + i;
      I dot[kTokens];
#pragma GCC unroll 8
      for (int t = 0; t < kTokens; ++t) {
        const int32_t x_sum = sum_of_group<Format>(x.sums + t * sums_stride, g);
        dot[t] = zero_part<Format>(x_sum);
        x_sums[t][i] = scaled_sum(x.scales[t * scales_stride + block], x_sum);
      }
#pragma GCC unroll kUnroll
      for (int j = 0; j < kGroup / 4; ++j) {
        const uint8_t* const w = &tile.quants[g * (kGroup / 4) + j][0][0];
#pragma GCC unroll 8
        for (int t = 0; t < kTokens; ++t)
          dot[t] = dot4<Format::kWide>(dot[t], w, x.quants + t * n_in + g * kGroup + 4 * j);
      }
      scale = load_f(tile.scales[g]);
      mins[i] = load_f(tile.mins[g]);
#pragma GCC unroll 8
      for (int t = 0; t < kTokens; ++t) add_dot<Format>(sum[t], i, dot[t], scale);
    }
#pragma GCC unroll 8
    for (int t = 0; t < kTokens; ++t)
      total[t] = add_block<Format>(total[t], sum[t], scale, x.scales[t * scales_stride + block],
                                   mins, x_sums[t]);
  }
#pragma GCC unroll 8
  for (int t = 0; t < kTokens; ++t) store_f(acc[t], total[t]);
}

// The same for one row of x, straight from the weight rows: each row's dot products run along the
// row, and four by four their lanes are added across rows.  Integer sums are exact in any order.
template <typename Format>
static void add_products_of_one(const Rows<Format>& w, const Tile& tile, const XRow& x, int64_t n,
                                float* acc) {
  constexpr int kGroups = kGroupsOfX<Format>;
  F total = load_f(acc);
  for (int64_t k = 0; k < n; k += 64) {
    alignas(64) int8_t padded[64] = {};
    const int8_t* quants = x.quants + k;
    if (k + 64 > n) {
      __builtin_memcpy(padded, quants, 32);
      quants = padded;
    }
    I dots[kTileOutputs], quads[4];
#pragma GCC unroll kUnroll
    for (int64_t r = 0; r < kTileOutputs; ++r) {
      __builtin_prefetch(reinterpret_cast<const uint8_t*>(&w.block(r, k)) +
                         kTileOutputs * w.row_bytes);  // where the next tile's rows lie
      dots[r] = dot_row<Format::kWide>(Rows<Format>::quants(w, r, k, n), quants);
    }
    add_quads(dots, quads);
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      if (k + half * kXBlock >= n) break;
      const int64_t block = k / kXBlock + half;
      F sum, scale, mins[kGroups];
      float x_sums[kGroups];
#pragma GCC unroll 2
      for (int i = 0; i < kGroups; ++i) {
        const int64_t g = block * kGroups + i;
        const int32_t x_sum = sum_of_group<Format>(x.sums, g);
        const I dot =
            kGroups == 2 ? quads[2 * half + i] : add_i(quads[2 * half], quads[2 * half + 1]);
        scale = load_f(tile.scales[g]);
        add_dot<Format>(sum, i, add_i(dot, zero_part<Format>(x_sum)), scale);
        mins[i] = load_f(tile.mins[g]);
        x_sums[i] = scaled_sum(x.scales[block], x_sum);
      }
      total = add_block<Format>(total, sum, scale, x.scales[block], mins, x_sums);
    }
  }
  store_f(acc, total);
}

template <typename Format>
static void multiply_tile(const MatMulArgs& a, int64_t out, int64_t row_begin, int64_t row_end) {
  Rows<Format> w;
  w.row_bytes = a.row_bytes;
  for (int64_t r = 0; r < kTileOutputs; ++r)  // the last tile repeats the last row
    w.rows[r] = a.weight + (out + r < a.n_out ? out + r : a.n_out - 1) * a.row_bytes;
  Tile tile;
  alignas(64) float acc[kPartRows][kLanes];
  const int64_t n_rows = row_end - row_begin;
  __builtin_memset(acc, 0, sizeof acc[0] * static_cast<uint64_t>(n_rows));
  for (w.k_begin = 0; w.k_begin < a.n_in; w.k_begin += kChunk) {
    const int64_t n = a.n_in - w.k_begin < kChunk ? a.n_in - w.k_begin : kChunk;
    const auto x_row = [&](int64_t t) -> XRow {
      const int64_t at = (row_begin + t) * a.n_in + w.k_begin;
      return {a.quantized.quants + at, a.quantized.scales + at / 32, a.quantized.sums + at / 16};
    };
    expand_scales<Format>(w, n, tile);
    if (n_rows == 1) {
      add_products_of_one<Format>(w, tile, x_row(0), n, acc[0]);
      continue;
    }
    expand_quants<Format>(w, n, tile);
    int64_t t = 0;
    for (; t + kMicroTokens <= n_rows; t += kMicroTokens)
      add_products<Format, kMicroTokens>(tile, x_row(t), a.n_in, n, acc + t);
    if constexpr (kMicroTokens > 2)
      for (; t + 2 <= n_rows; t += 2) add_products<Format, 2>(tile, x_row(t), a.n_in, n, acc + t);
    for (; t < n_rows; ++t) add_products<Format, 1>(tile, x_row(t), a.n_in, n, acc + t);
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
  const int64_t n_rows = out.block_rows;
  for (int64_t row = row_begin; row < row_end; ++row)
    for (int64_t g = 0; g < n_in / 32; ++g) {
      const float* const from = x + row * n_in + 32 * g;
      const F first = load_f(from), second = load_f(from + 16);
      const float largest = max_lane(max_f(abs_f(first), abs_f(second)));
      const float inverse = largest > 1e-30f ? 127.0f / largest : 0.0f;  // finite
      const I q_first = round_i(mul_f(first, set_f(inverse)));
      const I q_second = round_i(mul_f(second, set_f(inverse)));
      // Of (row / n_rows, group, row % n_rows).
      const int64_t block = row / n_rows * (n_in / 32) + g, lane = row % n_rows;
      out.scales[block * n_rows + lane] = largest / 127.0f;
      store_int8(out.quants + (block * n_rows + lane) * 32, q_first);
      store_int8(out.quants + (block * n_rows + lane) * 32 + 16, q_second);
      out.sums[2 * block * n_rows + lane] = static_cast<int16_t>(sum_i(q_first));
      out.sums[(2 * block + 1) * n_rows + lane] = static_cast<int16_t>(sum_i(q_second));
    }
}

}  // namespace
}  // namespace hwtv::cpu
