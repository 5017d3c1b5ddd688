#include "ops/work.h"

#include <algorithm>
#include <cmath>

namespace hwtv::ops {
namespace {

constexpr double kF32Bytes = 4;

// What one slice's tokens see of their own cache.
struct Seen {
  int64_t n_read = 0;      // positions that any of them attends to
  int64_t n_attended = 0;  // sum over its tokens of the positions each attends to
};

Seen seen_by(const SliceSize& slice, int64_t window_tokens, bool causal) {
  const int64_t n_last = slice.n_cached + slice.n_tokens;  // what the last token sees unwindowed
  if (!causal) return {.n_read = n_last, .n_attended = slice.n_tokens * n_last};
  const int64_t window = window_tokens > 0 ? window_tokens : n_last;
  const int64_t n_whole = std::clamp<int64_t>(window - slice.n_cached, 0, slice.n_tokens);
  return {.n_read = n_last - std::max<int64_t>(0, slice.n_cached + 1 - window),
          .n_attended = n_whole * slice.n_cached + n_whole * (n_whole + 1) / 2 +
                        (slice.n_tokens - n_whole) * window};
}

// How many of n_experts the rows of a step touch, each n_used of them: exactly so many for one row,
// and for more the mean of rows that choose evenly and apart.
double touched(int64_t n_experts, int64_t n_used, double n_rows) {
  const auto all = static_cast<double>(n_experts);
  const double spared = 1 - static_cast<double>(n_used) / all;
  return n_rows == 1 ? static_cast<double>(n_used) : all * (1 - std::pow(spared, n_rows));
}

// Prices one op; each rule is the op's definition read as traffic.
class Pricing {
 public:
  Pricing(const Program& program, const StepSizes& sizes) : program_(program), sizes_(sizes) {}

  hw::Work operator()(const Embed& o) const {
    const WeightDecl& weight = program_.weight(o.weight);
    const double row_bytes = static_cast<double>(dtype_bytes(weight.dtype, weight.width));
    return {.read_bytes = n(sizes_.n_tokens) * row_bytes, .written_bytes = value_bytes(o.out)};
  }
  hw::Work operator()(const RmsNorm& o) const {
    return {.read_bytes = value_bytes(o.x) + weight_bytes(o.weight),
            .written_bytes = value_bytes(o.out),
            .flops = 4 * elements(o.x)};
  }
  hw::Work operator()(const LayerNorm& o) const {
    return {.read_bytes = value_bytes(o.x) + weight_bytes(o.weight) + weight_bytes(o.bias),
            .written_bytes = value_bytes(o.out),
            .flops = 7 * elements(o.x)};
  }
  hw::Work operator()(const MatMul& o) const {
    const WeightDecl& weight = program_.weight(o.weight);
    hw::Work work{.read_bytes = value_bytes(o.x) + weight_bytes(o.weight) + weight_bytes(o.bias),
                  .written_bytes = value_bytes(o.out)};
    const double operations = 2 * elements(o.x) * n(weight.n_rows);
    (is_quantized(weight.dtype) ? work.int8_ops : work.flops) = operations;
    return work;
  }
  hw::Work operator()(const Rope& o) const {
    return {.read_bytes = value_bytes(o.x),
            .written_bytes = value_bytes(o.out),
            .flops = 3 * elements(o.x)};
  }
  hw::Work operator()(const KvWrite& o) const {
    return {.read_bytes = value_bytes(o.k) + value_bytes(o.v),
            .written_bytes = n(sizes_.n_tokens) * layer_token_bytes(o.kv_group)};
  }
  hw::Work operator()(const Attention& o) const {
    const KvGroup& group = program_.kv_groups[static_cast<size_t>(o.kv_group)];
    const double pair_flops = 2.0 * n(o.n_heads) * n(group.head_dim + group.value_dim);
    Seen all;
    for (const SliceSize& slice : sizes_.slices) {
      const Seen seen = seen_by(slice, group.window_tokens, o.causal);
      all.n_read += seen.n_read;
      all.n_attended += seen.n_attended;
    }
    return {.read_bytes = value_bytes(o.q) + n(all.n_read) * layer_token_bytes(o.kv_group) +
                          weight_bytes(o.sinks),
            .written_bytes = value_bytes(o.out),
            .flops = n(all.n_attended) * pair_flops};
  }
  hw::Work operator()(const Glu& o) const {
    return {.read_bytes = value_bytes(o.gate) + value_bytes(o.up),
            .written_bytes = value_bytes(o.out),
            .flops = 6 * elements(o.gate)};
  }
  hw::Work operator()(const Activate& o) const {
    return {.read_bytes = value_bytes(o.x),
            .written_bytes = value_bytes(o.out),
            .flops = 6 * elements(o.x)};
  }
  hw::Work operator()(const Add& o) const {
    return {.read_bytes = value_bytes(o.a) + value_bytes(o.b),
            .written_bytes = value_bytes(o.out),
            .flops = elements(o.a)};
  }
  hw::Work operator()(const Softcap& o) const {
    return {.read_bytes = value_bytes(o.x),
            .written_bytes = value_bytes(o.out),
            .flops = 6 * elements(o.x)};
  }
  hw::Work operator()(const SigmoidGate& o) const {
    return {.read_bytes = value_bytes(o.x) + value_bytes(o.gate),
            .written_bytes = value_bytes(o.out),
            .flops = elements(o.x) + 4 * elements(o.gate)};
  }
  hw::Work operator()(const Pick& o) const {
    return {.read_bytes = value_bytes(o.out), .written_bytes = value_bytes(o.out)};
  }
  hw::Work operator()(const L2Norm& o) const {
    return {.read_bytes = value_bytes(o.x),
            .written_bytes = value_bytes(o.out),
            .flops = 3 * elements(o.x)};
  }
  hw::Work operator()(const CausalConv& o) const {
    const double kernel = n(program_.weight(o.weight).width);
    return {.read_bytes = value_bytes(o.x) + weight_bytes(o.weight) + state_bytes(o.kv_group),
            .written_bytes = value_bytes(o.out) + state_bytes(o.kv_group),
            .flops = (2 * kernel + 4) * elements(o.x)};
  }
  hw::Work operator()(const DeltaGates& o) const {
    return {.read_bytes = value_bytes(o.alpha) + value_bytes(o.beta) + weight_bytes(o.a) +
                          weight_bytes(o.dt_bias),
            .written_bytes = value_bytes(o.out),
            .flops = 8 * elements(o.alpha)};
  }
  hw::Work operator()(const DeltaNet& o) const {
    const double key_dim = n(program_.value(o.qk).width) / n(2 * o.n_key_heads);
    return {.read_bytes = value_bytes(o.qk) + value_bytes(o.v) + value_bytes(o.gates) +
                          state_bytes(o.kv_group),
            .written_bytes = value_bytes(o.out) + state_bytes(o.kv_group),
            .flops = 7 * key_dim * elements(o.v)};
  }
  hw::Work operator()(const Route& o) const {
    return {.read_bytes = value_bytes(o.logits),
            .written_bytes = value_bytes(o.out),
            .flops = 4 * elements(o.logits)};
  }
  hw::Work operator()(const ExpertMatMul& o) const {
    const WeightDecl& weight = program_.weight(o.weight);
    const double n_rows = rows(o.x), n_touched = touched(weight.n_experts, o.n_used, n_rows);
    const double bias_bytes = o.bias == kNoWeight ? 0 : n(weight.n_rows) * kF32Bytes;
    hw::Work work{.read_bytes = value_bytes(o.x) + value_bytes(o.shares) +
                                n_touched * (n(weight.matrix_bytes()) + bias_bytes),
                  .written_bytes = value_bytes(o.out)};
    const double operations = 2 * n_rows * n(o.n_used) * n(weight.width) * n(weight.n_rows);
    (is_quantized(weight.dtype) ? work.int8_ops : work.flops) = operations;
    return work;
  }
  hw::Work operator()(const ExpertSum& o) const {
    return {.read_bytes = value_bytes(o.x) + value_bytes(o.shares),
            .written_bytes = value_bytes(o.out),
            .flops = 2 * elements(o.x)};
  }
  hw::Work operator()(const Lora& o) const {
    hw::Work work{.read_bytes = value_bytes(o.base), .written_bytes = value_bytes(o.out)};
    for (const LoraPair& pair : o.pairs) {
      const double n_rows = adapted_rows(pair.adapter, program_.value(o.x).rows);
      if (n_rows == 0) continue;
      const WeightDecl &a = program_.weight(pair.a), &b = program_.weight(pair.b);
      work.read_bytes += n_rows * n(a.width) * kF32Bytes + n(a.n_bytes() + b.n_bytes());
      work.flops += 2 * n_rows * n(a.n_rows) * n(a.width + b.n_rows);
    }
    return work;
  }
  hw::Work operator()(const SelectOutputs& o) const {
    return {.read_bytes = value_bytes(o.out), .written_bytes = value_bytes(o.out)};
  }

