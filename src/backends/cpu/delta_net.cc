#include <algorithm>

#include "backends/cpu/step.h"

namespace hwtv::cpu {
namespace {

constexpr int64_t kColumns = 16;  // of a head's values, together

// What the parts of a DeltaNet share: a part is one tile of columns of one head of one slice.
class Parts {
 public:
  Parts(const ops::DeltaNet& op, const Step& step)
      : op_(op),
        step_(step),
        key_dim_(step.width(op.qk) / (2 * op.n_key_heads)),
        value_dim_(step.width(op.v) / op.n_heads),
        n_tiles_((value_dim_ + kColumns - 1) / kColumns) {}

  int64_t n() const {
    return static_cast<int64_t>(step_.input.slices.size()) * op_.n_heads * n_tiles_;
  }

  void run(int64_t part) const {
    const int64_t column = part % n_tiles_ * kColumns, head = part / n_tiles_ % op_.n_heads;
    const ops::SliceInput& slice =
        step_.input.slices[static_cast<size_t>(part / n_tiles_ / op_.n_heads)];
    const int64_t n_columns = std::min(kColumns, value_dim_ - column);
    // (n_heads, tiles of (key_dim, columns))
    float* const state =
        step_.executable.state(op_.kv_group, op_.layer,
                               slice.block_tables[static_cast<size_t>(op_.kv_group)]) +
        (head * value_dim_ + column) * key_dim_;
    if (slice.first_position == 0) std::fill_n(state, key_dim_ * n_columns, 0.0f);
    step_.executable.table().delta_net(args(slice, head, column), n_columns, state);
  }

 private:
  DeltaNetArgs args(const ops::SliceInput& slice, int64_t head, int64_t column) const {
    const int64_t key_head =
        op_.interleaved ? head % op_.n_key_heads : head / (op_.n_heads / op_.n_key_heads);
    const int64_t row = slice.first_row, qk_width = step_.width(op_.qk);
    const float* const q = step_.value(op_.qk) + row * qk_width + key_head * key_dim_;
    const float* const gates = step_.value(op_.gates) + row * 2 * op_.n_heads + head;
    const int64_t v_width = step_.width(op_.v);
    const int64_t v_at = row * v_width + head * value_dim_ + column;
    return {.n_tokens = slice.n_tokens,
            .key_dim = key_dim_,
            .scale = op_.scale,
            .q = q,
            .k = q + op_.n_key_heads * key_dim_,
            .qk_stride = qk_width,
            .v = step_.value(op_.v) + v_at,
            .out = step_.value(op_.out) + v_at,
            .v_stride = v_width,
            .stay = gates,
            .write = gates + op_.n_heads,
            .gate_stride = 2 * op_.n_heads};
  }

  const ops::DeltaNet& op_;
  const Step& step_;
  const int64_t key_dim_, value_dim_, n_tiles_;
};

}  // namespace

void run(const ops::DeltaNet& op, const Step& step) {
  const Parts parts(op, step);
  const int64_t n_tokens = std::max<int64_t>(1, step.n_tokens());
  step.share(parts.n(), step.width(op.qk) / (2 * op.n_key_heads) * kColumns * n_tokens,
             [&](int64_t begin, int64_t end) {
               for (int64_t part = begin; part < end; ++part) parts.run(part);
             });
}

}  // namespace hwtv::cpu
