#include "backends/cpu/step.h"

namespace hwtv::cpu {
namespace {

GluKind kind_of(ops::Activation activation) {
  switch (activation) {
    case ops::Activation::silu:
      return GluKind::silu;
    case ops::Activation::gelu_tanh:
      return GluKind::gelu_tanh;
    case ops::Activation::gelu:
      return GluKind::gelu;
    case ops::Activation::clamped_swish:
      break;
  }
  return GluKind::clamped_swish;
}

}  // namespace

void run_rows(const ops::Glu& op, RowRange rows, const Step& step) {
  const int64_t width = step.width(op.gate), at = rows.begin * width;
  step.executable.table().glu(kind_of(op.activation), step.value(op.gate) + at,
                              step.value(op.up) + at, rows.n() * width, step.value(op.out) + at);
}

void run_rows(const ops::Activate& op, RowRange rows, const Step& step) {
  const int64_t width = step.width(op.x), at = rows.begin * width;
  step.executable.table().activate(kind_of(op.activation), step.value(op.x) + at, rows.n() * width,
                                   step.value(op.out) + at);
}

}  // namespace hwtv::cpu
