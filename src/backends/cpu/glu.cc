#include "backends/cpu/step.h"

namespace hwtv::cpu {

void run(const ops::Glu& op, const Step& step) {
  const int64_t width = step.width(op.gate);
  const GluKind kind =
      op.activation == ops::Activation::silu ? GluKind::silu : GluKind::gelu_tanh;
  step.share(step.n_rows(op.gate), width, [&](int64_t begin, int64_t end) {
    const int64_t at = begin * width;
    step.executable.table().glu(kind, step.value(op.gate) + at, step.value(op.up) + at,
                                (end - begin) * width, step.value(op.out) + at);
  });
}

}  // namespace hwtv::cpu
