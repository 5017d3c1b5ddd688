#include <algorithm>

#include "backends/cpu/step.h"

namespace hwtv::cpu {

void run_rows(const ops::ExpertSum& op, RowRange rows, const Step& step) {
  const int64_t n_experts = step.width(op.shares), width = step.width(op.out);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const float* const shares = step.value(op.shares) + row * n_experts;
    const float* slot = step.value(op.x) + row * op.n_used * width;
    float* const out = step.value(op.out) + row * width;
    std::fill_n(out, width, 0.0f);
    for (int64_t expert = 0; expert < n_experts; ++expert) {
      const float share = shares[expert];
      if (share == 0) continue;
      for (int64_t i = 0; i < width; ++i) out[i] += share * slot[i];
      slot += width;
    }
  }
}

}  // namespace hwtv::cpu
