// Hashes of what a sequence computed: equal hashes, equal bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/token_mask.h"

namespace hwtv::app {

class Hash {  // FNV-1a
 public:
  void mix(std::span<const std::byte> bytes) {
    for (const std::byte b : bytes) value_ = (value_ ^ static_cast<uint64_t>(b)) * 1099511628211ull;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 14695981039346656037ull;
};

// Forbids nothing; sees every row before a token is chosen, and the token.
class Listener : public engine::TokenMask {
 public:
  void apply(std::span<float> row) override { logits_.mix(std::as_bytes(row)); }
  void accept(int32_t token) override {
    ids_.mix(std::as_bytes(std::span(&token, 1)));
    ++n_tokens_;
  }
  uint64_t ids() const { return ids_.value(); }
  uint64_t logits() const { return logits_.value(); }  // of all rows
  int64_t n_tokens() const { return n_tokens_; }

 private:
  Hash ids_, logits_;
  int64_t n_tokens_ = 0;
};

}  // namespace hwtv::app
