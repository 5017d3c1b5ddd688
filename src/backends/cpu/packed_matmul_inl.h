// Matrix products with packed weights.  One row of x is multiplied straight from the tiles; more
// rows share tiles expanded to bytes, two side by side.  After matmul_inl.h and packed_inl.h.
#pragma once
#include <cstdint>

#include "backends/cpu/kernels.h"

namespace hwtv::cpu {
namespace {

// Into the second level: the first has too few lines under way at once to hide the memory's latency.
// Written out, since compilers gather prefetches in one place, however they were spread.
HWTV_INLINE void prefetch_to_l2(const uint8_t* p) {
#if defined(__x86_64__)
  asm volatile("prefetcht1 %0" : : "m"(*p));
#else
  __builtin_prefetch(p, 0, 2);
#endif
}

template <typename Packed>
HWTV_INLINE F min_of(const PackedTile& tile, int64_t block, int g) {
  if constexpr (Packed::kHasMin)
    return Packed::min(tile, block, g);
  else
    return set_f(0);
}

// Some rows of one block of quantized rows, from one element on.
struct XRows {
  const int8_t* quants;
  const float* scales;
  const int16_t* sums;
};
// Row `row` from element k on.  Requires: k is a multiple of 32; x is in blocks of kRows.
template <int64_t kRows>
HWTV_INLINE XRows rows_of_x(const QuantizedRows& x, int64_t n_in, int64_t row, int64_t k) {
  const int64_t block = row / kRows * (n_in / 32) + k / 32, lane = row % kRows;
  return {x.quants + (block * kRows + lane) * 32, x.scales + block * kRows + lane,
          x.sums + 2 * block * kRows + lane};
}

// The lines of one block, section by section: where each begins.
template <typename Packed>
struct BlockLines {
  struct Line {
    int section, offset, block_bytes;  // of one block of the section
  };
  static constexpr int kMost = packed_format(Packed::kType).block_bytes * kTileOutputs / 64 + 4;
  int n = 0;
  Line lines[kMost] = {};

  constexpr BlockLines() {
    constexpr PackedFormat kFormat = packed_format(Packed::kType);
    for (int i = 0; i < kFormat.n_sections; ++i) {
      const int bytes = kFormat.sections[i].n_bytes * static_cast<int>(kTileOutputs);
      for (int offset = 0; offset < bytes; offset += 64) lines[n++] = {i, offset, bytes};
    }
  }
};

template <typename Packed>
constexpr BlockLines<Packed> kBlockLines;

// Asks for block `block` of a tile, group g's share of it: a burst of requests would hold the core
// up, and leave the memory idle until the next.
template <typename Packed>
HWTV_INLINE void prefetch_group(const PackedTile& tile, int64_t block, int g) {
  constexpr const auto& kBlock = kBlockLines<Packed>;
  constexpr int kGroups = Packed::kBlock / Packed::kGroup;
#pragma GCC unroll 16
  for (int i = kBlock.n * g / kGroups; i < kBlock.n * (g + 1) / kGroups; ++i)
    prefetch_to_l2(tile.sections[kBlock.lines[i].section] + kBlock.lines[i].offset +
                   block * kBlock.lines[i].block_bytes);
}

// The block that is asked for while block `block` of a tile is read, some kBytes further on in each
// section: of this tile, or of one of the next.
template <typename Packed>
struct ReadAhead {
  static constexpr int64_t kBytes = 8192;
  static constexpr int64_t kBlockBytes = packed_format(Packed::kType).block_bytes * kTileOutputs;
  static constexpr int64_t kBlocks = (kBytes + kBlockBytes - 1) / kBlockBytes;
  int64_t n_blocks_ahead;
  PackedTile near, far;

  HWTV_INLINE ReadAhead at(const uint8_t* tile, int64_t n_blocks) {
    const int64_t tile_bytes = n_blocks * kBlockBytes;
    const uint8_t* const near = tile + kBlocks / n_blocks * tile_bytes;
    return {kBlocks % n_blocks, packed_tile<Packed>(near, n_blocks),
            packed_tile<Packed>(near + tile_bytes, n_blocks)};
  }
};

// One block of some rows of x, kStride rows to a block of elements, and what a weight with groups of
// kGroup reads of row r.
template <int kGroup, int kStride>
struct XBlock {
  const int8_t* quants;
  const float* scales;
  const int16_t* sums;