 private:
  static double n(int64_t count) { return static_cast<double>(count); }
  double rows(ValueId id) const {
    return n(program_.value(id).rows == Rows::n_tokens ? sizes_.n_tokens : sizes_.n_outputs);
  }
  // Rows of the sequences that name the adapter.
  double adapted_rows(int32_t adapter, Rows rows) const {
    double sum = 0;
    for (const SliceSize& slice : sizes_.slices)
      if (std::ranges::find(slice.adapters, adapter) != slice.adapters.end())
        sum += n(rows == Rows::n_tokens ? slice.n_tokens : slice.n_outputs);
    return sum;
  }
  double elements(ValueId id) const { return rows(id) * n(program_.value(id).width); }
  double value_bytes(ValueId id) const { return elements(id) * kF32Bytes; }
  double weight_bytes(WeightId id) const {
    return id == kNoWeight ? 0 : n(program_.weight(id).n_bytes());
  }
  // Of one layer, for all slices.
  double state_bytes(int32_t group) const {
    const KvGroup& kv = program_.kv_groups[static_cast<size_t>(group)];
    return n(static_cast<int64_t>(sizes_.slices.size())) * n(kv_state_bytes(kv)) / n(kv.n_layers);
  }
  double layer_token_bytes(int32_t group) const {
    const KvGroup& kv = program_.kv_groups[static_cast<size_t>(group)];
    return n(kv_token_bytes(kv, sizes_.k_dtype, sizes_.v_dtype)) / n(kv.n_layers);
  }

  const Program& program_;
  const StepSizes& sizes_;
};

}  // namespace

hw::Work work(const Program& program, const Op& op, const StepSizes& sizes) {
  return std::visit(Pricing(program, sizes), op);
}

hw::Work work(const Program& program, const StepSizes& sizes) {
  hw::Work total;
  for (const NamedOp& named : program.ops) total += work(program, named.op, sizes);
  return total;
}

}  // namespace hwtv::ops
