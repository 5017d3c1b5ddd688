// A weight as the CPU backend holds it: re-laid in tiles (packed_format.h), copied, or where the
// file has it.
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
  bool is_packed = false;
  const std::byte* in_file = nullptr;  // null: `held` has it
  hw::Reservation reservation = {};    // of what lies in the file
  hw::Buffer held = {};

  const uint8_t* data() const {
    return reinterpret_cast<const uint8_t*>(in_file ? in_file : held.data());
  }
  int64_t size_bytes() const { return reservation.size_bytes() + held.size_bytes(); }
};

// Whether the backend re-lays a weight: all that matrix products read as integers.
bool is_packable(const ops::WeightDecl& weight);

// Re-lays a weight with all threads, letting go of the source piece by piece.
// Errors: out_of_memory.  Requires: is_packable(decl).
Result<Weight> pack_weight(const ops::WeightDecl& decl, const ops::WeightSource& source,
                           ThreadTeam& team, hw::Ledger& ledger);

// Takes a weight as it is.  Vectors are copied: where the matrices around them are packed, reading
// them in the file would bring those back into resident memory.  Of others one byte of each page is
// read: a disk that fails does so here, and no step waits for one.  Errors: out_of_memory.
Result<Weight> keep_weight(const ops::WeightDecl& decl, const ops::WeightSource& source,
                           ThreadTeam& team, hw::Ledger& ledger);

// Dequantizes one row.  out (decl.width)
void read_row(const Weight& weight, int64_t row, float* out);

}  // namespace hwtv::cpu
