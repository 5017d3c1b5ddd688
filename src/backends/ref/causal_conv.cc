#include <cmath>

#include "backends/ref/kernels.h"

namespace hwtv::ref {
namespace {

// One channel's share of a slice.  x, out (n_tokens, stride); state (kernel - 1, stride)
void convolve(const float* weight, int64_t kernel, int64_t n_tokens, int64_t stride, bool is_new,
              const float* x, float* state, float* out) {
  const auto input = [&](int64_t t) {
    if (t >= 0) return x[t * stride];
    return is_new ? 0.0f : state[(kernel - 1 + t) * stride];
  };
  for (int64_t t = 0; t < n_tokens; ++t) {
    double sum = 0;
    for (int64_t j = 0; j < kernel; ++j)
      sum += static_cast<double>(weight[j]) * static_cast<double>(input(t - kernel + 1 + j));
    out[t * stride] = static_cast<float>(sum / (1 + std::exp(-sum)));
  }
  // Ascending: each row of the state is read before it is written.
  for (int64_t j = 0; j < kernel - 1; ++j) state[j * stride] = input(n_tokens - kernel + 1 + j);
}

}  // namespace

void run(const ops::CausalConv& op, const Step& step) {
  const float* weight = step.weight(op.weight).vector();
  const int64_t kernel = step.weight(op.weight).decl.width, width = step.width(op.x);
  Cache& cache = step.executable.cache(op.kv_group);
  for (const ops::SliceInput& slice : step.input.slices) {
    float* state = cache.state(op.layer, slice.block_tables[static_cast<size_t>(op.kv_group)]);
    const int64_t at = slice.first_row * width;
    step.team.for_each_chunk(width, 64, [&](int64_t begin, int64_t end, int) {
      for (int64_t channel = begin; channel < end; ++channel)
        convolve(weight + channel * kernel, kernel, slice.n_tokens, width,
                 slice.first_position == 0, step.value(op.x) + at + channel, state + channel,
                 step.value(op.out) + at + channel);
    });
  }
}

}  // namespace hwtv::ref
