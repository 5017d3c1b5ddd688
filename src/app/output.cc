#include "app/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace hwtv::app {

Output::Output() { std::signal(SIGPIPE, SIG_IGN); }

Result<void> Output::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return fail(ErrorCode::io, fmt::format("cannot write to stdout: {}", std::strerror(errno)),
                  errno == EPIPE    ? "the reader has gone; nothing else was lost"
                  : errno == ENOSPC ? "free some space, or send the output elsewhere"
                                    : "open stdout, or send the output to a file");
    text.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

}  // namespace hwtv::app
