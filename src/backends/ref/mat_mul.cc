#include "backends/ref/kernels.h"
#include "backends/ref/panels.h"

namespace hwtv::ref {

void run(const ops::MatMul& op, const Step& step) {
  const Weight& weight = step.weight(op.weight);
  const float* bias = op.bias == ops::kNoWeight ? nullptr : step.weight(op.bias).vector();
  const int64_t n_rows = step.n_rows(op.x), n_in = step.width(op.x), n_out = step.width(op.out);
  const float* x = step.value(op.x);
  float* out = step.value(op.out);
  // A panel stays in the first cache while all rows of x pass by it.
  step.team.for_each_chunk(weight.n_panels(), 4, [&](int64_t begin, int64_t end, int) {
    for (int64_t panel = begin; panel < end; ++panel) {
      int64_t row = 0;
      for (; row + 4 <= n_rows; row += 4)
        multiply_panel<4>(weight, panel, bias, x + row * n_in, out + row * n_out);
      for (; row < n_rows; ++row)
        multiply_panel<1>(weight, panel, bias, x + row * n_in, out + row * n_out);
    }
  });
}

}  // namespace hwtv::ref
