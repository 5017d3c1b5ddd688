#include "backends/cpu/step.h"

namespace hwtv::cpu {

void run(const ops::RmsNorm& op, const Step& step) {
  const int64_t width = step.width(op.x);
  const int64_t n_group = step.executable.weight(op.weight).decl.width;
  step.share(step.n_rows(op.x), width, [&](int64_t begin, int64_t end) {
    step.executable.table().rms_norm(step.value(op.x) + begin * width,
                                     step.executable.vector(op.weight), op.eps,
                                     (end - begin) * width / n_group, n_group,
                                     step.value(op.out) + begin * width);
  });
}

}  // namespace hwtv::cpu
