// The integer dots of 16 rows of x and a tile of outputs by AMX's matrix unit.  They are exact, so the
// sums have the same bits as without it.  Included by packed_matmul_inl.h, inside its namespace.
#pragma once

constexpr bool kHasMatrixUnit = true;
// Below this many rows the unit's blocks of 16 are too empty.
constexpr int64_t kMatrixUnitRows = 6;

// Tile registers 0, 1: dots (16 rows of x, 16 outputs).  2, 3: x (16 rows, one group of elements).
// 4, 5: weights (the group's slices of 4 elements, 16 outputs).  Two of each, so that the unit works on
// one group while the last one's dots are read.
struct AmxConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  explicit constexpr AmxConfig(int group) {
    for (int i = 0; i < 2; ++i) {
      row_bytes[i] = row_bytes[4 + i] = 64;
      rows[i] = rows[2 + i] = kBlockRows;
      row_bytes[2 + i] = static_cast<uint16_t>(group);
      rows[4 + i] = static_cast<uint8_t>(group / 4);
    }
  }
};
static_assert(sizeof(AmxConfig) == 64);

struct Dots {
  alignas(64) int32_t rows[kBlockRows][kLanes];
};

// dots = one group of a block of x times group g of the tile, by the registers of `kBuffer`: the
// intrinsics take their numbers literally.
template <int kGroup, int kBuffer>
HWTV_INLINE void multiply_group(const Tile& tile, int64_t g, const int8_t* x, Dots& dots) {
  const void* const w = &tile.quants[g * (kGroup / 4)];
  if constexpr (kBuffer == 0) {
    _tile_loadd(2, x, 32);
    _tile_loadd(4, w, 64);
    _tile_zero(0);
    _tile_dpbssd(0, 2, 4);
    _tile_stored(0, &dots, 64);
  } else {
    _tile_loadd(3, x, 32);
    _tile_loadd(5, w, 64);
    _tile_zero(1);
    _tile_dpbssd(1, 3, 5);
    _tile_stored(1, &dots, 64);
  }
}

// The dots of a block of x, group by group.
template <typename Format, int kBuffer>
HWTV_INLINE void multiply_block(const Tile& tile, const XRows& x, int64_t block, Dots* dots) {
  const auto x_block = XBlock<Format::kGroup, kBlockRows>::at(x, block);
  constexpr int kGroups = kGroupsOfX<Format>;
  multiply_group<Format::kGroup, kBuffer>(tile, block * kGroups, x_block.slice(0, 0, 0), dots[0]);
  if constexpr (kGroups == 2)
    multiply_group<16, 1 - kBuffer>(tile, block * 2 + 1, x_block.slice(0, 1, 0), dots[1]);
}

template <typename Format>
HWTV_INLINE void add_dots(const Tile& tile, const XRows& x, int64_t block, const Dots* dots,
                          F* total) {
  constexpr int kGroups = kGroupsOfX<Format>;
  const auto x_block = XBlock<Format::kGroup, kBlockRows>::at(x, block);
  alignas(64) float x_sums[kGroups][kBlockRows];
  F scales[kGroups], mins[kGroups];
#pragma GCC unroll 2
  for (int i = 0; i < kGroups; ++i) {
    if constexpr (Format::kHasMin) {
      I sum = load_i16_i(x_block.sums + i * kBlockRows);
      if constexpr (kGroups == 1) sum = add_i(sum, load_i16_i(x_block.sums + kBlockRows));
      store_f(x_sums[i], mul_f(load_f(x_block.scales), to_float(sum)));
    }
    scales[i] = load_f(tile.scales[block * kGroups + i]);
    mins[i] = load_f(tile.mins[block * kGroups + i]);
  }
#pragma GCC unroll 16
  for (int r = 0; r < kBlockRows; ++r) {
    F sum;
    float row_sums[kGroups];
#pragma GCC unroll 2
    for (int i = 0; i < kGroups; ++i) {
      add_dot<Format>(sum, i, load_i(dots[i].rows[r]), scales[i]);
      row_sums[i] = Format::kHasMin ? x_sums[i][r] : 0.0f;
    }
    total[r] = add_block<Format>(total[r], sum, scales[0], x_block.scales[r], mins, row_sums);
  }
}

// Adds elements [0, n) of a tile times one block of rows; row r's sums are sums[r * stride].
template <typename Format>
static void add_block_of_rows(const Tile& tile, const XRows& x, int64_t n, float* sums,
                              int64_t stride) {
  F total[kBlockRows];
#pragma GCC unroll 16
  for (int r = 0; r < kBlockRows; ++r) total[r] = load_f(sums + r * stride);
  Dots dots[2][kGroupsOfX<Format>];
  const int64_t n_blocks = n / kXBlock;
  multiply_block<Format, 0>(tile, x, 0, dots[0]);
  for (int64_t block = 0; block < n_blocks; block += 2) {
    if (block + 1 < n_blocks) multiply_block<Format, 1>(tile, x, block + 1, dots[1]);
    add_dots<Format>(tile, x, block, dots[0], total);
    if (block + 2 < n_blocks) multiply_block<Format, 0>(tile, x, block + 2, dots[0]);
    if (block + 1 < n_blocks) add_dots<Format>(tile, x, block + 1, dots[1], total);
  }
#pragma GCC unroll 16
  for (int r = 0; r < kBlockRows; ++r) store_f(sums + r * stride, total[r]);
}

template <typename Format, int kTiles>
static void add_all_blocks(const Tile* tiles, const MatMulArgs& a, int64_t k, int64_t n,
                           const MatMulPart& part, PartSums& part_sums) {
  static constexpr AmxConfig kConfig(Format::kGroup);
  _tile_loadconfig(&kConfig);
  asm volatile("" ::: "memory");  // g++ 12 does not know that _tile_loadd reads memory
  constexpr int64_t kStride = kPartTiles * kLanes;
  for (int64_t row = part.row_begin; row < part.row_end; row += kBlockRows)
    for (int i = 0; i < kTiles; ++i)
      add_block_of_rows<Format>(tiles[i], rows_of_x<kBlockRows>(a.quantized, a.n_in, row, k), n,
                                part_sums.sums[row - part.row_begin][i], kStride);
  _tile_release();
}
