#include <algorithm>

#include "backends/ref/kernels.h"

namespace hwtv::ref {
namespace {

// The sequence that row `row` of the op's values belongs to.
const ops::SliceInput& slice_of(const ops::Lora& op, const Step& step, int64_t row) {
  if (step.executable.program().value(op.x).rows == ops::Rows::n_outputs)
    row = step.input.output_rows[static_cast<size_t>(row)];
  const auto& slices = step.input.slices;
  return *std::find_if(slices.begin(), slices.end(), [&](const ops::SliceInput& slice) {
    return row < slice.first_row + slice.n_tokens;
  });
}

// sums[n] = x . weight[n].  x (width), sums (n_rows)
void multiply(const Weight& weight, const float* x, float* sums) {
  for (int64_t n = 0; n < weight.decl.n_rows; ++n) {
    const float* column = weight.panel(n / kPanelRows) + n % kPanelRows;
    float sum = 0;
    for (int64_t k = 0; k < weight.decl.width; ++k) sum += x[k] * column[k * kPanelRows];
    sums[n] = sum;
  }
}

}  // namespace

void run(const ops::Lora& op, const Step& step) {
  const int64_t n_in = step.width(op.x), n_out = step.width(op.out);
  const int64_t scratch_floats = lora_scratch_floats(step.executable.program());
  step.team.for_each_chunk(step.n_rows(op.x), 1, [&](int64_t begin, int64_t end, int member) {
    float* const inner = step.executable.lora_scratch() + member * scratch_floats;
    for (int64_t row = begin; row < end; ++row) {
      float* const out = step.value(op.out) + row * n_out;
      std::copy_n(step.value(op.base) + row * n_out, n_out, out);
      for (const int32_t adapter : slice_of(op, step, row).adapters)
        for (const ops::LoraPair& pair : op.pairs) {
          if (pair.adapter != adapter) continue;
          const Weight &a = step.weight(pair.a), &b = step.weight(pair.b);
          float* const products = inner + a.decl.n_rows;
          multiply(a, step.value(op.x) + row * n_in, inner);
          multiply(b, inner, products);
          for (int64_t i = 0; i < n_out; ++i) out[i] += pair.scale * products[i];
        }
    }
  });
}

}  // namespace hwtv::ref
