// A weight as the ref backend keeps it: F32, laid out so that plain loops over outputs vectorise.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "base/thread_team.h"
#include "hw/buffer.h"
#include "ops/program.h"

namespace hwtv::ref {

// Rows of a matrix lie in panels of 8: element k of row n is at (n / 8, k, n % 8); the last panel
// is filled up with zeros.  Experts lie one after the other, each in panels of its own.
inline constexpr int64_t kPanelRows = 8;

struct Weight {
  ops::WeightDecl decl;
  hw::Buffer buffer;

  // (n_rows, width), for norms, biases, sinks and rope factors.
  const float* vector() const { return buffer.floats(); }
  // (width, kPanelRows)
  const float* panel(int64_t i) const { return buffer.floats() + i * decl.width * kPanelRows; }
  // Of one expert.
  int64_t n_panels() const { return (decl.n_rows + kPanelRows - 1) / kPanelRows; }
};

// Whether the weight is kept as it is, not in panels.
bool is_vector(ops::WeightRole role);

// What load_weight reserves.
int64_t weight_bytes(const ops::WeightDecl& decl);

// Errors: out_of_memory.  Requires: `bytes` are those of the declaration.
Result<Weight> load_weight(const ops::WeightDecl& decl, std::span<const std::byte> bytes,
                           ThreadTeam& team, hw::Ledger& ledger);

}  // namespace hwtv::ref
