// How keys and values lie in a kv_block: keys in tiles of 16 tokens, element by element, so that one
// load brings one element of 16 tokens; values row by row.  After simd_*_inl.h.
#pragma once
#include <cstdint>

#include "backends/cpu/kernels.h"
#include "ops/quant_blocks.h"

namespace hwtv::cpu {
namespace {

// Plain cache elements: 16 at a time.
struct CacheF32 {
  static constexpr int64_t kBytes = 4;
  HWTV_INLINE F load(const uint8_t* p) { return load_f(reinterpret_cast<const float*>(p)); }
  HWTV_INLINE void store(uint8_t* p, F a) { store_f(reinterpret_cast<float*>(p), a); }
};
struct CacheF16 {
  static constexpr int64_t kBytes = 2;
  HWTV_INLINE F load(const uint8_t* p) { return load_half(reinterpret_cast<const uint16_t*>(p)); }
  HWTV_INLINE void store(uint8_t* p, F a) { store_half(reinterpret_cast<uint16_t*>(p), a); }
};
struct CacheBF16 {
  static constexpr int64_t kBytes = 2;
  HWTV_INLINE F load(const uint8_t* p) { return load_bfloat(reinterpret_cast<const uint16_t*>(p)); }
  HWTV_INLINE void store(uint8_t* p, F a) {  // rounds to nearest even; NaN stays NaN
    float lanes[kLanes];
    store_f(lanes, a);
    for (int i = 0; i < kLanes; ++i) {
      uint32_t bits;
      __builtin_memcpy(&bits, &lanes[i], 4);
      const uint32_t rounded = (bits & 0x7fffffffu) > 0x7f800000u
                                   ? bits | 0x400000u
                                   : bits + 0x7fffu + ((bits >> 16) & 1u);
      const uint16_t top = static_cast<uint16_t>(rounded >> 16);
      __builtin_memcpy(p + 2 * i, &top, 2);
    }
  }
};

// The same blocks as ops::quantize_row makes: one rounding for all backends.
HWTV_INLINE float inverse_scale(float scale) {  // 0 where the scale would be 0 as a half anyway
  return __builtin_fabsf(scale) < 0x1p-126f ? 0.0f : 1.0f / scale;
}
HWTV_INLINE float clamp_scalar(float x, float low, float high) {  // NaN becomes low
  return x > low ? (x < high ? x : high) : low;
}

// 32 elements; the largest magnitude maps to 127, halves round away from 0.
HWTV_INLINE ops::BlockQ8_0 to_q8_0(const float* x) {
  const float largest = max_lane(max_f(abs_f(load_f(x)), abs_f(load_f(x + 16))));
  const float scale = largest / 127.0f;
  const float factor = inverse_scale(scale);
  ops::BlockQ8_0 block;
  block.scale = float_to_half_bits(scale);
  for (int i = 0; i < 32; ++i) {
    const float steps = clamp_scalar(x[i] * factor, -127.0f, 127.0f);
    const int whole = static_cast<int>(steps);
    const float rest = steps - static_cast<float>(whole);
    block.quants[i] = static_cast<int8_t>(whole + (rest >= 0.5f) - (rest <= -0.5f));
  }
  return block;
}

// 32 elements; the element of largest magnitude, with its sign, maps to -8.
HWTV_INLINE ops::BlockQ4_0 to_q4_0(const float* x) {
  float extreme = 0;
  for (int i = 0; i < 32; ++i)
    if (__builtin_fabsf(x[i]) > __builtin_fabsf(extreme)) extreme = x[i];
  const float scale = extreme / -8.0f;
  const float factor = inverse_scale(scale);
  const auto nibble = [&](float v) {
    return static_cast<uint8_t>(clamp_scalar(v * factor + 8.5f, 0.0f, 15.0f));
  };
  ops::BlockQ4_0 block;
  block.scale = float_to_half_bits(scale);
  for (int i = 0; i < 16; ++i)
    block.nibbles[i] = static_cast<uint8_t>(nibble(x[i]) | (nibble(x[i + 16]) << 4));
  return block;
}

template <int kRows, int kTiles>
HWTV_INLINE void set_zero(F (*acc)[kTiles]) {
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (int t = 0; t < kTiles; ++t) acc[r][t] = set_f(0);
}
// acc[r][t] += q[r][d] * key(t)
template <int kRows, int kTiles, typename Key>
HWTV_INLINE void add_element(const Key& key, const float* const* q, int64_t d, F (*acc)[kTiles]) {
  F keys[kTiles];
#pragma GCC unroll 2
  for (int t = 0; t < kTiles; ++t) keys[t] = key(t);
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    const F x = set_f(q[r][d]);
#pragma GCC unroll 2
    for (int t = 0; t < kTiles; ++t) acc[r][t] = madd_f(x, keys[t], acc[r][t]);
  }
}

// Memory that is needed later, asked for line by line while something else is computed: a burst of
// requests would fill the buffers that the loads of the moment need.
struct Ahead {
  const uint8_t* at;
  int64_t step_bytes;  // 0: the same line again and again, which costs next to nothing
};
template <int kLines>
HWTV_INLINE void prefetch_next(Ahead& ahead) {
#pragma GCC unroll 2
  for (int line = 0; line < kLines; ++line) prefetch_to_l2(ahead.at + 64 * line);
  ahead.at += ahead.step_bytes;
}

// Keys.  tile_bytes: of 16 tokens.  add_scores: acc[r][t] lane i += q[r] . key of token i of tile t;
// takes one step of `ahead` for each element.
template <typename Element>
struct PlainKeys {
  static int64_t tile_bytes(int64_t head_dim) { return head_dim * kLanes * Element::kBytes; }

