// The keys and values of one KvGroup, as the cache's dtypes, by kv_block; or its states, one to a
// block.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "hw/buffer.h"
#include "ops/backend.h"
#include "ops/kv_group.h"

namespace hwtv::ref {

class Cache {
 public:
  // What make() reserves for group `group` of the Limits.
  static int64_t n_bytes(const ops::KvGroup& kv, size_t group, const ops::Limits& limits);
  // Errors: out_of_memory.
  static Result<Cache> make(const ops::KvGroup& kv, size_t group, const ops::Limits& limits,
                            hw::Ledger& ledger);

  // Where the key and the value of one head at one position lie: head_dim elements of k_dtype,
  // value_dim elements of v_dtype.
  std::byte* key(int32_t layer, std::span<const int32_t> block_table, int64_t position,
                 int64_t head) {
    return bytes_.data() + token_offset(layer, block_table, position) + head * key_bytes_;
  }
  std::byte* value(int32_t layer, std::span<const int32_t> block_table, int64_t position,
                   int64_t head) {
    return bytes_.data() + token_offset(layer, block_table, position) +
           kv_.n_kv_heads * key_bytes_ + head * value_bytes_;
  }

  // The state of a sequence: (state_floats).  Requires: a group of states.
  float* state(int32_t layer, std::span<const int32_t> block_table) {
    return reinterpret_cast<float*>(bytes_.data() + token_offset(layer, block_table, 0));
  }

  void copy_block(int32_t from, int32_t to);

  const ops::KvGroup& group() const { return kv_; }
  int64_t size_bytes() const { return bytes_.size_bytes(); }

 private:
  Cache(const ops::KvGroup& kv, size_t group, const ops::Limits& limits);
  int64_t block_bytes() const { return block_tokens_ * token_bytes_; }
  int64_t token_offset(int32_t layer, std::span<const int32_t> block_table, int64_t position) const;

  ops::KvGroup kv_;
  int64_t n_blocks_;
  int64_t block_tokens_;
  int64_t key_bytes_;    // of one head
  int64_t value_bytes_;  // of one head
  int64_t token_bytes_;  // of one layer
  // (n_layers, n_blocks, block_tokens, keys of all heads then values); a state is one token.
  hw::Buffer bytes_;
};

}  // namespace hwtv::ref
