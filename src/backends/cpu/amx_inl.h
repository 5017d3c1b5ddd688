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

// dots = group g of a block of x times the tile, by the registers of `kBuffer`: the intrinsics take
// their numbers literally.
template <int kGroup, int kBuffer>
HWTV_INLINE void multiply_group(const Tile& tile, const int8_t* quants, int64_t g, Dots& dots) {
  const int8_t* const x = quants + g * kGroup / 32 * kBlockRows * 32 + g * kGroup % 32;
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

// x_sums (16 rows): the scaled sums of group g, which the minimums are multiplied with.
template <typename Format>
HWTV_INLINE void scale_sums(const XRows& x, int64_t g, const float* scales, float* x_sums) {
  if constexpr (Format::kHasMin) {
    constexpr int kHalves = Format::kGroup / 16;
    I sum = load_i16_i(x.sums + kHalves * g * kBlockRows);
    if constexpr (kHalves == 2) sum = add_i(sum, load_i16_i(x.sums + (2 * g + 1) * kBlockRows));
    store_f(x_sums, mul_f(load_f(scales), to_float(sum)));
  }
}

template <typename Format>
HWTV_INLINE void add_dots(const Tile& tile, const XRows& x, int64_t g, const Dots& dots, F* total) {
  const float* const scales = x.scales + g * Format::kGroup / 32 * kBlockRows;
  alignas(64) float x_sums[kBlockRows];
  scale_sums<Format>(x, g, scales, x_sums);
  const F scale = load_f(tile.scales[g]), min = load_f(tile.mins[g]);
#pragma GCC unroll 16
  for (int r = 0; r < kBlockRows; ++r)
    total[r] = add_group<Format>(total[r], load_i(dots.rows[r]), scale, min, scales[r],
                                 Format::kHasMin ? x_sums[r] : 0.0f);
}

// Adds elements [0, n) of a tile times one block of rows; row r's sums are sums[r * stride].
template <typename Format>
static void add_block(const Tile& tile, const XRows& x, int64_t n, float* sums, int64_t stride) {
  constexpr int kGroup = Format::kGroup;
  F total[kBlockRows];
#pragma GCC unroll 16
  for (int r = 0; r < kBlockRows; ++r) total[r] = load_f(sums + r * stride);
  Dots dots[2];
  const int64_t n_groups = n / kGroup;
  multiply_group<kGroup, 0>(tile, x.quants, 0, dots[0]);
  for (int64_t g = 0; g < n_groups; g += 2) {
    if (g + 1 < n_groups) multiply_group<kGroup, 1>(tile, x.quants, g + 1, dots[1]);
    add_dots<Format>(tile, x, g, dots[0], total);
    if (g + 2 < n_groups) multiply_group<kGroup, 0>(tile, x.quants, g + 2, dots[0]);
    if (g + 1 < n_groups) add_dots<Format>(tile, x, g + 1, dots[1], total);
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
      add_block<Format>(tiles[i], rows_of_x<kBlockRows>(a.quantized, a.n_in, row, k), n,
                        part_sums.sums[row - part.row_begin][i], kStride);
  _tile_release();
}
