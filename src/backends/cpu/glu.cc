#include "backends/cpu/step.h"

namespace hwtv::cpu {

void run_rows(const ops::Glu& op, RowRange rows, const Step& step) {
  const int64_t width = step.width(op.gate), at = rows.begin * width;
  const GluKind kind =
      op.activation == ops::Activation::silu ? GluKind::silu : GluKind::gelu_tanh;
  step.executable.table().glu(kind, step.value(op.gate) + at, step.value(op.up) + at,
                              rows.n() * width, step.value(op.out) + at);
}

}  // namespace hwtv::cpu