  HWTV_INLINE XBlock at(const XRows& x, int64_t block) {
    return {x.quants + block * kStride * kXBlock, x.scales + block * kStride,
            x.sums + 2 * block * kStride};
  }
  const int8_t* slice(int r, int group, int j) const {
    return quants + kXBlock * r + kGroup * group + 4 * j;
  }
  int32_t sum(int r, int group) const {
    return kGroup == 16 ? sums[group * kStride + r] : sums[r] + sums[kStride + r];
  }
};

// One group of a tile times kRows rows of a block of x; dots (kRows).
template <typename Packed, int kRows, int kStride>
HWTV_INLINE void multiply_group(const PackedTile& tile, int64_t block, int g,
                                const XBlock<Packed::kGroup, kStride>& x, I* dots) {
  constexpr int kGroup = Packed::kGroup, kChains = kRows == 1 ? 2 : 1;
  I dot[kRows][kChains];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    dot[r][kChains - 1] = set_i(0);
    dot[r][0] = zero_part<Packed>(x.sum(r, g % kGroupsOfX<Packed>));
  }
#pragma GCC unroll kUnroll
  for (int j = 0; j < kGroup / 4; ++j) {
    const W w = Packed::slice(tile, block, g, j);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
      dot[r][j % kChains] = dot4_w<Packed::kWide>(dot[r][j % kChains], w,
                                                  x.slice(r, g % kGroupsOfX<Packed>, j));
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
    dots[r] = kChains == 1 ? dot[r][0] : add_i(dot[r][0], dot[r][kChains - 1]);
}

// One tile times kRows rows of x; total (kRows).
template <typename Packed, int kRows, int kStride>
HWTV_INLINE void multiply_rows(const uint8_t* weight, int64_t n_in, const XRows& x, F* total) {
  constexpr int kGroups = kGroupsOfX<Packed>, kXBlocks = Packed::kBlock / kXBlock;
  const int64_t n_blocks = n_in / Packed::kBlock;
  const PackedTile tile = packed_tile<Packed>(weight, n_blocks);
  const auto read_ahead = ReadAhead<Packed>::at(weight, n_blocks);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) total[r] = set_f(0);
  for (int64_t block = 0; block < n_blocks; ++block) {
    const int64_t next = block + read_ahead.n_blocks_ahead;
    const bool is_near = next < n_blocks;
    const PackedTile ahead = is_near ? read_ahead.near : read_ahead.far;
#pragma GCC unroll 8
    for (int b = 0; b < kXBlocks; ++b) {
      const auto x_block = XBlock<Packed::kGroup, kStride>::at(x, block * kXBlocks + b);
      F sum[kRows], scale, mins[kGroups];
#pragma GCC unroll 2
      for (int i = 0; i < kGroups; ++i) {
        const int g = b * kGroups + i;
        prefetch_group<Packed>(ahead, is_near ? next : next - n_blocks, g);
        I dots[kRows];
        multiply_group<Packed, kRows, kStride>(tile, block, g, x_block, dots);
        scale = Packed::scale(tile, block, g);
        mins[i] = min_of<Packed>(tile, block, g);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) add_dot<Packed>(sum[r], i, dots[r], scale);
      }
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        float x_sums[kGroups];
        for (int i = 0; i < kGroups; ++i)
          x_sums[i] = scaled_sum(x_block.scales[r], x_block.sum(r, i));
        total[r] = add_block<Packed>(total[r], sum[r], scale, x_block.scales[r], mins, x_sums);
      }
    }
  }
}

// Elements [k, k + n) of a tile as bytes: signed ones, less their zero point, where kCentered.  Asks
// for the same of the tile at `ahead`.  Requires: both are multiples of kBlock, n <= kChunk.
template <typename Packed, bool kCentered>
static void expand_tile(const PackedTile& packed, const PackedTile& ahead, int64_t k, int64_t n,
                        Tile& tile) {
  constexpr int kGroup = Packed::kGroup, kGroups = Packed::kBlock / kGroup;
  for (int64_t i = 0; i < n / Packed::kBlock; ++i) {
    const int64_t block = k / Packed::kBlock + i;
#pragma GCC unroll kUnroll
    for (int g = 0; g < kGroups; ++g) {
      prefetch_group<Packed>(ahead, block, g);
      const int64_t at = i * kGroups + g;
      store_f(tile.scales[at], Packed::scale(packed, block, g));
      if constexpr (Packed::kHasMin) store_f(tile.mins[at], Packed::min(packed, block, g));
#pragma GCC unroll kUnroll
      for (int j = 0; j < kGroup / 4; ++j) {
        W slice = Packed::slice(packed, block, g, j);
        if constexpr (kCentered) slice = subtract_w(slice, Packed::kZero);
        store_w(&tile.quants[at * (kGroup / 4) + j][0][0], slice);
      }
    }
  }
}

