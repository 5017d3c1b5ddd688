#include "backends/ref/kernels.h"
#include "ops/quantize.h"

namespace hwtv::ref {

void run(const ops::KvWrite& op, const Step& step) {
  Cache& cache = step.executable.cache(op.kv_group);
  const ops::KvGroup& kv = cache.group();
  const ops::Limits& limits = step.executable.limits();
  const float* keys = step.value(op.k);    // (n_tokens, n_kv_heads, head_dim)
  const float* values = step.value(op.v);  // (n_tokens, n_kv_heads, value_dim)
  for (const ops::SliceInput& slice : step.input.slices) {
    const auto table = slice.block_tables[static_cast<size_t>(op.kv_group)];
    step.team.for_each_chunk(slice.n_tokens, 16, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i)
        for (int64_t head = 0; head < kv.n_kv_heads; ++head) {
          const int64_t row = (slice.first_row + i) * kv.n_kv_heads + head;
          const int64_t position = slice.first_position + i;
          ops::quantize_row(limits.k_dtype, keys + row * kv.head_dim,
                            cache.key(op.layer, table, position, head), kv.head_dim);
          ops::quantize_row(limits.v_dtype, values + row * kv.value_dim,
                            cache.value(op.layer, table, position, head), kv.value_dim);
        }
    });
  }
}

}  // namespace hwtv::ref
