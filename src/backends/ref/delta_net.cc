#include <algorithm>

#include "backends/ref/kernels.h"

namespace hwtv::ref {
namespace {

struct Token {
  const float* q;  // (key_dim)
  const float* k;  // (key_dim)
  float v, stay, write;
};

// Advances one column of a head's state, state (key_dim), and gives q^T of it.
double advance(const Token& token, int64_t key_dim, float* state) {
  double memory = 0;
  for (int64_t i = 0; i < key_dim; ++i) {
    state[i] *= token.stay;
    memory += static_cast<double>(token.k[i]) * static_cast<double>(state[i]);
  }
  const double change = static_cast<double>(token.write) * (static_cast<double>(token.v) - memory);
  double sum = 0;
  for (int64_t i = 0; i < key_dim; ++i) {
    state[i] += static_cast<float>(static_cast<double>(token.k[i]) * change);
    sum += static_cast<double>(token.q[i]) * static_cast<double>(state[i]);
  }
  return sum;
}

// A state is kept by columns: (n_heads, value_dim, key_dim).
void run_slice(const ops::DeltaNet& op, const ops::SliceInput& slice, const Step& step) {
  const int64_t qk_width = step.width(op.qk), v_width = step.width(op.v);
  const int64_t key_dim = qk_width / (2 * op.n_key_heads), value_dim = v_width / op.n_heads;
  float* const states = step.executable.cache(op.kv_group)
                            .state(op.layer, slice.block_tables[static_cast<size_t>(op.kv_group)]);
  step.team.for_each_chunk(v_width, 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t column = begin; column < end; ++column) {
      float* const state = states + column * key_dim;
      if (slice.first_position == 0) std::fill_n(state, key_dim, 0.0f);
      const int64_t head = column / value_dim;
      const int64_t key_head =
          op.interleaved ? head % op.n_key_heads : head / (op.n_heads / op.n_key_heads);
      for (int64_t row = slice.first_row; row < slice.first_row + slice.n_tokens; ++row) {
        const float* const q = step.value(op.qk) + row * qk_width + key_head * key_dim;
        const float* const gates = step.value(op.gates) + row * 2 * op.n_heads + head;
        const Token token = {q, q + op.n_key_heads * key_dim,
                             step.value(op.v)[row * v_width + column], gates[0], gates[op.n_heads]};
        step.value(op.out)[row * v_width + column] =
            static_cast<float>(static_cast<double>(op.scale) * advance(token, key_dim, state));
      }
    }
  });
}

}  // namespace

void run(const ops::DeltaNet& op, const Step& step) {
  for (const ops::SliceInput& slice : step.input.slices) run_slice(op, slice, step);
}

}  // namespace hwtv::ref
