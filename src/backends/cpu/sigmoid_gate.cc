#include "backends/cpu/step.h"

namespace hwtv::cpu {

void run_rows(const ops::SigmoidGate& op, RowRange rows, const Step& step) {
  const int64_t width = step.width(op.x), gate_width = step.width(op.gate);
  step.executable.table().sigmoid_gate(
      step.value(op.x) + rows.begin * width, step.value(op.gate) + rows.begin * gate_width,
      rows.n() * gate_width, width / gate_width, step.value(op.out) + rows.begin * width);
}

}  // namespace hwtv::cpu
