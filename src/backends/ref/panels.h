// The innermost loop of the matrix products: a few rows of activations times one panel of a weight.
#pragma once
#include <cstdint>

#include "backends/ref/weight.h"

namespace hwtv::ref {

// Panel `panel` of a weight, counted through all its experts, times kRows rows of x, one after the
// other; the outputs go to their places in as many rows of out.  bias (n_rows) or null, of that
// expert. Every sum runs over k in order, whatever kRows is, so a row's result does not depend on
// its neighbours.  kRows is 1 or 4.
template <int kRows>
void multiply_panel(const Weight& weight, int64_t panel, const float* bias, const float* x,
                    float* out);

}  // namespace hwtv::ref
