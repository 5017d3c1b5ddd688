// DeltaNet: the state of a head, 16 columns at a time, which stay in the first cache while all tokens of
// a slice pass by.  After simd_*_inl.h.
#pragma once
#include <cstdint>

namespace hwtv::cpu {
namespace {

constexpr int kDeltaSums = 4;  // sums side by side: a chain of one would wait for each addition

// sum over i of x[i] * state row i, in a fixed order.
template <bool kWhole>
HWTV_INLINE F delta_sum(const float* x, const float* state, int64_t key_dim, int64_t n) {
  F sums[kDeltaSums];
  for (int j = 0; j < kDeltaSums; ++j) sums[j] = set_f(0);
  int64_t i = 0;
  for (; i + kDeltaSums <= key_dim; i += kDeltaSums)
    for (int j = 0; j < kDeltaSums; ++j) {
      const float* const row = state + (i + j) * n;
      sums[j] = madd_f(set_f(x[i + j]), kWhole ? load_f(row) : load_n(row, n), sums[j]);
    }
  for (; i < key_dim; ++i) {
    const float* const row = state + i * n;
    sums[0] = madd_f(set_f(x[i]), kWhole ? load_f(row) : load_n(row, n), sums[0]);
  }
  return add_f(add_f(sums[0], sums[1]), add_f(sums[2], sums[3]));
}

template <bool kWhole>
HWTV_INLINE void delta_columns(const DeltaNetArgs& a, int64_t n, float* state) {
  for (int64_t t = 0; t < a.n_tokens; ++t) {
    const float* const k = a.k + t * a.qk_stride;
    const F stay = set_f(a.stay[t * a.gate_stride]);
    const float* const v = a.v + t * a.v_stride;
    // k^T (stay S) = stay (k^T S): the state is read twice, and written once.
    const F memory = mul_f(stay, delta_sum<kWhole>(k, state, a.key_dim, n));
    const F change = mul_f(set_f(a.write[t * a.gate_stride]),
                           sub_f(kWhole ? load_f(v) : load_n(v, n), memory));
    for (int64_t i = 0; i < a.key_dim; ++i) {
      float* const row = state + i * n;
      const F kept = mul_f(stay, kWhole ? load_f(row) : load_n(row, n));
      const F now = madd_f(set_f(k[i]), change, kept);
      kWhole ? store_f(row, now) : store_n(row, now, n);
    }
    const F sum = delta_sum<kWhole>(a.q + t * a.qk_stride, state, a.key_dim, n);
    const F out = mul_f(set_f(a.scale), sum);
    kWhole ? store_f(a.out + t * a.v_stride, out) : store_n(a.out + t * a.v_stride, out, n);
  }
}

static void delta_net(const DeltaNetArgs& a, int64_t n_columns, float* state) {
  n_columns == kLanes ? delta_columns<true>(a, kLanes, state)
                      : delta_columns<false>(a, n_columns, state);
}

}  // namespace
}  // namespace hwtv::cpu
