// A progress line on stderr: only on a terminal, at most ten times a second, gone when done.
#pragma once
#include <cstdint>
#include <string>

#include "base/clock.h"

namespace hwtv::app {

class Progress {
 public:
  Progress(std::string what, int64_t all_bytes, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(int64_t done_bytes);

 private:
  const std::string what_;
  const int64_t all_bytes_;
  const bool on_;
  SteadyClock clock_;
  double next_s_;
  bool shown_ = false;
};

}  // namespace hwtv::app
