#include "backends/cpu/layout.h"

#include <algorithm>

namespace hwtv::cpu {
namespace {

int64_t rows_max(const ops::Program& program, ops::ValueId id, const ops::Limits& limits) {
  return program.value(id).rows == ops::Rows::n_tokens ? limits.n_tokens_max : limits.n_outputs_max;
}

// Hands out pieces of the staging buffer, each on a cache line of its own.
class Pieces {
 public:
  int64_t take(int64_t n_bytes) {
    const int64_t at = n_bytes_;
    n_bytes_ += round_up(n_bytes, 64);
    return at;
  }
  int64_t n_bytes() const { return n_bytes_; }

 private:
  int64_t n_bytes_ = 0;
};

bool same_settings(const ops::RopeConfig& a, const ops::RopeConfig& b) {
  return a.pairs == b.pairs && a.n_rotated == b.n_rotated && a.theta == b.theta &&
         a.frequency_scale == b.frequency_scale && a.yarn_mix == b.yarn_mix &&
         a.yarn_beta_fast == b.yarn_beta_fast && a.yarn_beta_slow == b.yarn_beta_slow &&
         a.yarn_original_context_tokens == b.yarn_original_context_tokens &&
         a.magnitude == b.magnitude && a.growth == b.growth && a.growth_tokens == b.growth_tokens;
}

void plan_rope_tables(const ops::Program& program, const ops::Limits& limits, Pieces& pieces,
                      StagingLayout& layout) {
  for (const ops::NamedOp& named : program.ops) {
    RopeUse use;
    if (const auto* op = std::get_if<ops::Rope>(&named.op)) {
      const auto same = [&](const RopeTable& table) {
        return table.factors == op->factors && same_settings(table.rope, op->rope);
      };
      const auto found = std::find_if(layout.rope_tables.begin(), layout.rope_tables.end(), same);
      use = {static_cast<int32_t>(found - layout.rope_tables.begin()),
             found == layout.rope_tables.end()};
      if (use.is_first) {
        const int64_t n_bytes = limits.n_tokens_max * op->rope.n_rotated / 2 * 4;
        const int64_t cosines = pieces.take(n_bytes);
        layout.rope_tables.push_back({op->rope, op->factors, cosines, pieces.take(n_bytes)});
      }
    }
    layout.rope_uses.push_back(use);
  }
}

// The largest sizes of an ExpertOrder, and of the rows that its products quantize.
struct ExpertSizes {
  int64_t n_experts = 0;
  int64_t n_groups = 0;
  int64_t n_slots = 0;
  int64_t n_quants = 0;