  static void write(uint8_t* tile, int64_t lane, const float* key, int64_t head_dim) {
    for (int64_t d = 0; d < head_dim; d += kLanes) {
      const int64_t n = head_dim - d < kLanes ? head_dim - d : kLanes;
      alignas(4) uint8_t stored[kLanes * Element::kBytes];
      Element::store(stored, n == kLanes ? load_f(key + d) : load_n(key + d, n));
      for (int64_t i = 0; i < n; ++i)
        __builtin_memcpy(tile + ((d + i) * kLanes + lane) * Element::kBytes,
                         stored + i * Element::kBytes, Element::kBytes);
    }
  }

  template <int kRows, int kTiles>
  HWTV_INLINE void add_scores(const uint8_t* const* tiles, const float* const* q, int64_t head_dim,
                              Ahead ahead, F (*acc)[kTiles]) {
    for (int64_t d = 0; d < head_dim; ++d) {
      prefetch_next<1>(ahead);
      add_element<kRows, kTiles>(
          [&](int t) __attribute__((always_inline)) {
            return Element::load(tiles[t] + d * kLanes * Element::kBytes);
          },
          q, d, acc);
    }
  }
};

// For each 32 elements: 16 scales (half), then the quants of 16 tokens, element by element.
struct Q8_0Keys {
  static constexpr int64_t kBlockBytes = sizeof(ops::BlockQ8_0) * kKvTileTokens;
  static int64_t tile_bytes(int64_t head_dim) { return head_dim / 32 * kBlockBytes; }

  static void write(uint8_t* tile, int64_t lane, const float* key, int64_t head_dim) {
    for (int64_t d = 0; d < head_dim; d += 32, tile += kBlockBytes) {
      const ops::BlockQ8_0 block = to_q8_0(key + d);
      __builtin_memcpy(tile + 2 * lane, &block.scale, 2);
      for (int i = 0; i < 32; ++i)
        tile[32 + i * kLanes + lane] = static_cast<uint8_t>(block.quants[i]);
    }
  }

  template <int kRows, int kTiles>
  HWTV_INLINE void add_scores(const uint8_t* const* tiles, const float* const* q, int64_t head_dim,
                              Ahead ahead, F (*acc)[kTiles]) {
    for (int64_t d = 0; d < head_dim; d += 32) {
      const uint8_t* at[kTiles];
#pragma GCC unroll 2
      for (int t = 0; t < kTiles; ++t) at[t] = tiles[t] + d / 32 * kBlockBytes;
      F dot[kRows][kTiles];
      set_zero<kRows, kTiles>(dot);
      for (int i = 0; i < 32; ++i) {
        prefetch_next<1>(ahead);
        add_element<kRows, kTiles>(
            [&](int t) __attribute__((always_inline)) {
              return load_int8(reinterpret_cast<const int8_t*>(at[t]) + 32 + i * kLanes);
            },
            q, d + i, dot);
      }
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
        for (int t = 0; t < kTiles; ++t)
          acc[r][t] = madd_f(dot[r][t], load_half(reinterpret_cast<const uint16_t*>(at[t])), acc[r][t]);
    }
  }
};

// As Q8_0Keys; elements i and i + 16 of a quant_block share a byte.
struct Q4_0Keys {
  static constexpr int64_t kBlockBytes = sizeof(ops::BlockQ4_0) * kKvTileTokens;
  static int64_t tile_bytes(int64_t head_dim) { return head_dim / 32 * kBlockBytes; }

  static void write(uint8_t* tile, int64_t lane, const float* key, int64_t head_dim) {
    for (int64_t d = 0; d < head_dim; d += 32, tile += kBlockBytes) {
      const ops::BlockQ4_0 block = to_q4_0(key + d);
      __builtin_memcpy(tile + 2 * lane, &block.scale, 2);
      for (int i = 0; i < 16; ++i) tile[32 + i * kLanes + lane] = block.nibbles[i];
    }
  }

