// The kv_blocks of one KvGroup as integers: which are free, which are held and by how many.  It
// moves no bytes; the backend owns those.  Used by the engine's thread only.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace hwtv::kv {

class KvBlockPool {
 public:
  // Requires: n_blocks >= 0.
  explicit KvBlockPool(int64_t n_blocks);

  int64_t n_blocks() const { return static_cast<int64_t>(n_holders_.size()); }
  int64_t n_free() const { return static_cast<int64_t>(free_.size()); }
  int64_t n_held() const { return n_blocks() - n_free(); }

  std::optional<int32_t> take();  // a free block with one holder; nullopt: none is free
  void share(int32_t block);      // one more holder.  Requires: the block is held
  void release(int32_t block);    // one holder less; the last one frees it.  Requires: held

  // free + held == total and no block is both.  Aborts when that does not hold.
  void check_integrity() const;

 private:
  std::vector<int32_t> free_;  // a stack: the block freed last, still warm in cache, is taken first
  std::vector<int32_t> n_holders_;
};

}  // namespace hwtv::kv
