#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace hwtv {

void check_failed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "hwtv: bug at %s:%d: CHECK(%s) failed\n", file, line, condition);
  std::abort();
}

}  // namespace hwtv
