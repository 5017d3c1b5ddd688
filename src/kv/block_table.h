// One sequence's kv_blocks in one KvGroup, in the order of its positions.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kv/kv_block_pool.h"

namespace hwtv::kv {

class BlockTable {
 public:
  // Requires: the pool outlives the table; capacity_tokens is the longest it will ever grow.
  BlockTable(KvBlockPool& pool, int64_t block_tokens, int64_t capacity_tokens);
  ~BlockTable() { truncate(0); }
  BlockTable(BlockTable&& other) noexcept = default;
  BlockTable& operator=(BlockTable&&) = delete;

  // Makes room for the first n_tokens positions: all of it, or nothing changes and false comes
  // back. Never allocates below capacity_tokens.
  bool grow(int64_t n_tokens);

  // Gives back every block that holds only positions from n_tokens on.
  void truncate(int64_t n_tokens);

  std::span<const int32_t> blocks() const { return blocks_; }

 private:
  int64_t blocks_for(int64_t n_tokens) const {
    return (n_tokens + block_tokens_ - 1) / block_tokens_;
  }

  KvBlockPool* pool_;
  int64_t block_tokens_;
  std::vector<int32_t> blocks_;
};

}  // namespace hwtv::kv
