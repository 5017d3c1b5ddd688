#include <cmath>

#include "backends/cpu/step.h"

namespace hwtv::cpu {
namespace {

// Angles are double: a float's rounding at position 100,000 would turn a pair by 0.004 radians.
void fill(const RopeTable& table, int32_t index, const Step& step) {
  const std::vector<float>& frequencies = step.executable.frequencies(index);
  const auto n_pairs = static_cast<int64_t>(frequencies.size());
  float* const cosines = step.executable.staging<float>(table.cosines);
  float* const sines = step.executable.staging<float>(table.sines);
  // A cosine and a sine cost about what 32 other elements do.
  step.share(step.n_tokens(), n_pairs * 32, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      for (int64_t pair = 0; pair < n_pairs; ++pair) {
        const double angle = static_cast<double>(step.position(row)) *
                             static_cast<double>(frequencies[static_cast<size_t>(pair)]);
        const int64_t at = row * n_pairs + pair;
        cosines[at] = static_cast<float>(std::cos(angle) * table.rope.magnitude);
        sines[at] = static_cast<float>(std::sin(angle) * table.rope.magnitude);
      }
  });
}

}  // namespace

void run(const ops::Rope& op, int32_t rope_table, bool fill_table, const Step& step) {
  const RopeTable& table =
      step.executable.staging_layout().rope_tables[static_cast<size_t>(rope_table)];
  if (fill_table) fill(table, rope_table, step);
  const int64_t width = step.width(op.x), n_pairs = op.rope.n_rotated / 2;
  const float* const cosines = step.executable.staging<float>(table.cosines);
  const float* const sines = step.executable.staging<float>(table.sines);
  const RopeArgs args = {.n_heads = width / op.head_dim,
                         .head_dim = op.head_dim,
                         .n_rotated = op.rope.n_rotated,
                         .pairs = op.rope.pairs == ops::RopeConfig::Pairs::adjacent
                                      ? RopePairs::adjacent
                                      : RopePairs::halves};
  step.share(step.n_tokens(), width, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      step.executable.table().rope(args, step.value(op.x) + row * width, cosines + row * n_pairs,
                                   sines + row * n_pairs, step.value(op.out) + row * width);
  });
}

}  // namespace hwtv::cpu
