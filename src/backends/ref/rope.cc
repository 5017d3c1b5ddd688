#include <algorithm>
#include <cmath>

#include "backends/ref/kernels.h"
#include "ops/rope.h"

namespace hwtv::ref {
namespace {

// Rotates all heads of one row.  Angles are double: a float's rounding at position 100,000 would
// turn a pair by 0.004 radians.
void rotate_row(const ops::Rope& op, const float* frequencies, int64_t position, int64_t n_heads,
                const float* x, float* out) {
  const bool adjacent = op.rope.pairs == ops::RopeConfig::Pairs::adjacent;
  const int64_t n_pairs = op.rope.n_rotated / 2;
  const double magnitude = ops::rope_magnitude(op.rope, position);
  std::copy_n(x, n_heads * op.head_dim, out);
  for (int64_t pair = 0; pair < n_pairs; ++pair) {
    const double angle = static_cast<double>(position) * static_cast<double>(frequencies[pair]);
    const double c = std::cos(angle) * magnitude;
    const double s = std::sin(angle) * magnitude;
    const int64_t first = adjacent ? 2 * pair : pair;
    const int64_t second = adjacent ? 2 * pair + 1 : pair + n_pairs;
    for (int64_t head = 0; head < n_heads; ++head) {
      const double a = static_cast<double>(x[head * op.head_dim + first]);
      const double b = static_cast<double>(x[head * op.head_dim + second]);
      out[head * op.head_dim + first] = static_cast<float>(a * c - b * s);
      out[head * op.head_dim + second] = static_cast<float>(a * s + b * c);
    }
  }
}

}  // namespace

void run(const ops::Rope& op, const Step& step) {
  const int64_t width = step.width(op.x);
  const float* x = step.value(op.x);
  float* out = step.value(op.out);
  const float* frequencies = step.executable.rope_frequencies(op);
  for (const ops::SliceInput& slice : step.input.slices)
    step.team.for_each_chunk(slice.n_tokens, 16, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = (slice.first_row + i) * width;
        rotate_row(op, frequencies, slice.first_position + i, width / op.head_dim, x + at,
                   out + at);
      }
    });
}

}  // namespace hwtv::ref
