// A weight as the CPU backend holds it: where the file has it, or re-laid in tiles (packed_format.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "base/thread_team.h"
#include "hw/buffer.h"
#include "hw/ledger.h"
#include "ops/backend.h"
#include "ops/program.h"

namespace hwtv::cpu {

struct Weight {
  ops::WeightDecl decl;
  const std::byte* bytes = nullptr;  // in the file; null when packed
  hw::Reservation reservation = {};
  hw::Buffer tiles = {};

  bool is_packed() const { return bytes == nullptr; }
  const uint8_t* data() const {
    return reinterpret_cast<const uint8_t*>(is_packed() ? tiles.data() : bytes);
  }
  int64_t in_place_bytes() const { return is_packed() ? 0 : reservation.size_bytes(); }
  int64_t packed_bytes() const { return tiles.size_bytes(); }
};

// Whether the backend re-lays a weight: all that matrix products read as integers.
bool is_packable(const ops::WeightDecl& weight);

// Re-lays a weight with all threads, letting go of the source piece by piece.
// Errors: out_of_memory.  Requires: is_packable(decl).
Result<Weight> pack_weight(const ops::WeightDecl& decl, const ops::WeightSource& source,
                           ThreadTeam& team, hw::Ledger& ledger);

// Keeps a weight where it is, and reads one byte of each page: a disk that fails does so here, and
// no step waits for one.  Errors: out_of_memory.
Result<Weight> keep_weight(const ops::WeightDecl& decl, const ops::WeightSource& source,
                           ThreadTeam& team, hw::Ledger& ledger);

// Dequantizes one row.  out (decl.width)
void read_row(const Weight& weight, int64_t row, float* out);

}  // namespace hwtv::cpu
