#include "backends/cpu/step.h"

namespace hwtv::cpu {

void run(const ops::Add& op, const Step& step) {
  const int64_t width = step.width(op.a);
  step.share(step.n_rows(op.a), width, [&](int64_t begin, int64_t end) {
    const int64_t at = begin * width;
    step.executable.table().add(step.value(op.a) + at, step.value(op.b) + at, (end - begin) * width,
                                step.value(op.out) + at);
  });
}

}  // namespace hwtv::cpu
