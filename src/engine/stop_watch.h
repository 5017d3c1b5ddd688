// Watches an answer's tokens and says when it is complete.  Implemented in constrain.
#pragma once
#include <cstdint>

namespace hwtv::engine {

class StopWatch {
 public:
  virtual ~StopWatch() = default;
  virtual bool accept(int32_t token) = 0;  // true: the answer ends with this token
};

}  // namespace hwtv::engine
