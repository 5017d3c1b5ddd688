// The sixteen uneven values of IQ4_NL and IQ4_XS as a grid to round to.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>

#include "ops/quant_blocks.h"
#include "ops/scale_search.h"

namespace hwtv::ops {

// For each half step from -128 up: the index of the nearest value.  Every border between two values
// is a multiple of one half, so the table is exact.
constexpr std::array<uint8_t, 512> make_iq4_indices() {
  std::array<uint8_t, 512> indices{};
  int index = 0;
  for (int i = 0; i < 512; ++i) {
    const int twice = i - 256;  // the interval [twice, twice + 1) / 2
    while (index < 15 && twice >= kIq4Values[index] + kIq4Values[index + 1]) ++index;
    indices[static_cast<size_t>(i)] = static_cast<uint8_t>(index);
  }
  return indices;
}
inline constexpr std::array<uint8_t, 512> kIq4Indices = make_iq4_indices();

inline uint8_t iq4_index(float v) {
  return kIq4Indices[static_cast<size_t>(
      static_cast<int>(std::floor(std::clamp(2 * v, -256.0f, 255.0f))) + 256)];
}

struct Iq4Grid {
  float low = kIq4Values[0], high = kIq4Values[15];

  Four nearest(Four v) const {
    Four out;
    for (int i = 0; i < 4; ++i) out[i] = static_cast<float>(kIq4Values[iq4_index(v[i])]);
    return out;
  }
};

}  // namespace hwtv::ops
