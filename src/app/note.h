// What goes to stderr beside the output: errors, warnings, progress, the account.  A stderr that is
// closed or full never ends a run.
#pragma once
#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace hwtv::app {

void write_note(std::string_view text);

template <typename... Args>
void note(fmt::format_string<Args...> format, Args&&... args) {
  write_note(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace hwtv::app
