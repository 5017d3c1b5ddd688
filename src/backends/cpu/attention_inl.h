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
    rows.end[i] = part.first_position + token + 1;
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

// Memory is asked for before it is needed, in the order of use: a split's values while its keys are
// scored, the next split's keys while its values are summed.  Exactly those bytes, once for all rows:
// the pieces of one head lie apart, so that reading on past one would fetch another head's.
HWTV_INLINE void prefetch_bytes(const uint8_t* at, int64_t n_bytes) {
#pragma GCC unroll 4
  for (int64_t line = 0; line < n_bytes; line += 64) __builtin_prefetch(at + line, 0, kToL2);
}
HWTV_INLINE void prefetch_keys(const AttentionArgs& a, const AttentionPart& part,
                               const Split& split, int64_t p) {
  if (p >= split.n_known) return;
  prefetch_bytes(key_tile(a.place, part.block_table, part.kv_head, p, split.key_tile_bytes),
                 split.key_tile_bytes);
}
// In a split whose keys nobody asked for.
constexpr int64_t kKeysAhead = 2 * kKvTileTokens;

template <typename Keys, int kRows>
static void score_rows(const AttentionArgs& a, const AttentionPart& part, const float* const* q,
                       Split& split, int64_t row) {
  const int64_t step = a.place.block_tokens < kKvTileTokens ? a.place.block_tokens : kKvTileTokens;
  for (int64_t p = split.lo - split.lo % step; p < split.hi; p += step) {
    F acc[kRows];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) acc[r] = set_f(0);
    const uint8_t* tile =
        key_tile(a.place, part.block_table, part.kv_head, p, split.key_tile_bytes);
    if (row == 0) {
      prefetch_bytes(value_row(a.place, part.block_table, part.kv_head, p),
                     step * a.place.v_row_bytes);
      prefetch_keys(a, part, split, p + kKeysAhead);
    }
    Keys::template add_scores<kRows>(tile, q, a.head_dim, acc);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r)
      store_f(&split.weights[row + r][p - split.first], mul_f(acc[r], set_f(a.scale)));
  }
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
    if (row == 0 && d == 0)
      for (int64_t t = p; t < end; t += kKvTileTokens)
        prefetch_keys(a, part, split, t + kSplitTokens);
    for (; p < end; ++p, value += a.place.v_row_bytes) {
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

static void normalize(float sum, int64_t value_dim, float* out) {
  const float inverse = 1.0f / sum;
  for (int64_t d = 0; d < value_dim; ++d) out[d] *= inverse;
}

// Hands kSlices sixteens of the weighted values of all rows to take(row, d, values, n).
template <typename Values, int kSlices, typename Take>
HWTV_INLINE void take_slices(const AttentionArgs& a, const AttentionPart& part, int64_t n_rows,
                             const Split& split, int64_t d, const Take& take) {
  for_rows(n_rows, [&]<int kRows>(int64_t row) {
    F values[kRows][kValueSlices];
    sum_values<Values, kRows, kSlices>(a, part, split, row, d, values);
    for (int64_t r = 0; r < kRows; ++r)
      for (int i = 0; i < kSlices; ++i) {
        const int64_t at = d + kLanes * i, rest = a.value_dim - at;
        take(row + r, at, values[r][i], rest < kLanes ? rest : kLanes);
      }
  });
}

// Hands the weighted values of each row that sees the split to take(row, d, values, n).
template <typename Values, typename Take>
HWTV_INLINE void for_each_value(const AttentionArgs& a, const AttentionPart& part, int64_t n_rows,
                                const Split& split, const Take& take) {
  int64_t d = 0;
  if constexpr (kValueSlices > 1)
    for (; d + kValueSlices * kLanes <= a.value_dim; d += kValueSlices * kLanes)
      take_slices<Values, kValueSlices>(a, part, n_rows, split, d, take);
  for (; d < a.value_dim; d += kLanes) take_slices<Values, 1>(a, part, n_rows, split, d, take);
}

template <typename Keys, typename Values>
static void attend(const AttentionArgs& a, const AttentionPart& part) {
  const Queries rows = unpack_queries(a, part);
  SplitState merged[kQueryRows] = {};
  Split split;
  const int64_t last = (rows.end[rows.n - 1] - 1) / kSplitTokens;
  for (int64_t index = rows.begin[0] / kSplitTokens; index <= last; ++index) {
    score_split<Keys>(a, part, rows, index, split);
    Joint joints[kQueryRows];
    for (int64_t r = 0; r < rows.n; ++r)
      if (split.sum[r] > 0) joints[r] = join(merged[r], split.max[r], split.sum[r]);
    for_each_value<Values>(a, part, rows.n, split, [&](int64_t r, int64_t d, F values, int64_t n) {
      if (split.sum[r] > 0)
        join_values(joints[r], values, a.out + rows.slot[r] * a.value_dim + d, n);
    });
  }
  for (int64_t r = 0; r < rows.n; ++r)
    normalize(merged[r].sum, a.value_dim, a.out + rows.slot[r] * a.value_dim);
}

template <typename Keys, typename Values>
static void attend_split(const AttentionArgs& a, const AttentionPart& part, int64_t index,
                         int64_t n_splits, SplitState* states, float* values_out) {
  const Queries rows = unpack_queries(a, part);
  Split split;
  score_split<Keys>(a, part, rows, index, split);
  for (int64_t r = 0; r < rows.n; ++r)
    states[rows.slot[r] * n_splits + index] = {split.max[r], split.sum[r]};
  if (split.lo >= split.hi) return;
  for_each_value<Values>(a, part, rows.n, split, [&](int64_t r, int64_t d, F values, int64_t n) {
    store_n(values_out + (rows.slot[r] * n_splits + index) * a.value_dim + d, values, n);
  });
}

static void merge_splits(const SplitState* states, const float* values, int64_t n_splits,
                         int64_t value_dim, float* out) {
  SplitState merged = {};
  for (int64_t s = 0; s < n_splits; ++s, values += value_dim) {
    if (states[s].sum == 0) continue;
    const Joint joint = join(merged, states[s].max, states[s].sum);
    for (int64_t d = 0; d < value_dim; d += kLanes) {
      const int64_t n = value_dim - d < kLanes ? value_dim - d : kLanes;
      join_values(joint, load_n(values + d, n), out + d, n);
    }
  }
  normalize(merged.sum, value_dim, out);
}

}  // namespace
}  // namespace hwtv::cpu
