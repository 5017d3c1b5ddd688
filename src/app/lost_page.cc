#include "app/lost_page.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <string_view>

#include "app/exit_code.h"
#include "app/note.h"

namespace hwtv::app {
namespace {

// Signal handlers reach nothing else, and may not allocate.
std::atomic_flag g_reported;
char g_maps[1 << 18];
char g_message[1 << 13];

uint64_t parse_hex(std::string_view word) {
  uint64_t value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value, 16);
  return value;
}

std::string_view read_maps() {
  const int fd = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  size_t n = 0;
  for (ssize_t got = 1; fd >= 0 && got > 0 && n < sizeof g_maps; n += static_cast<size_t>(got))
    if (got = ::read(fd, g_maps + n, sizeof g_maps - n); got < 0) break;
  return {g_maps, n};
}

struct Place {
  std::string_view path;  // empty: no file is mapped there
  uint64_t offset_bytes = 0;
};

// Lines of /proc/self/maps: "begin-end rwxp offset device inode    path", numbers in hexadecimal.
Place place_of(uint64_t address) {
  const std::string_view maps = read_maps();
  for (size_t at = 0; at < maps.size();) {
    const size_t line_end = std::min(maps.find('\n', at), maps.size());
    const std::string_view line = maps.substr(at, line_end - at);
    at = line_end + 1;
    const size_t dash = line.find('-'), space = line.find(' '), path = line.find('/');
    if (dash > space || space == line.npos || path == line.npos) continue;
    const uint64_t begin = parse_hex(line.substr(0, dash));
    if (address < begin || address >= parse_hex(line.substr(dash + 1, space - dash - 1))) continue;
    return {line.substr(path), parse_hex(line.substr(space + 6)) + (address - begin)};
  }
  return {};
}

void report(int signal, siginfo_t* info, void*) {
  if (g_reported.test_and_set())
    for (;;) ::pause();  // another thread is at it
  Place place;
  if (info->si_code > 0) place = place_of(reinterpret_cast<uint64_t>(info->si_addr));
  if (place.path.empty()) {  // not ours: it ends the program as ever, once this handler returns
    std::signal(signal, SIG_DFL);
    ::raise(signal);
    return;
  }
  const auto text = fmt::format_to_n(
      g_message, sizeof g_message,
      "hwtv: {} cannot be read at byte {} any more: it was shortened while in use, or its disk "
      "fails\n"
      "      put the file back, and replace a model only by renaming the new file onto it\n",
      place.path, place.offset_bytes);
  write_note({g_message, std::min(text.size, sizeof g_message)});
  ::_exit(exit_code(ErrorCode::io));
}

}  // namespace

void report_lost_pages() {
  struct sigaction action {};
  action.sa_sigaction = report;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace hwtv::app
