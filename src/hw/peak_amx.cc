// The matrix unit's int8 dot product; the rest as with VNNI.  Compiled with -mamx-tile -mamx-int8 and
// what AVX-512 takes: includes nothing that emits shared inline code.
#include <immintrin.h>

#include "hw/peak_avx512_inl.h"
#include "hw/peak_kernels.h"

namespace hwtv::hw {
namespace {

struct TileConfig {
  uint8_t palette = 1;
  uint8_t rest[15] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Four sums of 16 x 16 over 64 products each round.
int32_t dot_int8(int64_t n_rounds) {
  alignas(64) static constexpr TileConfig kConfig;
  alignas(64) static constexpr int8_t kOnes[16 * 64] = {1};
  _tile_loadconfig(&kConfig);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_loadd(4, kOnes, 64);
  _tile_loadd(5, kOnes, 64);
  _tile_loadd(6, kOnes, 64);
  _tile_loadd(7, kOnes, 64);
  for (int64_t round = 0; round < n_rounds; ++round) {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
  alignas(64) int32_t sums[16 * 16];
  _tile_stored(0, sums, 64);
  _tile_release();
  return sums[0];
}

}  // namespace

const PeakKernels kPeakAmx = {
    "amx", read, multiply_add, dot_int8, kAccumulators * 16 * 2, 4 * 16 * 16 * 64 * 2};

}  // namespace hwtv::hw
