#include <cmath>

#include "backends/cpu/step.h"
#include "ops/rope.h"

namespace hwtv::cpu {
namespace {

// Angles are double: a float's rounding at position 100,000 would turn a pair by 0.004 radians.
void fill(const RopeTable& table, int32_t index, RowRange rows, const Step& step) {
  const std::vector<float>& frequencies = step.executable.frequencies(index);
  const auto n_pairs = static_cast<int64_t>(frequencies.size());
  float* const cosines = step.executable.staging<float>(table.cosines);
  float* const sines = step.executable.staging<float>(table.sines);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const double magnitude = ops::rope_magnitude(table.rope, step.position(row));
    for (int64_t pair = 0; pair < n_pairs; ++pair) {
      const double angle = static_cast<double>(step.position(row)) *
                           static_cast<double>(frequencies[static_cast<size_t>(pair)]);
      const int64_t at = row * n_pairs + pair;
      cosines[at] = static_cast<float>(std::cos(angle) * magnitude);
      sines[at] = static_cast<float>(std::sin(angle) * magnitude);
    }
  }
}

}  // namespace

void run_rows(const ops::Rope& op, const RopeUse& use, RowRange rows, const Step& step) {
  const RopeTable& table =
      step.executable.staging_layout().rope_tables[static_cast<size_t>(use.table)];
  if (use.is_first) fill(table, use.table, rows, step);
  const int64_t width = step.width(op.x), n_pairs = op.rope.n_rotated / 2;
  const float* const cosines = step.executable.staging<float>(table.cosines);
  const float* const sines = step.executable.staging<float>(table.sines);
  const RopeArgs args = {.n_heads = width / op.head_dim,
                         .head_dim = op.head_dim,
                         .n_rotated = op.rope.n_rotated,
                         .pairs = op.rope.pairs == ops::RopeConfig::Pairs::adjacent
                                      ? RopePairs::adjacent
                                      : RopePairs::halves};
  for (int64_t row = rows.begin; row < rows.end; ++row)
    step.executable.table().rope(args, step.value(op.x) + row * width, cosines + row * n_pairs,
                                 sines + row * n_pairs, step.value(op.out) + row * width);
}

}  // namespace hwtv::cpu
