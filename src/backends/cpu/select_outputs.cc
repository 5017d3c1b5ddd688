#include <algorithm>

#include "backends/cpu/step.h"

namespace hwtv::cpu {

void run(const ops::SelectOutputs& op, const Step& step) {
  const int64_t width = step.width(op.x);
  step.share(step.n_rows(op.out), width, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::copy_n(step.value(op.x) + step.input.output_rows[static_cast<size_t>(i)] * width, width,
                  step.value(op.out) + i * width);
  });
}

}  // namespace hwtv::cpu
