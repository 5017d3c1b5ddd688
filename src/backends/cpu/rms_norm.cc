#include "backends/cpu/step.h"

namespace hwtv::cpu {

void run_rows(const ops::RmsNorm& op, RowRange rows, const Step& step) {
  const int64_t width = step.width(op.x), at = rows.begin * width;
  const int64_t n_group = step.executable.weight(op.weight).decl.width;
  step.executable.table().rms_norm(step.value(op.x) + at, step.executable.vector(op.weight), op.eps,
                                   rows.n() * width / n_group, n_group, step.value(op.out) + at);
}

}  // namespace hwtv::cpu
