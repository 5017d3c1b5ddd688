// What a pull asks of the program around it: time, the user's Ctrl-C, and somebody to tell.
#pragma once
#include <cstdint>
#include <string>

#include "base/error.h"

namespace hwtv::store {

class Waiter {
 public:
  virtual ~Waiter() = default;
  virtual bool cancelled() = 0;
  virtual Result<void> wait(double seconds) = 0;   // Errors: cancelled
  virtual void note(const std::string& line) = 0;  // a decision worth knowing, without its newline
  // Bytes of a file that are here, or that have been hashed; total_bytes -1: not known.
  virtual void fetched(const std::string& name, int64_t done_bytes, int64_t total_bytes) = 0;
  virtual void checked(const std::string& name, int64_t done_bytes, int64_t total_bytes) = 0;
};

}  // namespace hwtv::store
