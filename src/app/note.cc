#include "app/note.h"

#include <unistd.h>

#include <cerrno>

namespace hwtv::app {

void write_note(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // nobody to tell
    text.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace hwtv::app
