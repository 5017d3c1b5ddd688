// What goes to stdout, at once and with its errors: a closed pipe or a full disk is noticed at the
// first byte that cannot be written.
#pragma once
#include <string_view>

#include "base/error.h"

namespace hwtv::app {

class Output {
 public:
  Output();                                   // SIGPIPE becomes an error of write()
  Result<void> write(std::string_view text);  // Errors: io
};

}  // namespace hwtv::app
