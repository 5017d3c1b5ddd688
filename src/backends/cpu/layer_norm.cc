#include "backends/cpu/step.h"

namespace hwtv::cpu {

void run_rows(const ops::LayerNorm& op, RowRange rows, const Step& step) {
  const int64_t width = step.width(op.x), at = rows.begin * width;
  step.executable.table().layer_norm(step.value(op.x) + at, step.executable.vector(op.weight),
                                     step.executable.vector(op.bias), op.eps, rows.n(), width,
                                     step.value(op.out) + at);
}

}  // namespace hwtv::cpu
