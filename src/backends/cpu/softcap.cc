#include "backends/cpu/step.h"

namespace hwtv::cpu {

void run_rows(const ops::Softcap& op, RowRange rows, const Step& step) {
  const int64_t width = step.width(op.x), at = rows.begin * width;
  step.executable.table().softcap(step.value(op.x) + at, op.cap, rows.n() * width,
                                  step.value(op.out) + at);
}

}  // namespace hwtv::cpu
