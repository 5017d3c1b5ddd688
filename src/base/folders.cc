#include "base/folders.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

namespace hwtv {
namespace {

// Empty: this user has none.
std::string home_folder() {
  const char* set = std::getenv("HOME");
  if (set && *set) return set;
  const passwd* user = ::getpwuid(::getuid());
  return user ? user->pw_dir : "";
}

std::string xdg(const char* variable, const char* below_home) {
  const char* set = std::getenv(variable);
  if (set && set[0] == '/') return std::string(set) + "/hwtv";  // relative values are to be ignored
  const std::string home = home_folder();
  return home.empty() ? "" : home + "/" + below_home + "/hwtv";
}

}  // namespace

std::string cache_folder() {
  const char* set = std::getenv("HWTV_CACHE");
  return set && *set ? set : xdg("XDG_CACHE_HOME", ".cache");
}

std::string state_folder() { return xdg("XDG_STATE_HOME", ".local/state"); }

}  // namespace hwtv
