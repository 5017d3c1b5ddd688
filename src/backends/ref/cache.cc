#include "backends/ref/cache.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/check.h"

namespace hwtv::ref {

Cache::Cache(const ops::KvGroup& kv, size_t group, const ops::Limits& limits)
    : kv_(kv),
      n_blocks_(limits.n_kv_blocks[group]),
      block_tokens_(limits.kv_block_tokens),
      key_bytes_(dtype_bytes(limits.k_dtype, kv.head_dim)),
      value_bytes_(dtype_bytes(limits.v_dtype, kv.value_dim)),
      token_bytes_(kv.n_kv_heads * (key_bytes_ + value_bytes_)) {
  if (!kv.is_state()) return;
  block_tokens_ = 1;
  token_bytes_ = kv.state_floats * static_cast<int64_t>(sizeof(float));
}

int64_t Cache::n_bytes(const ops::KvGroup& kv, size_t group, const ops::Limits& limits) {
  if (kv.is_state()) return limits.n_kv_blocks[group] * ops::kv_state_bytes(kv);
  return limits.n_kv_blocks[group] * limits.kv_block_tokens *
         ops::kv_token_bytes(kv, limits.k_dtype, limits.v_dtype);
}

Result<Cache> Cache::make(const ops::KvGroup& kv, size_t group, const ops::Limits& limits,
                          hw::Ledger& ledger) {
  Cache cache(kv, group, limits);
  HWTV_TRY(cache.bytes_,
           hw::Buffer::allocate(ledger, hw::Use::kv, fmt::format("kv group {}", group),
                                n_bytes(kv, group, limits)));
  return cache;
}

int64_t Cache::token_offset(int32_t layer, std::span<const int32_t> block_table,
                            int64_t position) const {
  const int64_t entry = position / block_tokens_;
  CHECK(entry < static_cast<int64_t>(block_table.size()));
  const int32_t block = block_table[static_cast<size_t>(entry)];
  CHECK(block >= 0 && block < n_blocks_);
  return (layer * n_blocks_ + block) * block_bytes() + position % block_tokens_ * token_bytes_;
}

void Cache::copy_block(int32_t from, int32_t to) {
  CHECK(from >= 0 && from < n_blocks_ && to >= 0 && to < n_blocks_);
  for (int32_t layer = 0; layer < kv_.n_layers; ++layer) {
    std::byte* blocks = bytes_.data() + layer * n_blocks_ * block_bytes();
    std::memmove(blocks + to * block_bytes(), blocks + from * block_bytes(),
                 static_cast<size_t>(block_bytes()));
  }
}

}  // namespace hwtv::ref
