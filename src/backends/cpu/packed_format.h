// How quantized weights are re-laid for the kernels: 16 rows make a tile, in which the same piece
// of 16 rows' quant_blocks lies side by side, so that one register holds a slice of every row.
// Nothing is added or lost: a tile has the bytes of its rows.  Included by the ISA files: plain
// data only.
#pragma once
#include <cstdint>

#include "backends/cpu/kernels.h"
#include "ops/quant_blocks.h"

namespace hwtv::cpu {

// What is done to a 32-bit word of a block on its way into a tile.
enum class Recode : uint8_t {
  none,
  spread_bits,  // bit 4 j + i goes to bit 8 i + j: bit j of byte i is that of element 4 j + i
  flip_signs,   // int8 becomes the unsigned byte 128 above
};

// Bytes [offset, offset + n_bytes) of a quant_block, taken in units of `unit` bytes.  In the tile a
// section holds block by block, unit by unit, the 16 rows' units.
struct PackedSection {
  int offset;
  int n_bytes;
  int unit;
  Recode recode;
};

constexpr int kMostSections = 4;

struct PackedFormat {
  int block_elements;
  int block_bytes;
  int n_sections;
  PackedSection sections[kMostSections];
};

#define HWTV_SECTION_AS(Block, member, unit, recode) \
  { __builtin_offsetof(ops::Block, member), sizeof(ops::Block::member), unit, recode }
#define HWTV_SECTION(Block, member, unit) HWTV_SECTION_AS(Block, member, unit, Recode::none)
// `scale` and `min`, which lie side by side.
#define HWTV_SCALE_AND_MIN(Block) \
  { __builtin_offsetof(ops::Block, scale), 4, 2, Recode::none }

// n_sections is 0 for types that are not packed: those whose elements are floats.
constexpr PackedFormat packed_format(WeightType type) {
  switch (type) {
    case WeightType::q4_0:
      return {32, 18, 2, {HWTV_SECTION(BlockQ4_0, nibbles, 4), HWTV_SECTION(BlockQ4_0, scale, 2)}};
    case WeightType::q4_1:
      return {32, 20, 2, {HWTV_SECTION(BlockQ4_1, nibbles, 4), HWTV_SCALE_AND_MIN(BlockQ4_1)}};
    case WeightType::q5_0:
      return {32,
              22,
              3,
              {HWTV_SECTION(BlockQ5_0, nibbles, 4),
               HWTV_SECTION_AS(BlockQ5_0, fifth_bits, 4, Recode::spread_bits),
               HWTV_SECTION(BlockQ5_0, scale, 2)}};
    case WeightType::q5_1:
      return {32,
              24,
              3,
              {HWTV_SECTION(BlockQ5_1, nibbles, 4),
               HWTV_SECTION_AS(BlockQ5_1, fifth_bits, 4, Recode::spread_bits),
               HWTV_SCALE_AND_MIN(BlockQ5_1)}};
    case WeightType::q8_0:
      return {32,
              34,
              2,
              {HWTV_SECTION_AS(BlockQ8_0, quants, 4, Recode::flip_signs),
               HWTV_SECTION(BlockQ8_0, scale, 2)}};
    case WeightType::q2_k:
      return {256,
              84,
              3,
              {HWTV_SECTION(BlockQ2_K, quants, 4), HWTV_SCALE_AND_MIN(BlockQ2_K),
               HWTV_SECTION(BlockQ2_K, scales, 1)}};
    case WeightType::q3_k:
      return {256,
              110,
              4,
              {HWTV_SECTION(BlockQ3_K, quants, 4), HWTV_SECTION(BlockQ3_K, third_bits, 4),
               HWTV_SECTION(BlockQ3_K, scale, 2), HWTV_SECTION(BlockQ3_K, scales, 1)}};
    case WeightType::q4_k:
      return {256,
              144,
              3,
              {HWTV_SECTION(BlockQ4_K, nibbles, 4), HWTV_SCALE_AND_MIN(BlockQ4_K),
               HWTV_SECTION(BlockQ4_K, scales, 1)}};
    case WeightType::q5_k:
      return {256,
              176,
              4,
              {HWTV_SECTION(BlockQ5_K, nibbles, 4), HWTV_SECTION(BlockQ5_K, fifth_bits, 4),
               HWTV_SCALE_AND_MIN(BlockQ5_K), HWTV_SECTION(BlockQ5_K, scales, 1)}};
    case WeightType::q6_k:
      return {256,
              210,
              4,
              {HWTV_SECTION(BlockQ6_K, nibbles, 4), HWTV_SECTION(BlockQ6_K, high_bits, 4),
               HWTV_SECTION(BlockQ6_K, scale, 2), HWTV_SECTION(BlockQ6_K, scales, 1)}};
    case WeightType::iq4_nl:
      return {
          32, 18, 2, {HWTV_SECTION(BlockIQ4_NL, nibbles, 4), HWTV_SECTION(BlockIQ4_NL, scale, 2)}};
    case WeightType::iq4_xs:
      return {
          256,
          136,
          4,
          {HWTV_SECTION(BlockIQ4_XS, nibbles, 4), HWTV_SECTION(BlockIQ4_XS, scale, 2),
           HWTV_SECTION(BlockIQ4_XS, scales_high, 2), HWTV_SECTION(BlockIQ4_XS, scales_low, 1)}};
    case WeightType::mxfp4:
      return {
          32, 17, 2, {HWTV_SECTION(BlockMXFP4, nibbles, 4), HWTV_SECTION(BlockMXFP4, exponent, 1)}};
    case WeightType::f32:
    case WeightType::f16:
    case WeightType::bf16:
      break;
  }
  return {};
}
#undef HWTV_SCALE_AND_MIN
#undef HWTV_SECTION
#undef HWTV_SECTION_AS

// Where a section begins within a tile whose rows have n_blocks blocks.  The last section comes
// first: a reader that runs ahead in address order then meets scales before their quants.
constexpr int64_t section_begin(const PackedFormat& format, int section, int64_t n_blocks) {
  int64_t begin = 0;
  for (int i = section + 1; i < format.n_sections; ++i)
    begin += kTileOutputs * n_blocks * format.sections[i].n_bytes;
  return begin;
}

}  // namespace hwtv::cpu
