// The quant_blocks of a packed tile (packed_format.h), 16 rows at once: the same values as the
// formats of formats_inl.h give row by row, which they extend.  After formats_inl.h.
#pragma once
#include <cstdint>

#include "backends/cpu/packed_format.h"

namespace hwtv::cpu {
namespace {

// The sections of one tile.
struct PackedTile {
  const uint8_t* sections[kMostSections];
};

template <typename Packed>
HWTV_INLINE PackedTile packed_tile(const uint8_t* tile, int64_t n_blocks) {
  constexpr PackedFormat kFormat = packed_format(Packed::kType);
  PackedTile r = {};
#pragma GCC unroll 4
  for (int i = 0; i < kFormat.n_sections; ++i)
    r.sections[i] = tile + section_begin(kFormat, i, n_blocks);
  return r;
}

template <int kSection>
HWTV_INLINE W words_of(const PackedTile& t, int64_t block, int n_words, int word) {
  return load_w(t.sections[kSection] + (block * n_words + word) * 64);
}
template <int kSection>
HWTV_INLINE F halves_of(const PackedTile& t, int64_t block, int n_halves, int half) {
  return load_half(
      reinterpret_cast<const uint16_t*>(t.sections[kSection] + (block * n_halves + half) * 32));
}
template <int kSection>
HWTV_INLINE I bytes_of(const PackedTile& t, int64_t block, int n_bytes, int byte) {
  return load_u8_i(t.sections[kSection] + (block * n_bytes + byte) * 16);
}

// A packed format says, beside what its format says:
//   kType   of the weights
//   slice   elements [4 j, 4 j + 4) of group g of a block, of every row
//   scale   of group g, of every row
//   min     likewise, where kHasMin

struct PackedQ4_0 : FormatQ4_0 {
  static constexpr WeightType kType = WeightType::q4_0;
  HWTV_INLINE W slice(const PackedTile& t, int64_t b, int, int j) {
    return field_w(words_of<0>(t, b, 4, j % 4), 4 * (j / 4), 15);
  }
  HWTV_INLINE F scale(const PackedTile& t, int64_t b, int) { return halves_of<1>(t, b, 1, 0); }
};

struct PackedQ4_1 : FormatQ4_1 {
  static constexpr WeightType kType = WeightType::q4_1;
  HWTV_INLINE W slice(const PackedTile& t, int64_t b, int, int j) {
    return field_w(words_of<0>(t, b, 4, j % 4), 4 * (j / 4), 15);
  }
  HWTV_INLINE F scale(const PackedTile& t, int64_t b, int) { return halves_of<1>(t, b, 2, 0); }
  HWTV_INLINE F min(const PackedTile& t, int64_t b, int) { return halves_of<1>(t, b, 2, 1); }
};

HWTV_INLINE W slice_of_5_bits(const PackedTile& t, int64_t b, int j) {
  const W low = field_w(words_of<0>(t, b, 4, j % 4), 4 * (j / 4), 15);
  return merge_w(low, words_of<1>(t, b, 1, 0), 4 - j, 16);
}

struct PackedQ5_0 : FormatQ5_0 {
  static constexpr WeightType kType = WeightType::q5_0;
  HWTV_INLINE W slice(const PackedTile& t, int64_t b, int, int j) {
    return slice_of_5_bits(t, b, j);
  }
  HWTV_INLINE F scale(const PackedTile& t, int64_t b, int) { return halves_of<2>(t, b, 1, 0); }
};

struct PackedQ5_1 : FormatQ5_1 {
  static constexpr WeightType kType = WeightType::q5_1;
  HWTV_INLINE W slice(const PackedTile& t, int64_t b, int, int j) {
    return slice_of_5_bits(t, b, j);
  }
  HWTV_INLINE F scale(const PackedTile& t, int64_t b, int) { return halves_of<2>(t, b, 2, 0); }
  HWTV_INLINE F min(const PackedTile& t, int64_t b, int) { return halves_of<2>(t, b, 2, 1); }
};

struct PackedQ8_0 : FormatQ8_0 {
  static constexpr WeightType kType = WeightType::q8_0;
  HWTV_INLINE W slice(const PackedTile& t, int64_t b, int, int j) {
    return words_of<0>(t, b, 8, j);
  }
  HWTV_INLINE F scale(const PackedTile& t, int64_t b, int) { return halves_of<1>(t, b, 1, 0); }
};

// Slice j of group g (16 elements) where 2 bits of element 128 h + 32 i + k lie at bit 2 i of byte
// 32 h + k: the word, and i.
HWTV_INLINE int two_bit_word(int g, int j) { return 8 * (g / 8) + 4 * (g % 2) + j; }
HWTV_INLINE int two_bit_field(int g) { return g / 2 % 4; }

struct PackedQ2_K : FormatQ2_K {
  static constexpr WeightType kType = WeightType::q2_k;
  HWTV_INLINE W slice(const PackedTile& t, int64_t b, int g, int j) {
    return field_w(words_of<0>(t, b, 16, two_bit_word(g, j)), 2 * two_bit_field(g), 3);
  }
  HWTV_INLINE F scale(const PackedTile& t, int64_t b, int g) {
    return mul_f(halves_of<1>(t, b, 2, 0), to_float(field_i(bytes_of<2>(t, b, 16, g), 0, 15)));
  }
  HWTV_INLINE F min(const PackedTile& t, int64_t b, int g) {
    const F min = sub_f(set_f(0), halves_of<1>(t, b, 2, 1));
    return mul_f(min, to_float(field_i(bytes_of<2>(t, b, 16, g), 4, 15)));
  }
};

struct PackedQ3_K : FormatQ3_K {
  static constexpr WeightType kType = WeightType::q3_k;
  HWTV_INLINE W slice(const PackedTile& t, int64_t b, int g, int j) {
    const W low = field_w(words_of<0>(t, b, 16, two_bit_word(g, j)), 2 * two_bit_field(g), 3);
    return merge_w(low, words_of<1>(t, b, 8, 4 * (g % 2) + j), 2 - g / 2, 4);
  }
  HWTV_INLINE F scale(const PackedTile& t, int64_t b, int g) {
    const I low = field_i(bytes_of<3>(t, b, 12, g % 8), 4 * (g / 8), 15);
    const I high = field_i(bytes_of<3>(t, b, 12, 8 + g % 4), 2 * (g / 4), 3);
    return mul_f(halves_of<2>(t, b, 1, 0),
                 to_float(add_i(or_i(low, raise_i(high, 4)), set_i(-32))));
  }
};

// The 6-bit scales and minimums of Q4_K and Q5_K, whose bytes are section kSection.
template <int kSection>
HWTV_INLINE I k_scale(const PackedTile& t, int64_t b, int g) {
  if (g < 4) return field_i(bytes_of<kSection>(t, b, 12, g), 0, 63);
  const I low = field_i(bytes_of<kSection>(t, b, 12, g + 4), 0, 15);
  return or_i(low, raise_i(field_i(bytes_of<kSection>(t, b, 12, g - 4), 6, 3), 4));
}
template <int kSection>
HWTV_INLINE I k_min(const PackedTile& t, int64_t b, int g) {
  if (g < 4) return field_i(bytes_of<kSection>(t, b, 12, g + 4), 0, 63);
  const I low = field_i(bytes_of<kSection>(t, b, 12, g + 4), 4, 15);
  return or_i(low, raise_i(field_i(bytes_of<kSection>(t, b, 12, g), 6, 3), 4));
}

template <int kHalves, int kBytes>
struct PackedKScales {
  HWTV_INLINE F scale(const PackedTile& t, int64_t b, int g) {
    return mul_f(halves_of<kHalves>(t, b, 2, 0), to_float(k_scale<kBytes>(t, b, g)));
  }
  HWTV_INLINE F min(const PackedTile& t, int64_t b, int g) {
    return mul_f(sub_f(set_f(0), halves_of<kHalves>(t, b, 2, 1)), to_float(k_min<kBytes>(t, b, g)));
  }
};

struct PackedQ4_K : FormatQ4_K, PackedKScales<1, 2> {
  static constexpr WeightType kType = WeightType::q4_k;
  HWTV_INLINE W slice(const PackedTile& t, int64_t b, int g, int j) {
    return field_w(words_of<0>(t, b, 32, 8 * (g / 2) + j), 4 * (g % 2), 15);
  }
};

struct PackedQ5_K : FormatQ5_K, PackedKScales<2, 3> {
  static constexpr WeightType kType = WeightType::q5_k;
  HWTV_INLINE W slice(const PackedTile& t, int64_t b, int g, int j) {
    const W low = field_w(words_of<0>(t, b, 32, 8 * (g / 2) + j), 4 * (g % 2), 15);
    return merge_w(low, words_of<1>(t, b, 8, j), 4 - g, 16);
  }
};

struct PackedQ6_K : FormatQ6_K {
  static constexpr WeightType kType = WeightType::q6_k;
  HWTV_INLINE W slice(const PackedTile& t, int64_t b, int g, int j) {
    const int field = two_bit_field(g);
    const int word = 16 * (g / 8) + 8 * (field % 2) + 4 * (g % 2) + j;
    const W low = field_w(words_of<0>(t, b, 32, word), 4 * (field / 2), 15);
    return merge_w(low, words_of<1>(t, b, 16, two_bit_word(g, j)), 4 - 2 * field, 48);
  }
  HWTV_INLINE F scale(const PackedTile& t, int64_t b, int g) {
    return mul_f(halves_of<2>(t, b, 1, 0),
                 load_int8(reinterpret_cast<const int8_t*>(t.sections[3] + (b * 16 + g) * 16)));
  }
};

struct PackedIQ4_NL : FormatIQ4_NL {
  static constexpr WeightType kType = WeightType::iq4_nl;
  HWTV_INLINE W slice(const PackedTile& t, int64_t b, int, int j) {
    return look_up_w(field_w(words_of<0>(t, b, 4, j % 4), 4 * (j / 4), 15), kIq4Bytes);
  }
  HWTV_INLINE F scale(const PackedTile& t, int64_t b, int) { return halves_of<1>(t, b, 1, 0); }
};

struct PackedIQ4_XS : FormatIQ4_XS {
  static constexpr WeightType kType = WeightType::iq4_xs;
  HWTV_INLINE W slice(const PackedTile& t, int64_t b, int g, int j) {
    return look_up_w(field_w(words_of<0>(t, b, 32, 4 * g + j % 4), 4 * (j / 4), 15), kIq4Bytes);
  }
  HWTV_INLINE F scale(const PackedTile& t, int64_t b, int g) {
    const I low = field_i(bytes_of<3>(t, b, 4, g / 2), 4 * (g % 2), 15);
    const I high = field_i(load_u16_i(t.sections[2] + b * 32), 2 * g, 3);
    return mul_f(halves_of<1>(t, b, 1, 0),
                 to_float(add_i(or_i(low, raise_i(high, 4)), set_i(-32))));
  }
};

struct PackedMXFP4 : FormatMXFP4 {
  static constexpr WeightType kType = WeightType::mxfp4;
  HWTV_INLINE W slice(const PackedTile& t, int64_t b, int, int j) {
    return look_up_w(field_w(words_of<0>(t, b, 4, j % 4), 4 * (j / 4), 15), kMxfp4Bytes);
  }
  // 2^(exponent - 128) as a product of two powers, since it may be subnormal.
  HWTV_INLINE F scale(const PackedTile& t, int64_t b, int) {
    const I exponent = bytes_of<1>(t, b, 1, 0), half = field_i(exponent, 1, 127);
    const I rest = add_i(half, field_i(exponent, 0, 1));
    return mul_f(bits_to_f(raise_i(add_i(half, set_i(63)), 23)),
                 bits_to_f(raise_i(add_i(rest, set_i(63)), 23)));
  }
};

}  // namespace
}  // namespace hwtv::cpu
