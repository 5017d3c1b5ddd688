#include "backends/cpu/step.h"
#include "backends/cpu/types.h"

namespace hwtv::cpu {

void run_rows(const ops::KvWrite& op, RowRange rows, const Step& step) {
  const ops::KvGroup& kv = step.executable.program().kv_groups[static_cast<size_t>(op.kv_group)];
  const ops::Limits& limits = step.executable.limits();
  const KvWriteArgs args = {.place = step.executable.kv_place(op.kv_group, op.layer),
                            .n_kv_heads = kv.n_kv_heads,
                            .head_dim = kv.head_dim,
                            .value_dim = kv.value_dim,
                            .k = step.value(op.k),
                            .v = step.value(op.v)};
  const Kernels& table = step.executable.table();
  const auto write_key = table.write_key[static_cast<size_t>(*kv_type(limits.k_dtype))];
  const auto write_value = table.write_value[static_cast<size_t>(*kv_type(limits.v_dtype))];
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const int32_t* const block_table = step.block_table(row, op.kv_group);
    write_key(args, block_table, row, step.position(row));
    write_value(args, block_table, row, step.position(row));
  }
}

}  // namespace hwtv::cpu
