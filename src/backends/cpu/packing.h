// Moves quant_blocks into tiles and back (packed_format.h).
#pragma once
#include <cstdint>

#include "backends/cpu/packed_format.h"

namespace hwtv::cpu {

// Whether weights of the type are re-laid.
bool is_packed(WeightType type);

// Bytes of a packed weight: its rows', rounded up to whole tiles.  Requires: is_packed(type).
int64_t packed_bytes(WeightType type, int64_t n_rows, int64_t width);

// Tiles [tile_begin, tile_end) of a weight (n_rows, width) into `packed`, the whole weight's place;
// rows past the last are zeros.  Requires: is_packed(type).
void pack_tiles(WeightType type, const uint8_t* rows, int64_t n_rows, int64_t width,
                int64_t tile_begin, int64_t tile_end, uint8_t* packed);

// One quant_block as the file has it.  Requires: block < width / block_elements.
void unpack_block(WeightType type, const uint8_t* packed, int64_t width, int64_t row, int64_t block,
                  uint8_t* bytes);

}  // namespace hwtv::cpu
