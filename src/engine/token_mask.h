// What may come next: the engine's side of constrained output.  Implemented in constrain.
#pragma once
#include <cstdint>
#include <span>

namespace hwtv::engine {

class TokenMask {
 public:
  virtual ~TokenMask() = default;
  // Sets the logits of forbidden tokens to -infinity.  At least one token must stay allowed.
  virtual void apply(std::span<float> logits) = 0;  // (vocab_size)
  virtual void accept(int32_t token) = 0;           // the token that was chosen
};

}  // namespace hwtv::engine
