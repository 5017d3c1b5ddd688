#include <cmath>

#include "backends/cpu/step.h"

namespace hwtv::cpu {
namespace {

// Channels [begin, end) of a slice.  x, out (n_tokens, width), state (kernel - 1, width)
struct Convolution {
  const float* weight;  // (width, kernel)
  int64_t kernel, width, n_tokens;
  bool is_new;  // nothing before the slice
  const float* x;
  float* state;
  float* out;

  // Row t of the slice, or of what came before it; null: zeros.
  const float* input(int64_t t) const {
    if (t >= 0) return x + t * width;
    return is_new ? nullptr : state + (kernel - 1 + t) * width;
  }

  void run(int64_t begin, int64_t end) const {
    for (int64_t t = 0; t < n_tokens; ++t) {
      float* const to = out + t * width;
      for (int64_t channel = begin; channel < end; ++channel) to[channel] = 0;
      for (int64_t j = 0; j < kernel; ++j)
        if (const float* from = input(t - kernel + 1 + j))
          for (int64_t channel = begin; channel < end; ++channel)
            to[channel] += weight[channel * kernel + j] * from[channel];
      for (int64_t channel = begin; channel < end; ++channel)
        to[channel] /= 1.0f + std::exp(-to[channel]);
    }
    // Ascending: each row of the state is read before it is written.
    for (int64_t j = 0; j < kernel - 1; ++j) {
      const float* const from = input(n_tokens - kernel + 1 + j);
      for (int64_t channel = begin; channel < end; ++channel)
        state[j * width + channel] = from ? from[channel] : 0;
    }
  }
};

}  // namespace

void run(const ops::CausalConv& op, const Step& step) {
  const int64_t width = step.width(op.x);
  for (const ops::SliceInput& slice : step.input.slices) {
    const Convolution convolution = {
        .weight = step.executable.vector(op.weight),
        .kernel = step.executable.weight(op.weight).decl.width,
        .width = width,
        .n_tokens = slice.n_tokens,
        .is_new = slice.first_position == 0,
        .x = step.value(op.x) + slice.first_row * width,
        .state = step.executable.state(op.kv_group, op.layer,
                                       slice.block_tables[static_cast<size_t>(op.kv_group)]),
        .out = step.value(op.out) + slice.first_row * width};
    step.share(width, slice.n_tokens,
               [&](int64_t begin, int64_t end) { convolution.run(begin, end); });
  }
}

}  // namespace hwtv::cpu
