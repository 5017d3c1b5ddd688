#include "kv/block_table.h"

#include "base/check.h"

namespace hwtv::kv {

BlockTable::BlockTable(KvBlockPool& pool, int64_t block_tokens, int64_t capacity_tokens)
    : pool_(&pool), block_tokens_(block_tokens) {
  CHECK(block_tokens > 0);
  blocks_.reserve(static_cast<size_t>(blocks_for(capacity_tokens)));
}

bool BlockTable::grow(int64_t n_tokens) {
  const int64_t n_missing = blocks_for(n_tokens) - static_cast<int64_t>(blocks_.size());
  if (n_missing > pool_->n_free()) return false;
  for (int64_t i = 0; i < n_missing; ++i) blocks_.push_back(*pool_->take());
  return true;
}

void BlockTable::truncate(int64_t n_tokens) {
  const size_t n_kept = static_cast<size_t>(blocks_for(n_tokens));
  while (blocks_.size() > n_kept) {
    pool_->release(blocks_.back());
    blocks_.pop_back();
  }
}

}  // namespace hwtv::kv
