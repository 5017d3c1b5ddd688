// Attention over the paged cache.  Each split of kSplitTokens positions is summed by itself, with
// its own largest score, and the splits are merged in order [Milakov & Gimelshein 2018]. After
// cache_inl.h and elementwise_inl.h (exp_f).
#pragma once
#include <cstdint>

#include "backends/cpu/kernels.h"

namespace hwtv::cpu {
namespace {

// The query rows of one part, unpacked.
struct Queries {
  int64_t n;
  int64_t slot[kQueryRows];    // row * n_heads + head
  const float* q[kQueryRows];  // (head_dim)
  int64_t begin[kQueryRows];   // the positions that the row sees: [begin, end)
  int64_t end[kQueryRows];
};

static Queries unpack_queries(const AttentionArgs& a, const AttentionPart& part) {
  Queries rows;
  const int64_t n_group_heads = a.n_heads / a.n_kv_heads;
  rows.n = part.query_end - part.query_begin;
  for (int64_t i = 0; i < rows.n; ++i) {
    const int64_t token = (part.query_begin + i) / n_group_heads;
    const int64_t head = part.kv_head * n_group_heads + (part.query_begin + i) % n_group_heads;
    rows.slot[i] = (part.first_row + token) * a.n_heads + head;
    rows.q[i] = a.q + rows.slot[i] * a.head_dim;
    rows.end[i] = a.causal ? part.first_position + token + 1 : part.n_positions;
    rows.begin[i] =
        a.window_tokens > 0 && rows.end[i] > a.window_tokens ? rows.end[i] - a.window_tokens : 0;
  }
  return rows;
}

// One split of a part: scores become weights exp(score - max).
struct Split {
  int64_t first;    // position of weights[r][0]
  int64_t lo, hi;   // the positions that any row sees
  int64_t n_known;  // positions that the block table reaches to: those of the last row
  int64_t key_tile_bytes;
  float max[kQueryRows];
  float sum[kQueryRows];  // 0: the row sees nothing here
  // A tile's lanes may reach past the last position.
  alignas(64) float weights[kQueryRows][kSplitTokens + kKvTileTokens];
};

// Calls work<k>(row) for pieces of k <= kAttentionRows rows that together are [0, n).
template <typename Work>
HWTV_INLINE void for_rows(int64_t n, const Work& work) {
  int64_t row = 0;
  for (; row + kAttentionRows <= n; row += kAttentionRows)
    work.template operator()<kAttentionRows>(row);
  if constexpr (kAttentionRows > 3)
    if (n - row == 3) return work.template operator()<3>(row);
  if constexpr (kAttentionRows > 2)
    if (n - row == 2) return work.template operator()<2>(row);
  if (n - row == 1) work.template operator()<1>(row);
}

// A split's values are asked for while its keys are scored, the next split's keys while its values are
// summed: exactly those bytes, once for all rows.  The pieces of one head lie apart, so that reading
// on past one would fetch another head's.

// The values of n_tokens from position p on, in head_dim steps.
HWTV_INLINE Ahead values_ahead(const AttentionArgs& a, const AttentionPart& part, int64_t p,
                               int64_t n_tokens) {
  return {value_row(a.place, part.block_table, part.kv_head, p),
          (n_tokens * a.place.v_row_bytes + a.head_dim - 1) / a.head_dim};
}
// The keys of the tokens from position p on, in a step for each token: from the share on that element
// d is of a value, as all passes over the values ask for the whole together.
HWTV_INLINE Ahead keys_ahead(const AttentionArgs& a, const AttentionPart& part, const Split& split,
                             int64_t p, int64_t d) {
  const int64_t token_bytes = split.key_tile_bytes / kKvTileTokens;
  return {key_tile(a.place, part.block_table, part.kv_head, p, split.key_tile_bytes) +
              p % kKvTileTokens * token_bytes + d * token_bytes / a.value_dim,
          token_bytes};
}

// The scores of kTiles tiles of keys from position p on.
template <typename Keys, int kRows, int kTiles>
HWTV_INLINE void score_tiles(const AttentionArgs& a, const AttentionPart& part,
                             const float* const* q, Split& split, int64_t row, int64_t p,
                             int64_t step) {
  const uint8_t* tiles[kTiles];
#pragma GCC unroll 2
  for (int t = 0; t < kTiles; ++t) {
    tiles[t] = key_tile(a.place, part.block_table, part.kv_head, p + t * step, split.key_tile_bytes);
  }
  const Ahead ahead = row == 0 ? values_ahead(a, part, p, kTiles * step) : Ahead{tiles[0], 0};
  F acc[kRows][kTiles];
  set_zero<kRows, kTiles>(acc);
  Keys::template add_scores<kRows, kTiles>(tiles, q, a.head_dim, ahead, acc);
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (int t = 0; t < kTiles; ++t)
      store_f(&split.weights[row + r][p + t * step - split.first],
              mul_f(acc[r][t], set_f(a.scale)));
}

template <typename Keys, int kRows>
static void score_rows(const AttentionArgs& a, const AttentionPart& part, const float* const* q,
                       Split& split, int64_t row) {
  const int64_t step = a.place.block_tokens < kKvTileTokens ? a.place.block_tokens : kKvTileTokens;
  int64_t p = split.lo - split.lo % step;
  if constexpr (kScoreTiles > 1)
    for (; p + (kScoreTiles - 1) * step < split.hi; p += kScoreTiles * step)
      score_tiles<Keys, kRows, kScoreTiles>(a, part, q, split, row, p, step);
  for (; p < split.hi; p += step) score_tiles<Keys, kRows, 1>(a, part, q, split, row, p, step);
}

// Positions outside the row's own range get weight 0.
static void weigh_row(Split& split, int64_t row, int64_t begin, int64_t end) {
  float* const weights = split.weights[row];
  const int64_t first_tile = (split.lo - split.first) / kLanes * kLanes;
  const int64_t n = split.hi - split.first;
  begin -= split.first;
  end -= split.first;
  F largest = set_f(-__builtin_inff());
  for (int64_t i = first_tile; i < n; i += kLanes)
    largest = max_f(keep_f(load_f(weights + i), begin - i, end - i, -__builtin_inff()), largest);
  split.max[row] = max_lane(largest);
  F sum = set_f(0);
  for (int64_t i = first_tile; i < n; i += kLanes) {
    const F weight = exp_f(sub_f(load_f(weights + i), set_f(split.max[row])));
    const F kept = keep_f(weight, begin - i, end - i, 0.0f);
    store_f(weights + i, kept);
    sum = add_f(sum, kept);
  }
  split.sum[row] = sum_f(sum);
}

// Scores s become cap * tanh(s / cap).
static void cap_scores(Split& split, int64_t n_rows, float cap) {
  const int64_t first_tile = (split.lo - split.first) / kLanes * kLanes;
  for (int64_t r = 0; r < n_rows; ++r)
    for (int64_t i = first_tile; i < split.hi - split.first; i += kLanes)
      store_f(split.weights[r] + i, softcap_f(load_f(split.weights[r] + i), cap));
}

template <typename Keys>
static void score_split(const AttentionArgs& a, const AttentionPart& part, const Queries& rows,
                        int64_t index, Split& split) {
  split.first = index * kSplitTokens;
  split.lo = split.first + kSplitTokens;
  split.hi = split.first;
  split.n_known = rows.end[rows.n - 1];
  split.key_tile_bytes = Keys::tile_bytes(a.head_dim);
  for (int64_t r = 0; r < rows.n; ++r) {
    const int64_t begin = rows.begin[r] > split.first ? rows.begin[r] : split.first;
    const int64_t last = split.first + kSplitTokens;
    const int64_t end = rows.end[r] < last ? rows.end[r] : last;
    split.max[r] = -__builtin_inff();
    split.sum[r] = 0;
    if (begin >= end) continue;
    split.lo = begin < split.lo ? begin : split.lo;
    split.hi = end > split.hi ? end : split.hi;
  }
  if (split.lo >= split.hi) return;
  for_rows(rows.n, [&]<int kRows>(int64_t row) {
    score_rows<Keys, kRows>(a, part, rows.q + row, split, row);
  });
  if (a.softcap > 0) cap_scores(split, rows.n, a.softcap);
  for (int64_t r = 0; r < rows.n; ++r) weigh_row(split, r, rows.begin[r], rows.end[r]);
}

// out[r][i] = sum over the split's positions of weight * values [d + 16 i, d + 16 i + 16), in
// order.
template <typename Values, int kRows, int kSlices>
static void sum_values(const AttentionArgs& a, const AttentionPart& part, const Split& split,
                       int64_t row, int64_t d, F (*out)[kValueSlices]) {
  F acc[kRows][kSlices];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int i = 0; i < kSlices; ++i) acc[r][i] = set_f(0);
  for (int64_t p = split.lo; p < split.hi;) {
    const uint8_t* value = value_row(a.place, part.block_table, part.kv_head, p);
    const int64_t block_end = p - p % a.place.block_tokens + a.place.block_tokens;
    const int64_t end = block_end < split.hi ? block_end : split.hi;
    const bool asks = row == 0 && p + kSplitTokens < split.n_known;
    Ahead ahead = asks ? keys_ahead(a, part, split, p + kSplitTokens, d) : Ahead{value, 0};
    for (; p < end; ++p, value += a.place.v_row_bytes) {
      prefetch_next<kSlices == 1 ? 1 : kSlices / 2>(ahead);
      F v[kSlices];
#pragma GCC unroll 4
      for (int i = 0; i < kSlices; ++i) v[i] = Values::load(value, d + kLanes * i);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const F weight = set_f(split.weights[row + r][p - split.first]);
#pragma GCC unroll 4
        for (int i = 0; i < kSlices; ++i) acc[r][i] = madd_f(weight, v[i], acc[r][i]);
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int i = 0; i < kSlices; ++i) out[r][i] = acc[r][i];
}

// How a split joins what was merged before it: result = before * `old_factor` + split * `factor`.
struct Joint {
  float old_factor, factor;
  bool first;  // nothing before it: the split itself
};

static Joint join(SplitState& merged, float max, float sum) {
  if (merged.sum == 0) {
    merged = {max, sum};
    return {0, 1, true};
  }
  const float top = max > merged.max ? max : merged.max;
  const Joint joint = {exp_scalar(merged.max - top), exp_scalar(max - top), false};
  merged = {top, merged.sum * joint.old_factor + sum * joint.factor};
  return joint;
}

HWTV_INLINE void join_values(const Joint& joint, F values, float* to, int64_t n) {
  if (!joint.first)
    values = madd_f(values, set_f(joint.factor), mul_f(load_n(to, n), set_f(joint.old_factor)));
  store_n(to, values, n);
}

// Divides the merged values by the sum of all weights, the sink's among them.
static void normalize(SplitState merged, const float* sink, int64_t value_dim, float* out) {
  float factor = 1.0f;
  if (sink) factor = join(merged, *sink, 1.0f).old_factor;
  const float inverse = factor / merged.sum;
  for (int64_t d = 0; d < value_dim; ++d) out[d] *= inverse;
}

// Where the weighted values of a part's rows go.
struct ValueSink {
  Joint joints[kQueryRows];
  float* to[kQueryRows];  // (value_dim); null: the row sees nothing of the split
};

// kSlices sixteens of the weighted values of all rows.
template <typename Values, int kSlices>
static void add_slices(const AttentionArgs& a, const AttentionPart& part, int64_t n_rows,
                       const Split& split, int64_t d, const ValueSink& sink) {
  for_rows(n_rows, [&]<int kRows>(int64_t row) {
    F values[kRows][kValueSlices];
    sum_values<Values, kRows, kSlices>(a, part, split, row, d, values);
    for (int64_t r = 0; r < kRows; ++r)
      for (int i = 0; i < kSlices && sink.to[row + r]; ++i) {
        const int64_t at = d + kLanes * i, rest = a.value_dim - at;
        join_values(sink.joints[row + r], values[r][i], sink.to[row + r] + at,
                    rest < kLanes ? rest : kLanes);
      }
  });
}

template <typename Values>
static void add_values(const AttentionArgs& a, const AttentionPart& part, int64_t n_rows,
                       const Split& split, const ValueSink& sink) {
  int64_t d = 0;
  if constexpr (kValueSlices > 1)
    for (; d + kValueSlices * kLanes <= a.value_dim; d += kValueSlices * kLanes)
      add_slices<Values, kValueSlices>(a, part, n_rows, split, d, sink);
  for (; d < a.value_dim; d += kLanes) add_slices<Values, 1>(a, part, n_rows, split, d, sink);
}

// The two halves of a split's work, by the types of the cache: in the order of KvType.
using ScoreSplit = void (*)(const AttentionArgs&, const AttentionPart&, const Queries&,
                            int64_t index, Split&);
using AddValues = void (*)(const AttentionArgs&, const AttentionPart&, int64_t n_rows, const Split&,
                           const ValueSink&);
constexpr ScoreSplit kScoreSplit[kNKvTypes] = {
    score_split<PlainKeys<CacheF32>>, score_split<PlainKeys<CacheF16>>,
    score_split<PlainKeys<CacheBF16>>, score_split<Q8_0Keys>, score_split<Q4_0Keys>};
constexpr AddValues kAddValues[kNKvTypes] = {
    add_values<PlainValues<CacheF32>>, add_values<PlainValues<CacheF16>>,
    add_values<PlainValues<CacheBF16>>, add_values<Q8_0Values>, add_values<Q4_0Values>};

static void attend(const AttentionArgs& a, const AttentionPart& part) {
  const ScoreSplit score = kScoreSplit[static_cast<int>(a.k_type)];
  const AddValues add = kAddValues[static_cast<int>(a.v_type)];
  const Queries rows = unpack_queries(a, part);
  SplitState merged[kQueryRows] = {};
  Split split;
  const int64_t last = (rows.end[rows.n - 1] - 1) / kSplitTokens;
  for (int64_t index = rows.begin[0] / kSplitTokens; index <= last; ++index) {
    score(a, part, rows, index, split);
    ValueSink sink;
    for (int64_t r = 0; r < rows.n; ++r) {
      sink.to[r] = split.sum[r] > 0 ? a.out + rows.slot[r] * a.value_dim : nullptr;
      if (sink.to[r]) sink.joints[r] = join(merged[r], split.max[r], split.sum[r]);
    }
    add(a, part, rows.n, split, sink);
  }
  for (int64_t r = 0; r < rows.n; ++r)
    normalize(merged[r], a.sinks ? a.sinks + rows.slot[r] % a.n_heads : nullptr, a.value_dim,
              a.out + rows.slot[r] * a.value_dim);
}

static void attend_split(const AttentionArgs& a, const AttentionPart& part, int64_t index,
                         int64_t n_splits, SplitState* states, float* values) {
  const Queries rows = unpack_queries(a, part);
  Split split;
  kScoreSplit[static_cast<int>(a.k_type)](a, part, rows, index, split);
  ValueSink sink;
  for (int64_t r = 0; r < rows.n; ++r) {
    const int64_t at = rows.slot[r] * n_splits + index;
    states[at] = {split.max[r], split.sum[r]};
    sink.joints[r] = {0, 1, true};
    sink.to[r] = values + at * a.value_dim;
  }
  if (split.lo < split.hi)
    kAddValues[static_cast<int>(a.v_type)](a, part, rows.n, split, sink);
}

static void merge_splits(const SplitState* states, const float* values, int64_t n_splits,
                         int64_t value_dim, const float* sink, float* out) {
  SplitState merged = {};
  for (int64_t s = 0; s < n_splits; ++s, values += value_dim) {
    if (states[s].sum == 0) continue;
    const Joint joint = join(merged, states[s].max, states[s].sum);
    for (int64_t d = 0; d < value_dim; d += kLanes) {
      const int64_t n = value_dim - d < kLanes ? value_dim - d : kLanes;
      join_values(joint, load_n(values + d, n), out + d, n);
    }
  }
  normalize(merged, sink, value_dim, out);
}

}  // namespace
}  // namespace hwtv::cpu
