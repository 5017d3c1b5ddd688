#include "kv/kv_block_pool.h"

#include "base/check.h"

namespace hwtv::kv {

KvBlockPool::KvBlockPool(int64_t n_blocks) : n_holders_(static_cast<size_t>(n_blocks), 0) {
  free_.reserve(static_cast<size_t>(n_blocks));
  for (int64_t block = n_blocks - 1; block >= 0; --block)
    free_.push_back(static_cast<int32_t>(block));
}

std::optional<int32_t> KvBlockPool::take() {
  if (free_.empty()) return std::nullopt;
  const int32_t block = free_.back();
  free_.pop_back();
  n_holders_[static_cast<size_t>(block)] = 1;
  return block;
}

void KvBlockPool::share(int32_t block) {
  CHECK(n_holders_.at(static_cast<size_t>(block)) > 0);
  ++n_holders_[static_cast<size_t>(block)];
}

void KvBlockPool::release(int32_t block) {
  CHECK(n_holders_.at(static_cast<size_t>(block)) > 0);
  if (--n_holders_[static_cast<size_t>(block)] == 0) free_.push_back(block);
}

void KvBlockPool::check_integrity() const {
  std::vector<bool> is_free(n_holders_.size(), false);
  for (const int32_t block : free_) {
    CHECK(!is_free[static_cast<size_t>(block)]);
    is_free[static_cast<size_t>(block)] = true;
  }
  for (size_t block = 0; block < n_holders_.size(); ++block)
    CHECK(is_free[block] == (n_holders_[block] == 0));
}

}  // namespace hwtv::kv
