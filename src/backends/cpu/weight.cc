#include "backends/cpu/weight.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/packing.h"
#include "backends/cpu/types.h"
#include "ops/dequantize.h"

namespace hwtv::cpu {
namespace {

constexpr int64_t kPieceBytes = int64_t{1} << 20;  // packed by one thread, then let go of
constexpr int64_t kPageBytes = 4096;
constexpr int64_t kMostBlockBytes = 256;

// Re-lays a weight with all threads, letting go of the source piece by piece.  Each expert's matrix
// has tiles of its own.
Result<Weight> pack_weight(const ops::WeightDecl& decl, const ops::WeightSource& source,
                           ThreadTeam& team, hw::Ledger& ledger) {
  const WeightType type = *weight_type(decl.dtype);
  Weight weight{.decl = decl, .is_packed = true};
  HWTV_TRY(weight.held, hw::Buffer::allocate_untouched(ledger, hw::Use::packed_weights, decl.name,
                                                       decl.n_experts * packed_matrix_bytes(decl)));
  const int64_t row_bytes = dtype_bytes(decl.dtype, decl.width);
  const int64_t n_tiles = (decl.n_rows + kTileOutputs - 1) / kTileOutputs;  // of one expert
  const int64_t grain = std::max<int64_t>(1, kPieceBytes / (kTileOutputs * row_bytes));
  const auto row_of_tile = [&](int64_t tile) {
    return tile / n_tiles * decl.n_rows + tile % n_tiles * kTileOutputs;
  };
  team.for_each_chunk(decl.n_experts * n_tiles, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t tile = begin; tile < end;) {
      const int64_t expert = tile / n_tiles, expert_end = std::min((expert + 1) * n_tiles, end);
      pack_tiles(
          type,
          reinterpret_cast<const uint8_t*>(source.bytes.data()) + expert * decl.matrix_bytes(),
          decl.n_rows, decl.width, tile - expert * n_tiles, expert_end - expert * n_tiles,
          reinterpret_cast<uint8_t*>(weight.held.data()) + expert * packed_matrix_bytes(decl));
      tile = expert_end;
    }
    const int64_t first = row_of_tile(begin), last = row_of_tile(end);
    if (source.release)
      source.release(source.bytes.subspan(static_cast<size_t>(first * row_bytes),
                                          static_cast<size_t>((last - first) * row_bytes)));
  });
  return weight;
}

// Copies it as it lies, likewise.
Result<Weight> copy_weight(const ops::WeightDecl& decl, const ops::WeightSource& source,
                           ThreadTeam& team, hw::Ledger& ledger) {
  Weight weight{.decl = decl};
  HWTV_TRY(weight.held,
           hw::Buffer::allocate_untouched(ledger, hw::Use::weights, decl.name, decl.n_bytes()));
  team.for_each_chunk(decl.n_bytes(), kPieceBytes, [&](int64_t begin, int64_t end, int) {
    const auto piece =
        source.bytes.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
    std::memcpy(weight.held.data() + begin, piece.data(), piece.size());
    if (source.release) source.release(piece);
  });
  return weight;
}

// Dequantizes it.
Result<Weight> widen_weight(const ops::WeightDecl& decl, const ops::WeightSource& source,
                            ThreadTeam& team, hw::Ledger& ledger) {
  Weight weight{.decl = decl};
  weight.decl.dtype = DType::F32;
  HWTV_TRY(weight.held,
           hw::Buffer::allocate_untouched(ledger, hw::Use::weights, decl.name, held_bytes(decl)));
  const int64_t row_bytes = dtype_bytes(decl.dtype, decl.width);
  team.for_each_chunk(decl.n_rows, 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row)
      ops::dequantize_row(decl.dtype, source.bytes.data() + row * row_bytes,
                          weight.held.floats() + row * decl.width, decl.width);
  });
  if (source.release) source.release(source.bytes);
  return weight;
}

// Leaves it where the file has it.  One byte of each page is read: a disk that fails does so here,
// and no step waits for one.
Result<Weight> keep_weight(const ops::WeightDecl& decl, const ops::WeightSource& source,
                           ThreadTeam& team, hw::Ledger& ledger) {
  Weight weight{.decl = decl, .in_file = source.bytes.data()};
  HWTV_TRY(weight.reservation, ledger.reserve(hw::Use::weights, decl.name, decl.n_bytes()));
  const auto n_pages = static_cast<int64_t>(source.bytes.size() + kPageBytes - 1) / kPageBytes;
  team.for_each_chunk(n_pages, kPieceBytes / kPageBytes, [&](int64_t begin, int64_t end, int) {
    for (int64_t page = begin; page < end; ++page)
      asm volatile("" ::"r"(source.bytes[static_cast<size_t>(page * kPageBytes)]) : "memory");
  });
  return weight;
}

}  // namespace

bool is_packable(const ops::WeightDecl& weight) {
  const auto type = weight_type(weight.dtype);
  return type && is_packed(*type) && weight.role != ops::WeightRole::embedding &&
         weight.role != ops::WeightRole::adapter;
}

DType held_dtype(const ops::WeightDecl& weight) {
  const bool is_widened = weight.role == ops::WeightRole::adapter && is_quantized(weight.dtype);
  return is_widened ? DType::F32 : weight.dtype;
}

int64_t held_bytes(const ops::WeightDecl& weight) {
  return weight.n_experts * weight.n_rows * dtype_bytes(held_dtype(weight), weight.width);
}

int64_t packed_matrix_bytes(const ops::WeightDecl& weight) {
  return packed_bytes(*weight_type(weight.dtype), weight.n_rows, weight.width);
}

Result<Weight> take_weight(const ops::WeightDecl& decl, const ops::WeightSource& source,
                           Packing packing, ThreadTeam& team, hw::Ledger& ledger) {
  if (held_dtype(decl) != decl.dtype) return widen_weight(decl, source, team, ledger);
  const bool is_looked_up = decl.role == ops::WeightRole::embedding;
  if (decl.n_rows > 1 && (packing == Packing::none || is_looked_up))
    return keep_weight(decl, source, team, ledger);
  return is_packable(decl) && packing == Packing::tiles ? pack_weight(decl, source, team, ledger)
                                                        : copy_weight(decl, source, team, ledger);
}

void read_row(const Weight& weight, int64_t row, float* out) {
  const ops::WeightDecl& decl = weight.decl;
  if (!weight.is_packed)
    return ops::dequantize_row(
        decl.dtype, weight.data() + row * dtype_bytes(decl.dtype, decl.width), out, decl.width);
  const WeightType type = *weight_type(decl.dtype);
  const int64_t n = dtype_info(decl.dtype).block_elements;
  for (int64_t block = 0; block < decl.width / n; ++block) {
    alignas(4) uint8_t bytes[kMostBlockBytes];
    unpack_block(type, weight.data(), decl.width, row, block, bytes);
    ops::dequantize_row(decl.dtype, bytes, out + block * n, n);
  }
}

}  // namespace hwtv::cpu
