#include <algorithm>
#include <cmath>

#include "backends/ref/kernels.h"
#include "ops/dequantize.h"

namespace hwtv::ref {
namespace {

// One sequence's keys and values of one layer as F32, in the executable's scratch.
struct Sequence {
  float* keys;     // (n_kv_heads, head_dim, stride): loops over positions vectorise
  float* values;   // (n_kv_heads, stride, value_dim)
  float* scores;   // (n_threads, stride)
  int64_t stride;  // context_tokens_max

  Sequence(const ops::KvGroup& kv, const Step& step)
      : keys(step.executable.attention_scratch()),
        stride(step.executable.limits().context_tokens_max) {
    values = keys + kv.n_kv_heads * kv.head_dim * stride;
    scores = values + kv.n_kv_heads * kv.value_dim * stride;
  }
};

// keys[d * stride] of one head at one position, decoded a quant_block at a time.
void decode_key(DType dtype, const std::byte* bytes, int64_t head_dim, int64_t stride,
                float* keys) {
  constexpr int64_t kPiece = 32;
  float piece[kPiece];
  for (int64_t d = 0; d < head_dim; d += kPiece) {
    const int64_t n = std::min(kPiece, head_dim - d);
    ops::dequantize_row(dtype, bytes + dtype_bytes(dtype, d), piece, n);
    for (int64_t i = 0; i < n; ++i) keys[(d + i) * stride] = piece[i];
  }
}

// The first position that the token at `position` attends to.
int64_t first_seen(const ops::KvGroup& kv, int64_t position) {
  return kv.window_tokens > 0 ? std::max<int64_t>(0, position + 1 - kv.window_tokens) : 0;
}

void decode_sequence(const ops::Attention& op, const Step& step, const ops::SliceInput& slice,
                     const Sequence& sequence) {
  Cache& cache = step.executable.cache(op.kv_group);
  const ops::KvGroup& kv = cache.group();
  const ops::Limits& limits = step.executable.limits();
  const auto table = slice.block_tables[static_cast<size_t>(op.kv_group)];
  const int64_t first = first_seen(kv, slice.first_position);
  const int64_t n_positions = slice.first_position + slice.n_tokens - first;
  step.team.for_each_chunk(n_positions, 32, [&](int64_t begin, int64_t end, int) {
    for (int64_t t = first + begin; t < first + end; ++t)
      for (int64_t head = 0; head < kv.n_kv_heads; ++head) {
        decode_key(limits.k_dtype, cache.key(op.layer, table, t, head), kv.head_dim,
                   sequence.stride, sequence.keys + head * kv.head_dim * sequence.stride + t);
        ops::dequantize_row(limits.v_dtype, cache.value(op.layer, table, t, head),
                            sequence.values + (head * sequence.stride + t) * kv.value_dim,
                            kv.value_dim);
      }
  });
}

// scores[t] = q . keys[t]
void score(const float* __restrict q, const float* __restrict keys, int64_t head_dim,
           int64_t stride, int64_t n, float* __restrict scores) {
  std::fill_n(scores, n, 0.0f);
  for (int64_t d = 0; d < head_dim; ++d)
    for (int64_t t = 0; t < n; ++t) scores[t] += q[d] * keys[d * stride + t];
}

// scores[t] = softcap * tanh(scale * scores[t] / softcap)
void cap(float scale, float softcap, int64_t n, float* scores) {
  const auto most = static_cast<double>(softcap);
  for (int64_t t = 0; t < n; ++t)
    scores[t] = static_cast<float>(
        most * std::tanh(static_cast<double>(scale) * static_cast<double>(scores[t]) / most));
}

// sink: another score of the softmax, or null.
void softmax(float scale, const float* sink, int64_t n, float* scores) {
  const float highest = *std::max_element(scores, scores + n);
  const float lowest = *std::min_element(scores, scores + n);
  double top = static_cast<double>(scale) * static_cast<double>(scale < 0 ? lowest : highest);
  if (sink) top = std::max(top, static_cast<double>(*sink));
  double sum = sink ? std::exp(static_cast<double>(*sink) - top) : 0;
  for (int64_t t = 0; t < n; ++t) {
    const double share =
        std::exp(static_cast<double>(scale) * static_cast<double>(scores[t]) - top);
    sum += share;
    scores[t] = static_cast<float>(share);
  }
  for (int64_t t = 0; t < n; ++t)
    scores[t] = static_cast<float>(static_cast<double>(scores[t]) / sum);
}

void mix_values(const float* __restrict shares, const float* __restrict values, int64_t value_dim,
                int64_t n, float* __restrict out) {
  std::fill_n(out, value_dim, 0.0f);
  for (int64_t t = 0; t < n; ++t)
    for (int64_t d = 0; d < value_dim; ++d) out[d] += shares[t] * values[t * value_dim + d];
}

}  // namespace

void run(const ops::Attention& op, const Step& step) {
  const ops::KvGroup& kv = step.executable.cache(op.kv_group).group();
  const float* q = step.value(op.q);  // (n_tokens, n_heads, head_dim)
  float* out = step.value(op.out);    // (n_tokens, n_heads, value_dim)
  const Sequence sequence(kv, step);
  const float* sinks = op.sinks == ops::kNoWeight ? nullptr : step.weight(op.sinks).vector();
  for (const ops::SliceInput& slice : step.input.slices) {
    decode_sequence(op, step, slice, sequence);
    const int64_t n_units = slice.n_tokens * op.n_heads;
    step.team.for_each_chunk(n_units, 4, [&](int64_t begin, int64_t end, int member) {
      float* scores = sequence.scores + member * sequence.stride;
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t at = slice.first_row * op.n_heads + unit;  // (row, head)
        const int64_t kv_head = unit % op.n_heads / (op.n_heads / kv.n_kv_heads);
        const int64_t position = slice.first_position + unit / op.n_heads;
        const int64_t first = first_seen(kv, position);
        const int64_t last = op.causal ? position : slice.first_position + slice.n_tokens - 1;
        const int64_t n = last + 1 - first;
        score(q + at * kv.head_dim, sequence.keys + kv_head * kv.head_dim * sequence.stride + first,
              kv.head_dim, sequence.stride, n, scores);
        if (op.softcap > 0) cap(op.scale, op.softcap, n, scores);
        softmax(op.softcap > 0 ? 1.0f : op.scale, sinks ? sinks + unit % op.n_heads : nullptr, n,
                scores);
        mix_values(scores, sequence.values + (kv_head * sequence.stride + first) * kv.value_dim,
                   kv.value_dim, n, out + at * kv.value_dim);
      }
    });
  }
}

}  // namespace hwtv::ref
