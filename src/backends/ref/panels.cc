#include "backends/ref/panels.h"

#include <algorithm>
#include <cstring>

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

// kRows rows of x times the 8 rows of a panel.
template <int kRows>
void multiply(const float* x, int64_t n_in, const float* panel, float (&out)[kRows][kPanelRows]) {
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

}  // namespace

template <int kRows>
void multiply_panel(const Weight& weight, int64_t panel, const float* bias, const float* x,
                    float* out) {
  float tile[kRows][kPanelRows];
  multiply<kRows>(x, weight.decl.width, weight.panel(panel), tile);
  const int64_t n_out = weight.decl.n_rows;
  const int64_t first = panel % weight.n_panels() * kPanelRows;
  const int64_t n = std::min(kPanelRows, n_out - first);
  for (int row = 0; row < kRows; ++row)
    for (int64_t lane = 0; lane < n; ++lane)
      out[row * n_out + first + lane] =
          bias ? tile[row][lane] + bias[first + lane] : tile[row][lane];
}

template void multiply_panel<1>(const Weight&, int64_t, const float*, const float*, float*);
template void multiply_panel<4>(const Weight&, int64_t, const float*, const float*, float*);

}  // namespace hwtv::ref
