#include "backends/cpu/packing.h"

#include <algorithm>
#include <cstring>

namespace hwtv::cpu {
namespace {

uint32_t spread_bits(uint32_t word) {
  uint32_t spread = 0;
  for (int bit = 0; bit < 32; ++bit) spread |= ((word >> bit) & 1u) << (8 * (bit % 4) + bit / 4);
  return spread;
}
uint32_t gather_bits(uint32_t spread) {
  uint32_t word = 0;
  for (int bit = 0; bit < 32; ++bit) word |= ((spread >> (8 * (bit % 4) + bit / 4)) & 1u) << bit;
  return word;
}

uint32_t recode(Recode how, uint32_t word) {
  switch (how) {
    case Recode::none:
      break;
    case Recode::spread_bits:
      return spread_bits(word);
    case Recode::flip_signs:
      return word ^ 0x80808080u;
  }
  return word;
}
uint32_t recode_back(Recode how, uint32_t word) {
  return how == Recode::spread_bits ? gather_bits(word) : recode(how, word);
}

// The units of one row's section: from its blocks to every kTileOutputs-th unit of the tile.
template <typename Unit>
void scatter(const PackedFormat& format, const PackedSection& section, const uint8_t* row,
             int64_t n_blocks, uint8_t* tile_row) {
  const int n_units = section.n_bytes / static_cast<int>(sizeof(Unit));
  for (int64_t block = 0; block < n_blocks; ++block)
    for (int unit = 0; unit < n_units; ++unit, tile_row += kTileOutputs * sizeof(Unit)) {
      Unit value;
      std::memcpy(&value,
                  row + block * format.block_bytes + section.offset +
                      static_cast<size_t>(unit) * sizeof(Unit),
                  sizeof(Unit));
      if constexpr (sizeof(Unit) == 4) value = recode(section.recode, value);
      std::memcpy(tile_row, &value, sizeof(Unit));
    }
}

void pack_row(const PackedFormat& format, const uint8_t* row, int64_t n_blocks, int64_t lane,
              uint8_t* tile) {
  for (int i = 0; i < format.n_sections; ++i) {
    const PackedSection& section = format.sections[i];
    uint8_t* const to = tile + section_begin(format, i, n_blocks) + lane * section.unit;
    switch (section.unit) {
      case 4:
        scatter<uint32_t>(format, section, row, n_blocks, to);
        break;
      case 2:
        scatter<uint16_t>(format, section, row, n_blocks, to);
        break;
      default:
        scatter<uint8_t>(format, section, row, n_blocks, to);
        break;
    }
  }
}

}  // namespace

bool is_packed(WeightType type) { return packed_format(type).n_sections > 0; }

int64_t packed_bytes(WeightType type, int64_t n_rows, int64_t width) {
  const PackedFormat format = packed_format(type);
  const int64_t n_tiles = (n_rows + kTileOutputs - 1) / kTileOutputs;
  return n_tiles * kTileOutputs * (width / format.block_elements) * format.block_bytes;
}

void pack_tiles(WeightType type, const uint8_t* rows, int64_t n_rows, int64_t width,
                int64_t tile_begin, int64_t tile_end, uint8_t* packed) {
  const PackedFormat format = packed_format(type);
  const int64_t n_blocks = width / format.block_elements;
  const int64_t row_bytes = n_blocks * format.block_bytes, tile_bytes = kTileOutputs * row_bytes;
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    uint8_t* const to = packed + tile * tile_bytes;
    const int64_t first = tile * kTileOutputs;
    const int64_t n_lanes = std::min(kTileOutputs, n_rows - first);
    if (n_lanes < kTileOutputs) std::memset(to, 0, static_cast<size_t>(tile_bytes));
    for (int64_t lane = 0; lane < n_lanes; ++lane)
      pack_row(format, rows + (first + lane) * row_bytes, n_blocks, lane, to);
  }
}

void unpack_block(WeightType type, const uint8_t* packed, int64_t width, int64_t row, int64_t block,
                  uint8_t* bytes) {
  const PackedFormat format = packed_format(type);
  const int64_t n_blocks = width / format.block_elements;
  const int64_t tile_bytes = kTileOutputs * n_blocks * format.block_bytes;
  const uint8_t* const tile = packed + row / kTileOutputs * tile_bytes;
  for (int i = 0; i < format.n_sections; ++i) {
    const PackedSection& section = format.sections[i];
    const uint8_t* from = tile + section_begin(format, i, n_blocks) +
                          block * kTileOutputs * section.n_bytes +
                          row % kTileOutputs * section.unit;
    uint8_t* to = bytes + section.offset;
    for (int at = 0; at < section.n_bytes; at += section.unit) {
      std::memcpy(to + at, from, static_cast<size_t>(section.unit));
      from += kTileOutputs * section.unit;
      if (section.recode == Recode::none) continue;
      uint32_t word;
      std::memcpy(&word, to + at, 4);
      word = recode_back(section.recode, word);
      std::memcpy(to + at, &word, 4);
    }
  }
}

}  // namespace hwtv::cpu
