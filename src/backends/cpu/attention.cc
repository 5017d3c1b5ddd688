#include <algorithm>

#include "backends/cpu/step.h"
#include "backends/cpu/types.h"

namespace hwtv::cpu {
namespace {

// The op with its sizes.  A unit of work is one tile of query rows of one kv head of one slice,
// over all splits of the cache or over one.
class Attend {
 public:
  Attend(const ops::Attention& op, const Step& step)
      : step_(step), kv_group_(static_cast<size_t>(op.kv_group)) {
    const ops::KvGroup& kv = step.executable.program().kv_groups[kv_group_];
    args_ = {.place = step.executable.kv_place(op.kv_group, op.layer),
             .n_heads = op.n_heads,
             .n_kv_heads = kv.n_kv_heads,
             .head_dim = kv.head_dim,
             .value_dim = kv.value_dim,
             .k_type = *kv_type(step.executable.limits().k_dtype),
             .v_type = *kv_type(step.executable.limits().v_dtype),
             .scale = op.scale,
             .softcap = op.softcap,
             .sinks = op.sinks == ops::kNoWeight ? nullptr : step.executable.vector(op.sinks),
             .window_tokens = kv.window_tokens,
             .causal = op.causal,
             .q = step.value(op.q),
             .out = step.value(op.out)};
    n_splits_max_ = (step.executable.limits().context_tokens_max + kSplitTokens - 1) / kSplitTokens;
  }

  // Every query row over its whole cache.
  void run_whole() const {
    const auto kernel = step_.executable.table().attention;
    for_each_unit(false, [&](const ops::SliceInput& slice, int64_t unit, int64_t) {
      kernel(args_, part(slice, unit));
    });
  }

  // The same sums with the splits computed apart, then merged: for a few tokens over a long cache.
  void run_split() const {
    const auto kernel = step_.executable.table().attention_split;
    const StagingLayout& layout = step_.executable.staging_layout();
    auto* const states = step_.executable.staging<SplitState>(layout.split_states);
    auto* const values = step_.executable.staging<float>(layout.split_values);
    for_each_unit(true, [&](const ops::SliceInput& slice, int64_t unit, int64_t split) {
      kernel(args_, part(slice, unit), split, n_splits_max_, states, values);
    });
    const int64_t n_slots = step_.n_tokens() * args_.n_heads;
    step_.share(n_slots, args_.value_dim * most_splits(), [&](int64_t begin, int64_t end) {
      for (int64_t slot = begin; slot < end; ++slot) {
        const int64_t at = slot * n_splits_max_;
        step_.executable.table().merge_splits(
            states + at, values + at * args_.value_dim, n_splits(step_.slice(slot / args_.n_heads)),
            args_.value_dim, args_.sinks ? args_.sinks + slot % args_.n_heads : nullptr,
            args_.out + slot * args_.value_dim);
      }
    });
  }

  int64_t most_splits() const {
    int64_t most = 0;
    for (const ops::SliceInput& slice : step_.input.slices) most = std::max(most, n_splits(slice));
    return most;
  }

 private:
  static int64_t n_splits(const ops::SliceInput& slice) {
    return (slice.first_position + slice.n_tokens + kSplitTokens - 1) / kSplitTokens;
  }
  int64_t n_queries(const ops::SliceInput& slice) const {
    return slice.n_tokens * (args_.n_heads / args_.n_kv_heads);
  }
  int64_t n_tiles(const ops::SliceInput& slice) const {
    return (n_queries(slice) + kQueryRows - 1) / kQueryRows;
  }

  // Unit = (tile, kv head); the last tiles, which see most of the cache, come first.
  AttentionPart part(const ops::SliceInput& slice, int64_t unit) const {
    const int64_t tile = n_tiles(slice) - 1 - unit / args_.n_kv_heads;
    return {.block_table = slice.block_tables[kv_group_].data(),
            .first_row = slice.first_row,
            .first_position = slice.first_position,
            .n_positions = slice.first_position + slice.n_tokens,
            .kv_head = unit % args_.n_kv_heads,
            .query_begin = tile * kQueryRows,
            .query_end = std::min((tile + 1) * kQueryRows, n_queries(slice))};
  }

  // work(slice, unit, split) for all units of all slices, and all splits of each when `by_split`.
  template <typename Work>
  void for_each_unit(bool by_split, const Work& work) const {
    const auto n_of = [&](const ops::SliceInput& slice) {
      return n_tiles(slice) * args_.n_kv_heads * (by_split ? n_splits(slice) : 1);
    };
    int64_t n = 0;
    for (const ops::SliceInput& slice : step_.input.slices) n += n_of(slice);
    step_.team.for_each_chunk(n, 1, [&](int64_t at, int64_t, int) {
      for (const ops::SliceInput& slice : step_.input.slices) {
        const int64_t n_here = n_of(slice);
        if (at < n_here) {
          const int64_t per_unit = by_split ? n_splits(slice) : 1;
          return work(slice, at / per_unit, at % per_unit);
        }
        at -= n_here;
      }
    });
  }

  const Step& step_;
  size_t kv_group_;
  AttentionArgs args_;
  int64_t n_splits_max_;
};

}  // namespace

void run(const ops::Attention& op, const Step& step) {
  const Attend attend(op, step);
  const bool by_split = step.n_tokens() <= kSplitStepTokens && attend.most_splits() > 1;
  by_split ? attend.run_split() : attend.run_whole();
}

}  // namespace hwtv::cpu
