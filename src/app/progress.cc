#include "app/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/units.h"
#include "app/note.h"

namespace hwtv::app {

// Nothing is shown of work that is done within a fifth of a second.
Progress::Progress(std::string what, int64_t all_bytes, bool quiet)
    : what_(std::move(what)),
      all_bytes_(all_bytes),
      on_(!quiet && ::isatty(STDERR_FILENO)),
      next_s_(clock_.now_s() + 0.2) {}

Progress::~Progress() {
  if (shown_) note("\r\033[K");
}

void Progress::show(int64_t done_bytes) {
  if (!on_ || clock_.now_s() < next_s_) return;
  next_s_ = clock_.now_s() + 0.1;
  shown_ = true;
  note("\r{} {} of {}  {:.0f} %\033[K", what_,
             format_bytes(static_cast<double>(done_bytes)),
             format_bytes(static_cast<double>(all_bytes_)),
             100.0 * static_cast<double>(done_bytes) / static_cast<double>(all_bytes_));
}

}  // namespace hwtv::app
