#include <algorithm>

#include "backends/ref/kernels.h"

namespace hwtv::ref {

void run(const ops::ExpertSum& op, const Step& step) {
  const int64_t n_experts = step.width(op.shares), width = step.width(op.out);
  step.team.for_each_chunk(step.n_rows(op.x), 4, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const float* const shares = step.value(op.shares) + row * n_experts;
      const float* slot = step.value(op.x) + row * op.n_used * width;
      float* const out = step.value(op.out) + row * width;
      std::fill_n(out, width, 0.0f);
      for (int64_t expert = 0; expert < n_experts; ++expert) {
        if (shares[expert] == 0) continue;
        for (int64_t i = 0; i < width; ++i) out[i] += shares[expert] * slot[i];
        slot += width;
      }
    }
  });
}

}  // namespace hwtv::ref
