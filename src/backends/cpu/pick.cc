#include <algorithm>

#include "backends/cpu/step.h"

namespace hwtv::cpu {

void run_rows(const ops::Pick& op, RowRange rows, const Step& step) {
  const int64_t n_pieces = step.width(op.x) / op.stride;
  const float* const x = step.value(op.x) + op.first;
  float* const out = step.value(op.out);
  for (int64_t i = rows.begin * n_pieces; i < rows.end * n_pieces; ++i)
    std::copy_n(x + i * op.stride, op.n, out + i * op.n);
}

}  // namespace hwtv::cpu
