#include "app/version.h"

#include <fmt/format.h>

#include "app/backend_choice.h"
#include "app/commit.h"

namespace hwtv::app {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

}  // namespace

std::string version() { return fmt::format("{} ({})", HWTV_VERSION, HWTV_COMMIT); }

std::string version_text() {
  return fmt::format("hwtv {}\ncompiler {}\nkernel tables {}", version(), kCompiler,
                     kernel_tables());
}

}  // namespace hwtv::app
