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
  // From one expert's matrix to the next.
  int64_t matrix_bytes() const {
    return (in_file || !is_packed ? decl.n_bytes() : held.size_bytes()) / decl.n_experts;
  }
  int64_t size_bytes() const { return reservation.size_bytes() + held.size_bytes(); }
};

// Whether matrices are re-laid for the kernels, or read where the file has them: slower, and
// without a second copy while loading.
enum class Packing { tiles, none };

// Whether the backend re-lays a weight: all that matrix products read as integers.
bool is_packable(const ops::WeightDecl& weight);

// Bytes of one packed matrix: of the weight, or of one expert.  Requires: is_packable(weight).
int64_t packed_matrix_bytes(const ops::WeightDecl& weight);

// The type that it is held in: an adapter's quantized matrix is widened, for its products read
// floats.
DType held_dtype(const ops::WeightDecl& weight);

// What a weight that is not re-laid takes.
int64_t held_bytes(const ops::WeightDecl& weight);

// Takes a weight with all threads.  With Packing::tiles matrices are re-laid or copied: to huge
// pages, and the source is let go of piece by piece, so that a file is resident once.  A table that
// only few rows of are looked up stays in the file, and so does every matrix with Packing::none.
// Vectors are always copied: reading them in the file would map the pages around them.  Errors:
// out_of_memory.
Result<Weight> take_weight(const ops::WeightDecl& decl, const ops::WeightSource& source,
                           Packing packing, ThreadTeam& team, hw::Ledger& ledger);

// Dequantizes one row.  out (decl.width)
void read_row(const Weight& weight, int64_t row, float* out);

}  // namespace hwtv::cpu