// Totals of one part.
struct PartSums {
  alignas(64) float sums[kPartRows][kPartTiles][kLanes];
};

// What p points to is in memory from here on, and read from there.
HWTV_INLINE void keep_in_memory(const void* p) { asm volatile("" : : "r"(p) : "memory"); }

// Of eight rows (vectors of GCC and clang).
using EightShorts [[gnu::vector_size(16)]] = int16_t;
using EightInts [[gnu::vector_size(32)]] = int32_t;
using EightFloats [[gnu::vector_size(32)]] = float;

template <typename Vector, typename Element>
HWTV_INLINE Vector load_eight(const Element* p) {
  Vector vector;
  __builtin_memcpy(&vector, p, sizeof vector);
  return vector;
}

// Sums of one group of a block of eight rows.
template <int kGroup>
HWTV_INLINE EightInts sums_of_eight(const XBlock<kGroup, kBlockRows>& x, int group) {
  if constexpr (kGroup == 16)
    return __builtin_convertvector(load_eight<EightShorts>(x.sums + group * kBlockRows), EightInts);
  else
    return __builtin_convertvector(load_eight<EightShorts>(x.sums), EightInts) +
           __builtin_convertvector(load_eight<EightShorts>(x.sums + kBlockRows), EightInts);
}

// What the zero point adds in each row to the dots of a chunk's groups.  All groups first: reading
// lanes of what was only just stored would hold the dots up.
template <typename Format, int kRows>
struct ChunkZeros {
  using Block = XBlock<Format::kGroup, kBlockRows>;
  static constexpr int kGroups = kGroupsOfX<Format>;
  alignas(64) int32_t zeros[kChunk / kXBlock][kGroups][kRows];

  __attribute__((always_inline)) ChunkZeros(const XRows& x, int64_t n) {
    if constexpr (!kShifts<Format>) return;
    for (int64_t block = 0; block < n / kXBlock; ++block)
      for (int i = 0; i < kGroups; ++i) set(Block::at(x, block), i, zeros[block][i]);
    keep_in_memory(this);
  }
  HWTV_INLINE void set(const Block& x, int group, int32_t* zeros) {
    if constexpr (kRows == 8) {
      const EightInts of_rows = sums_of_eight(x, group) * -Format::kZero;
      __builtin_memcpy(zeros, &of_rows, sizeof of_rows);
    } else {
      for (int r = 0; r < kRows; ++r) zeros[r] = -Format::kZero * x.sum(r, group);
    }
  }
  __attribute__((always_inline)) I at(int64_t block, int group, int r) const {
    return set_i(kShifts<Format> ? zeros[block][group][r] : 0);
  }
};

// What the minimums are multiplied with in each row: the sums of the groups of a block of x.  Eight
// rows at once, which the compiler does not find by itself; the kernel then reads one row's from
// memory into all lanes, where the compiler would take each out of a register by shuffles.
template <typename Format, int kRows>
struct BlockSums {
  using Block = XBlock<Format::kGroup, kBlockRows>;
  static constexpr int kGroups = kGroupsOfX<Format>;
  alignas(64) float scaled[kGroups][kRows];

  __attribute__((always_inline)) explicit BlockSums(const Block& x) {
    if constexpr (!Format::kHasMin) return;
    for (int i = 0; i < kGroups; ++i) set(x, i, scaled[i]);
    keep_in_memory(this);
  }
  HWTV_INLINE void set(const Block& x, int group, float* scaled) {
    if constexpr (kRows == 8) {
      const EightFloats of_rows = load_eight<EightFloats>(x.scales) *
                                  __builtin_convertvector(sums_of_eight(x, group), EightFloats);
      __builtin_memcpy(scaled, &of_rows, sizeof of_rows);
    } else {
      for (int r = 0; r < kRows; ++r) scaled[r] = scaled_sum(x.scales[r], x.sum(r, group));
    }
  }
};