  void cover(const ops::ExpertMatMul& op, const ops::Program& program, const ops::Limits& limits) {
    const ops::WeightDecl& weight = program.weight(op.weight);
    const int64_t slots = rows_max(program, op.x, limits) * op.n_used;
    const int64_t groups = std::min(slots, weight.n_experts) + slots / kPartRows;
    n_experts = std::max(n_experts, weight.n_experts);
    n_groups = std::max(n_groups, groups);
    n_slots = std::max(n_slots, slots);
    if (is_quantized(weight.dtype))
      n_quants = std::max(n_quants, (slots + groups * (kBlockRows - 1)) * weight.width);
  }
};

}  // namespace

KvPlace KvLayout::place(uint8_t* pool, int32_t layer) const {
  const int64_t keys = layer * layer_bytes;
  return {.pool = pool,
          .block_bytes = block_bytes,
          .block_tokens = block_tokens,
          .k_offset = keys,
          .v_offset = keys + values_bytes,
          .k_head_bytes = k_head_bytes,
          .v_head_bytes = v_head_bytes,
          .v_row_bytes = v_row_bytes};
}

KvLayout kv_layout(const ops::KvGroup& kv, size_t group, const ops::Limits& limits) {
  KvLayout layout;
  layout.n_blocks = limits.n_kv_blocks[group];
  layout.block_tokens = limits.kv_block_tokens;
  if (kv.is_state()) {
    layout.layer_bytes = kv.state_floats * static_cast<int64_t>(sizeof(float));
    layout.block_bytes = kv.n_layers * layout.layer_bytes;
    return layout;
  }
  // Keys: whole tiles of tokens.  Values: whole vectors of elements.
  layout.k_head_bytes =
      round_up(limits.kv_block_tokens, kKvTileTokens) * dtype_bytes(limits.k_dtype, kv.head_dim);
  layout.v_row_bytes = dtype_bytes(limits.v_dtype, round_up(kv.value_dim, 16));
  layout.v_head_bytes = limits.kv_block_tokens * layout.v_row_bytes;
  layout.values_bytes = kv.n_kv_heads * layout.k_head_bytes;
  layout.layer_bytes = layout.values_bytes + kv.n_kv_heads * layout.v_head_bytes;
  layout.block_bytes = kv.n_layers * layout.layer_bytes;
  return layout;
}

StagingLayout plan_staging(const ops::Program& program, const ops::Limits& limits) {
  int64_t n_quants = 0, n_states = 0, n_values = 0, lora_ranks = 0;
  ExpertSizes experts;
  const int64_t n_splits = (limits.context_tokens_max + kSplitTokens - 1) / kSplitTokens;
  const int64_t split_tokens = std::min(kSplitStepTokens, limits.n_tokens_max);
  for (const ops::NamedOp& named : program.ops) {
    if (const auto* mat_mul = std::get_if<ops::MatMul>(&named.op)) {
      const ops::WeightDecl& weight = program.weight(mat_mul->weight);
      if (is_quantized(weight.dtype))
        n_quants = std::max(
            n_quants, round_up(rows_max(program, mat_mul->x, limits), kBlockRows) * weight.width);
    } else if (const auto* product = std::get_if<ops::ExpertMatMul>(&named.op)) {
      experts.cover(*product, program, limits);
    } else if (const auto* lora = std::get_if<ops::Lora>(&named.op)) {
      int64_t ranks = 0;
      for (const ops::LoraPair& pair : lora->pairs) ranks += program.weight(pair.a).n_rows;
      lora_ranks = std::max(lora_ranks, ranks);
    } else if (const auto* attention = std::get_if<ops::Attention>(&named.op)) {
      const ops::KvGroup& kv = program.kv_groups[static_cast<size_t>(attention->kv_group)];
      const int64_t states = split_tokens * attention->n_heads * n_splits;
      n_states = std::max(n_states, states);
      n_values = std::max(n_values, states * kv.value_dim);
    }
  }
  n_quants = std::max(n_quants, experts.n_quants);
  StagingLayout layout;
  Pieces pieces;
  layout.quants = pieces.take(n_quants);
  layout.scales = pieces.take(n_quants / 32 * static_cast<int64_t>(sizeof(float)));
  layout.sums = pieces.take(n_quants / 16 * static_cast<int64_t>(sizeof(int16_t)));
  layout.slices = pieces.take(limits.n_tokens_max * static_cast<int64_t>(sizeof(int32_t)));
  layout.expert_counts = pieces.take(experts.n_experts * static_cast<int64_t>(sizeof(int32_t)));
  layout.expert_groups = pieces.take(experts.n_groups * static_cast<int64_t>(sizeof(ExpertRows)));
  layout.expert_slots = pieces.take(experts.n_slots * static_cast<int64_t>(sizeof(int32_t)));
  layout.lora_rows = pieces.take(std::max(limits.n_tokens_max, limits.n_outputs_max) * lora_ranks *
                                 static_cast<int64_t>(sizeof(float)));
  layout.split_states = pieces.take(n_states * static_cast<int64_t>(sizeof(SplitState)));
  layout.split_values = pieces.take(n_values * static_cast<int64_t>(sizeof(float)));
  plan_rope_tables(program, limits, pieces, layout);
  layout.n_bytes = pieces.n_bytes();
  return layout;
}

}  // namespace hwtv::cpu
