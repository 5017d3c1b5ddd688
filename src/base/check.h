// CHECK(cond): a bug aborts, in release builds too, naming the place and the condition.
#pragma once

namespace hwtv {
[[noreturn]] void check_failed(const char* file, int line, const char* condition);
}

#define CHECK(condition)                                                  \
  (static_cast<bool>(condition) ? static_cast<void>(0)                    \
                                : ::hwtv::check_failed(__FILE__, __LINE__, #condition))
