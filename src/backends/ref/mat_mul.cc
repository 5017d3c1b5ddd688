#include <algorithm>
#include <cstring>

#include "backends/ref/kernels.h"

namespace hwtv::ref {
namespace {

// Four floats, added and multiplied lane by lane (a GCC and clang extension; SSE, NEON).  Written
// out because the compiler's own vectorisation of the plain loop spills every sum.
using Four [[gnu::vector_size(16)]] = float;

Four load_four(const float* p) {
  Four four;
  std::memcpy(&four, p, sizeof(four));
  return four;
}

// kRows rows of x times the 8 rows of a panel.  Every sum runs over k in order, whatever kRows is,
// so a row's result does not depend on its neighbours.
template <int kRows>
void multiply_panel(const float* x, int64_t n_in, const float* panel,
                    float (&out)[kRows][kPanelRows]) {
  Four low[kRows] = {};
  Four high[kRows] = {};
  for (int64_t k = 0; k < n_in; ++k) {
    const Four w_low = load_four(panel + k * kPanelRows);
    const Four w_high = load_four(panel + k * kPanelRows + 4);
    for (int row = 0; row < kRows; ++row) {
      low[row] += x[row * n_in + k] * w_low;
      high[row] += x[row * n_in + k] * w_high;
    }
  }
  for (int row = 0; row < kRows; ++row) {
    std::memcpy(out[row], &low[row], sizeof(Four));
    std::memcpy(out[row] + 4, &high[row], sizeof(Four));
  }
}

struct Problem {
  const float* x;  // (n_rows, n_in)
  int64_t n_rows;
  int64_t n_in;
  const Weight& weight;  // (n_out, n_in)
  const float* bias;     // (n_out) or null
  float* out;            // (n_rows, n_out)
};

template <int kRows>
void multiply_rows(const Problem& p, int64_t first_row, int64_t panel) {
  float tile[kRows][kPanelRows];
  multiply_panel<kRows>(p.x + first_row * p.n_in, p.n_in, p.weight.panel(panel), tile);
  const int64_t n_out = p.weight.decl.n_rows;
  const int64_t first = panel * kPanelRows;
  const int64_t n = std::min(kPanelRows, n_out - first);
  for (int row = 0; row < kRows; ++row)
    for (int64_t lane = 0; lane < n; ++lane)
      p.out[(first_row + row) * n_out + first + lane] =
          p.bias ? tile[row][lane] + p.bias[first + lane] : tile[row][lane];
}

}  // namespace

void run(const ops::MatMul& op, const Step& step) {
  const Problem p{step.value(op.x),
                  step.n_rows(op.x),
                  step.width(op.x),
                  step.weight(op.weight),
                  op.bias == ops::kNoWeight ? nullptr : step.weight(op.bias).vector(),
                  step.value(op.out)};
  // A panel stays in the first cache while all rows of x pass by it.
  step.team.for_each_chunk(p.weight.n_panels(), 4, [&](int64_t begin, int64_t end, int) {
    for (int64_t panel = begin; panel < end; ++panel) {
      int64_t row = 0;
      for (; row + 4 <= p.n_rows; row += 4) multiply_rows<4>(p, row, panel);
      for (; row < p.n_rows; ++row) multiply_rows<1>(p, row, panel);
    }
  });
}

}  // namespace hwtv::ref