// Group g of kTiles tiles, group `group` of a block of x: dots (kRows, kTiles) += its products.
template <typename Format, int kTiles, int kRows>
HWTV_INLINE void add_products_of_group(const Tile* tiles, int64_t g,
                                       const XBlock<Format::kGroup, kBlockRows>& x, int group,
                                       I (*dots)[kTiles]) {
  constexpr int kSlices = Format::kGroup / 4;
#pragma GCC unroll kUnroll
  for (int j = 0; j < kSlices; ++j) {
    W w[kTiles];
#pragma GCC unroll 2
    for (int i = 0; i < kTiles; ++i) w[i] = load_w(&tiles[i].quants[g * kSlices + j][0][0]);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
      for (int i = 0; i < kTiles; ++i)
        dots[r][i] = dot4_w<Format::kWide>(dots[r][i], w[i], x.slice(r, group, j));
  }
}

// Adds elements [0, n) of kTiles tiles times kRows rows of x to sums (kRows, kTiles, 16).
template <typename Format, int kTiles, int kRows>
static void add_rows(const Tile* tiles, const XRows& x, int64_t n,
                     float (*sums)[kPartTiles][kLanes]) {
  constexpr int kGroups = kGroupsOfX<Format>;
  const ChunkZeros<Format, kRows> zeros(x, n);
  for (int64_t block = 0; block < n / kXBlock; ++block) {
    const auto x_block = XBlock<Format::kGroup, kBlockRows>::at(x, block);
    const BlockSums<Format, kRows> x_sums(x_block);
    F sum[kRows][kTiles];
#pragma GCC unroll 2
    for (int group = 0; group < kGroups; ++group) {
      const int64_t g = block * kGroups + group;
      I dots[kRows][kTiles];
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
        for (int i = 0; i < kTiles; ++i) dots[r][i] = zeros.at(block, group, r);
      add_products_of_group<Format, kTiles, kRows>(tiles, g, x_block, group, dots);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
        for (int i = 0; i < kTiles; ++i)
          add_dot<Format>(sum[r][i], group, dots[r][i], load_f(tiles[i].scales[g]));
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
      for (int i = 0; i < kTiles; ++i) {
        F mins[kGroups];
        float row_sums[kGroups];
#pragma GCC unroll 2
        for (int group = 0; group < kGroups; ++group) {
          mins[group] = load_f(tiles[i].mins[block * kGroups + group]);
          row_sums[group] = x_sums.scaled[group][r];
        }
        store_f(sums[r][i], add_block<Format>(load_f(sums[r][i]), sum[r][i],
                                              load_f(tiles[i].scales[block * kGroups]),
                                              x_block.scales[r], mins, row_sums));
      }
    // The compiler would hold the sums in registers from one block to the next and, having too few,
    // keep a chain of dots in memory instead: all else would wait for it.
    keep_in_memory(sums);
  }
}

// The rows [row_begin, row_end) of x, a few at a time.
template <typename Format, int kTiles>
static void add_all_rows(const Tile* tiles, const MatMulArgs& a, int64_t k, int64_t n,
                         const MatMulPart& part, PartSums& part_sums) {
  int64_t row = part.row_begin;
  const auto add = [&]<int kRows>() __attribute__((always_inline)) {
    for (; row + kRows <= part.row_end; row += kRows)
      add_rows<Format, kTiles, kRows>(tiles, rows_of_x<kBlockRows>(a.quantized, a.n_in, row, k), n,
                                      part_sums.sums + (row - part.row_begin));
  };
  add.template operator()<kMicroRows>();
  if constexpr (kMicroRows > 4) add.template operator()<4>();
  if constexpr (kMicroRows > 2) add.template operator()<2>();
  add.template operator()<1>();
}

#ifdef __AMX_INT8__
#include "backends/cpu/amx_inl.h"
#else
constexpr bool kHasMatrixUnit = false;
constexpr int64_t kMatrixUnitRows = 0;
template <typename Packed, int kTiles>
static void add_all_blocks(const Tile*, const MatMulArgs&, int64_t, int64_t, const MatMulPart&,
                           PartSums&) {}
#endif

// out = sum + bias for one tile of row `row` of x.
HWTV_INLINE void finish_tile(const MatMulArgs& a, int64_t row, int64_t out, F sum) {
  const int64_t n = a.n_out - out < kTileOutputs ? a.n_out - out : kTileOutputs;
  float* const to = a.out + (a.out_rows ? a.out_rows[row] : row) * a.n_out + out;
  if (a.bias) sum = add_f(sum, load_n(a.bias + out, n));
  n == kTileOutputs ? store_f(to, sum) : store_n(to, sum, n);
}

template <typename Packed, int kTiles>
static void multiply_tiles(const MatMulArgs& a, int64_t out, const MatMulPart& part) {
  PartSums part_sums;
  Tile tiles[kTiles];
  PackedTile packed[kTiles], ahead[kTiles];  // these and the next part's
  for (int i = 0; i < kTiles; ++i) {
    const uint8_t* const tile = a.weight + (out + i * kTileOutputs) * a.row_bytes;
    packed[i] = packed_tile<Packed>(tile, a.n_in / Packed::kBlock);
    ahead[i] = packed_tile<Packed>(tile + kTiles * kTileOutputs * a.row_bytes,
                                   a.n_in / Packed::kBlock);
  }
  const int64_t n_rows = part.row_end - part.row_begin;
  const int64_t n_blocks = (n_rows + kBlockRows - 1) / kBlockRows;
  __builtin_memset(part_sums.sums, 0,
                   sizeof part_sums.sums[0] * static_cast<uint64_t>(n_blocks * kBlockRows));
  const bool by_matrix_unit = kHasMatrixUnit && n_rows >= kMatrixUnitRows;
  for (int64_t k = 0; k < a.n_in; k += kChunk) {
    const int64_t n = a.n_in - k < kChunk ? a.n_in - k : kChunk;
    if (by_matrix_unit) {
      for (int i = 0; i < kTiles; ++i) expand_tile<Packed, true>(packed[i], ahead[i], k, n, tiles[i]);
      add_all_blocks<Packed, kTiles>(tiles, a, k, n, part, part_sums);
    } else {
      for (int i = 0; i < kTiles; ++i) expand_tile<Packed, false>(packed[i], ahead[i], k, n, tiles[i]);
      add_all_rows<Packed, kTiles>(tiles, a, k, n, part, part_sums);
    }
  }
  for (int64_t row = 0; row < n_rows; ++row)
    for (int i = 0; i < kTiles; ++i)
      finish_tile(a, part.row_begin + row, out + i * kTileOutputs, load_f(part_sums.sums[row][i]));
}

// Up to this many rows are multiplied straight from a tile: reading it takes longer.
constexpr int64_t kFewRows = kMicroRows > 4 ? 8 : 2;

// All tiles of the part times its rows, kRows in one pass: the last ones may be rows that nobody
// asked for, of the same block of x.
template <typename Packed, int kRows, int kStride>
static void multiply_few(const MatMulArgs& a, const MatMulPart& part) {
  const int64_t n_rows = part.row_end - part.row_begin;
  for (int64_t out = part.out_begin; out < part.out_end; out += kTileOutputs)
    for (int64_t row = 0; row < n_rows; row += kRows) {
      F total[kRows];
      multiply_rows<Packed, kRows, kStride>(
          a.weight + out * a.row_bytes, a.n_in,
          rows_of_x<kStride>(a.quantized, a.n_in, part.row_begin + row, 0), total);
      for (int r = 0; r < kRows && row + r < n_rows; ++r)
        finish_tile(a, part.row_begin + row + r, out, total[r]);
    }
}

template <typename Packed>
static void matmul_packed(const MatMulArgs& a, const MatMulPart& part) {
  const int64_t n_rows = part.row_end - part.row_begin;
  if (a.quantized.block_rows == 1) return multiply_few<Packed, 1, 1>(a, part);
  if (n_rows <= kFewRows) {
    if constexpr (kFewRows > 2) {
      if (n_rows > 4) return multiply_few<Packed, 8, kBlockRows>(a, part);
      if (n_rows > 2) return multiply_few<Packed, 4, kBlockRows>(a, part);
    }
    return multiply_few<Packed, 2, kBlockRows>(a, part);
  }
  int64_t out = part.out_begin;
  for (; out + kTileOutputs < part.out_end; out += kPartTiles * kTileOutputs)
    multiply_tiles<Packed, kPartTiles>(a, out, part);
  if (out < part.out_end) multiply_tiles<Packed, 1>(a, out, part);
}

}  // namespace
}  // namespace hwtv::cpu
