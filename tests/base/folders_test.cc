#include "base/folders.h"

#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>

namespace hwtv {
namespace {

// Sets or unsets variables, and puts the old values back.
class Environment {
 public:
  explicit Environment(const std::map<std::string, const char*>& wanted) {
    for (const auto& [name, value] : wanted) {
      const char* old = std::getenv(name.c_str());
      was_set_[name] = old != nullptr;
      old_[name] = old ? old : "";
      set(name, value);
    }
  }
  ~Environment() {
    for (const auto& [name, value] : old_) set(name, was_set_[name] ? value.c_str() : nullptr);
  }

 private:
  static void set(const std::string& name, const char* value) {
    value ? setenv(name.c_str(), value, 1) : unsetenv(name.c_str());
  }
  std::map<std::string, bool> was_set_;
  std::map<std::string, std::string> old_;
};

TEST(Folders, FollowTheXdgSpecification) {
  const Environment set({{"HWTV_CACHE", nullptr},
                         {"XDG_CACHE_HOME", "/c"},
                         {"XDG_STATE_HOME", "/s"},
                         {"HOME", "/h"}});
  EXPECT_EQ(cache_folder(), "/c/hwtv");
  EXPECT_EQ(state_folder(), "/s/hwtv");
}

TEST(Folders, DefaultBelowHomeAndIgnoreRelativePaths) {
  const Environment set({{"HWTV_CACHE", ""},
                         {"XDG_CACHE_HOME", nullptr},
                         {"XDG_STATE_HOME", "relative"},
                         {"HOME", "/h"}});
  EXPECT_EQ(cache_folder(), "/h/.cache/hwtv");
  EXPECT_EQ(state_folder(), "/h/.local/state/hwtv");
}

TEST(Folders, WithoutHomeAskTheSystemForTheUsers) {
  const Environment set({{"HWTV_CACHE", nullptr},
                         {"XDG_CACHE_HOME", nullptr},
                         {"XDG_STATE_HOME", nullptr},
                         {"HOME", nullptr}});
  const passwd* user = getpwuid(getuid());
  const std::string home = user ? user->pw_dir : "";
  EXPECT_EQ(cache_folder(), user ? home + "/.cache/hwtv" : "");
  EXPECT_EQ(state_folder(), user ? home + "/.local/state/hwtv" : "");
}

TEST(Folders, TheCacheCanBeMovedAlone) {
  const Environment set({{"HWTV_CACHE", "/elsewhere"}, {"XDG_CACHE_HOME", "/c"}});
  EXPECT_EQ(cache_folder(), "/elsewhere");
}

}  // namespace
}  // namespace hwtv
