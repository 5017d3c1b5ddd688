// Where everything lies that prepare() allocates, from shapes alone: the spec prices it, the
// executable allocates it.
#pragma once
#include <cstdint>
#include <vector>

#include "backends/cpu/kernels.h"
#include "ops/backend.h"
#include "ops/program.h"

namespace hwtv::cpu {

constexpr int64_t round_up(int64_t n, int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

// The pool of one KvGroup: (n_blocks, n_layers, keys then values), so that a kv_block is one piece.
// Of states: (n_blocks, n_layers, state_floats).
struct KvLayout {
  int64_t n_blocks = 0;
  int64_t block_tokens = 0;
  int64_t block_bytes = 0;
  int64_t layer_bytes = 0;   // of one layer in one block
  int64_t values_bytes = 0;  // where the values begin within a layer
  int64_t k_head_bytes = 0;
  int64_t v_head_bytes = 0;
  int64_t v_row_bytes = 0;

  int64_t pool_bytes() const { return n_blocks * block_bytes; }
  KvPlace place(uint8_t* pool, int32_t layer) const;
};

// Requires: CpuSpec::supports().
KvLayout kv_layout(const ops::KvGroup& kv, size_t group, const ops::Limits& limits);

// One table of cosines and sines serves all Rope ops with the same settings.
struct RopeTable {
  ops::RopeConfig rope;
  ops::WeightId factors;
  int64_t cosines;  // offset in staging: (n_tokens, n_rotated / 2)
  int64_t sines;
};

// Which table a Rope op reads; the first one of the program fills it, row by row, in every step.
struct RopeUse {
  int32_t table = -1;  // not a Rope
  bool is_first = false;
};

// A decode step splits attention over the cache too, up to this many tokens in the step.
inline constexpr int64_t kSplitStepTokens = 4;

// Rows of a step that one expert multiplies together: at most kPartRows.
struct ExpertRows {
  int32_t expert;
  int32_t first;  // of its rows among the slots sorted by expert
  int32_t n_rows;
  int32_t place;  // where its QuantizedRows begin, in rows
};

// Byte offsets within the staging buffer.
struct StagingLayout {
  int64_t quants = 0;  // QuantizedRows of the widest MatMul input
  int64_t scales = 0;
  int64_t sums = 0;
  int64_t slices = 0;         // int32: the slice of each row
  int64_t expert_counts = 0;  // int32: of each expert, its rows
  int64_t expert_groups = 0;  // ExpertRows
  int64_t expert_slots = 0;   // int32
  int64_t lora_rows = 0;      // float: for each pair of a Lora (n_rows, rank)
  int64_t split_states = 0;   // SplitState (kSplitStepTokens * n_heads, n_splits)
  int64_t split_values = 0;   // (kSplitStepTokens * n_heads, n_splits, value_dim)
  std::vector<RopeTable> rope_tables;
  std::vector<RopeUse> rope_uses;  // by index in Program::ops
  int64_t n_bytes = 0;
};

StagingLayout plan_staging(const ops::Program& program, const ops::Limits& limits);

}  // namespace hwtv::cpu
