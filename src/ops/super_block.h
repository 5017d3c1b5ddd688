// Blocks of 256 elements in groups whose scales are quantized too: which whole numbers stand for
// the scales, and which halfs are their units.  For ops/quantize_256.cc only.
#pragma once
#include <cstdint>

#include "ops/iq4_grid.h"
#include "ops/scale_search.h"

namespace hwtv::ops {

inline constexpr int kSuperElements = 256;
inline constexpr int kGroupsMax = 16;

// x ~ scale * s * q - min * m; s, m in [0, scale_high], q in [0, quant_high].
struct AffineShape {
  int group_elements;
  int quant_high;
  int scale_high;
};
struct AffineCode {
  uint16_t scale = 0, min = 0;  // halfs
  uint8_t scales[kGroupsMax] = {}, mins[kGroupsMax] = {};
};
AffineCode fit_affine_block(const AffineShape& shape, const float* x, const float* weights);

// x ~ scale * s * q; s in [scale_low, -scale_low), q on the grid.
struct EvenShape {
  int group_elements;
  int scale_low;
};
struct EvenCode {
  uint16_t scale = 0;  // half
  int8_t scales[kGroupsMax] = {};
};
EvenCode fit_even_block(const EvenShape& shape, const IntegerGrid& grid, const float* x,
                        const float* weights);
EvenCode fit_even_block(const EvenShape& shape, const Iq4Grid& grid, const float* x,
                        const float* weights);

}  // namespace hwtv::ops
