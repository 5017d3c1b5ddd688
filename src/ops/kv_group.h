// The layers of a model that share one kind of cache.  A model declares a list of them; kv, the
// scheduler and the backends all speak of that list.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace hwtv::ops {

struct KvGroup {
  enum class Kind {
    paged,  // grows by kv_blocks with the sequence
    state,  // a fixed size for each sequence
  };
  Kind kind = Kind::paged;
  int32_t n_layers = 0;
  int64_t n_kv_heads = 0;
  int64_t head_dim = 0;       // of keys
  int64_t value_dim = 0;      // of values
  int64_t window_tokens = 0;  // 0: sees the whole sequence
  // Of a state: floats of one layer.  A sequence has one block of it, the first of its table, and
  // what that holds counts as zeros for a slice that begins at position 0.
  int64_t state_floats = 0;

  bool is_state() const { return kind == Kind::state; }
};

// Bytes of a sequence's state over all layers of the group; 0 for a paged one.
int64_t kv_state_bytes(const KvGroup& group);

// Bytes of one token's keys and values over all layers of the group; 0 for a state.
// Requires: head_dim and value_dim are multiples of the dtypes' quant blocks.
int64_t kv_token_bytes(const KvGroup& group, DType k_dtype, DType v_dtype);

}  // namespace hwtv::ops
