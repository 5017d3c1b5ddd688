#include "backends/cpu/step.h"

namespace hwtv::cpu {

void run_rows(const ops::Add& op, RowRange rows, const Step& step) {
  const int64_t width = step.width(op.a), at = rows.begin * width;
  step.executable.table().add(step.value(op.a) + at, step.value(op.b) + at, rows.n() * width,
                              step.value(op.out) + at);
}

}  // namespace hwtv::cpu
