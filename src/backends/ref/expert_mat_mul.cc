#include "backends/ref/kernels.h"
#include "backends/ref/panels.h"

namespace hwtv::ref {

void run(const ops::ExpertMatMul& op, const Step& step) {
  const Weight& weight = step.weight(op.weight);
  const float* biases = op.bias == ops::kNoWeight ? nullptr : step.weight(op.bias).vector();
  const int64_t n_in = weight.decl.width, n_out = weight.decl.n_rows, n_panels = weight.n_panels();
  const int64_t n_experts = weight.decl.n_experts, x_width = step.width(op.x);
  const bool is_shared = x_width == n_in && op.n_used > 1;  // one row of x for all its slots
  // A unit is one panel of one row's slots.
  const int64_t n_units = step.n_rows(op.x) * n_panels;
  step.team.for_each_chunk(n_units, 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t row = unit / n_panels, panel = unit % n_panels;
      const float* const shares = step.value(op.shares) + row * n_experts;
      const float* x = step.value(op.x) + row * x_width;
      float* out = step.value(op.out) + row * op.n_used * n_out;
      for (int64_t expert = 0; expert < n_experts; ++expert) {
        if (shares[expert] == 0) continue;
        multiply_panel<1>(weight, expert * n_panels + panel,
                          biases ? biases + expert * n_out : nullptr, x, out);
        out += n_out;
        if (!is_shared) x += n_in;
      }
    }
  });
}

}  // namespace hwtv::ref