  template <int kRows, int kTiles>
  HWTV_INLINE void add_scores(const uint8_t* const* tiles, const float* const* q, int64_t head_dim,
                              Ahead ahead, F (*acc)[kTiles]) {
    for (int64_t d = 0; d < head_dim; d += 32) {
      const uint8_t* at[kTiles];
#pragma GCC unroll 2
      for (int t = 0; t < kTiles; ++t) at[t] = tiles[t] + d / 32 * kBlockBytes;
      F dot[kRows][kTiles];
      set_zero<kRows, kTiles>(dot);
      for (int i = 0; i < 32; ++i) {
        prefetch_next<1>(ahead);
        add_element<kRows, kTiles>(
            [&](int t) __attribute__((always_inline)) {
              return load_nibbles(at[t] + 32 + (i % 16) * kLanes, i < 16 ? 0 : 4);
            },
            q, d + i, dot);
      }
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
        for (int t = 0; t < kTiles; ++t)
          acc[r][t] = madd_f(dot[r][t], load_half(reinterpret_cast<const uint16_t*>(at[t])), acc[r][t]);
    }
  }
};

// Values.  load: elements [d, d + 16) of a row; d is a multiple of 16.
template <typename Element>
struct PlainValues {
  static void write(uint8_t* row, const float* value, int64_t value_dim) {
    for (int64_t d = 0; d < value_dim; d += kLanes) {
      const int64_t n = value_dim - d < kLanes ? value_dim - d : kLanes;
      Element::store(row + d * Element::kBytes, n == kLanes ? load_f(value + d) : load_n(value + d, n));
    }
  }
  HWTV_INLINE F load(const uint8_t* row, int64_t d) { return Element::load(row + d * Element::kBytes); }
};

struct Q8_0Values {
  static void write(uint8_t* row, const float* value, int64_t value_dim) {
    for (int64_t d = 0; d < value_dim; d += 32, row += sizeof(ops::BlockQ8_0)) {
      const ops::BlockQ8_0 block = to_q8_0(value + d);
      __builtin_memcpy(row, &block, sizeof block);
    }
  }
  HWTV_INLINE F load(const uint8_t* row, int64_t d) {
    const ops::BlockQ8_0* block = reinterpret_cast<const ops::BlockQ8_0*>(row) + d / 32;
    return mul_f(load_int8(block->quants + d % 32), set_f(half_bits_to_float(block->scale)));
  }
};

struct Q4_0Values {
  static void write(uint8_t* row, const float* value, int64_t value_dim) {
    for (int64_t d = 0; d < value_dim; d += 32, row += sizeof(ops::BlockQ4_0)) {
      const ops::BlockQ4_0 block = to_q4_0(value + d);
      __builtin_memcpy(row, &block, sizeof block);
    }
  }
  HWTV_INLINE F load(const uint8_t* row, int64_t d) {
    const ops::BlockQ4_0* block = reinterpret_cast<const ops::BlockQ4_0*>(row) + d / 32;
    const F steps = load_nibbles(block->nibbles, d % 32 == 0 ? 0 : 4);
    return mul_f(steps, set_f(half_bits_to_float(block->scale)));
  }
};

HWTV_INLINE uint8_t* key_tile(const KvPlace& place, const int32_t* block_table, int64_t head,
                              int64_t position, int64_t tile_bytes) {
  return place.pool + block_table[position / place.block_tokens] * place.block_bytes +
         place.k_offset + head * place.k_head_bytes +
         position % place.block_tokens / kKvTileTokens * tile_bytes;
}
HWTV_INLINE uint8_t* value_row(const KvPlace& place, const int32_t* block_table, int64_t head,
                               int64_t position) {
  return place.pool + block_table[position / place.block_tokens] * place.block_bytes +
         place.v_offset + head * place.v_head_bytes +
         position % place.block_tokens * place.v_row_bytes;
}

template <typename Keys>
static void write_key(const KvWriteArgs& a, const int32_t* block_table, int64_t row,
                      int64_t position) {
  const float* key = a.k + row * a.n_kv_heads * a.head_dim;
  const int64_t lane = position % a.place.block_tokens % kKvTileTokens;
  for (int64_t head = 0; head < a.n_kv_heads; ++head, key += a.head_dim)
    Keys::write(key_tile(a.place, block_table, head, position, Keys::tile_bytes(a.head_dim)), lane,
                key, a.head_dim);
}
template <typename Values>
static void write_value(const KvWriteArgs& a, const int32_t* block_table, int64_t row,
                        int64_t position) {
  const float* value = a.v + row * a.n_kv_heads * a.value_dim;
  for (int64_t head = 0; head < a.n_kv_heads; ++head, value += a.value_dim)
    Values::write(value_row(a.place, block_table, head, position), value, a.value_dim);
}

}  // namespace
}  // namespace hwtv::cpu
