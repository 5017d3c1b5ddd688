#include "ops/kv_group.h"

namespace hwtv::ops {

int64_t kv_state_bytes(const KvGroup& group) {
  return group.n_layers * group.state_floats * static_cast<int64_t>(sizeof(float));
}

int64_t kv_token_bytes(const KvGroup& group, DType k_dtype, DType v_dtype) {
  if (group.is_state()) return 0;
  const int64_t layer_bytes = group.n_kv_heads * (dtype_bytes(k_dtype, group.head_dim) +
                                                  dtype_bytes(v_dtype, group.value_dim));
  return group.n_layers * layer_bytes;
}

}  // namespace hwtv::ops
