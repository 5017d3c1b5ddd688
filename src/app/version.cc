#include "app/version.h"

#include <fmt/format.h>

#include "app/commit.h"
#include "hw/measure.h"

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
  std::string isas;
  for (const std::string& isa : hw::runnable_isas()) isas += " " + isa;
  return fmt::format("hwtv {}\ncompiler {}\ninstruction sets that run here:{}", version(), kCompiler,
                     isas);
}

}  // namespace hwtv::app
