// The file that a command writes from a model.
#pragma once
#include <string>

#include "base/error.h"
#include "gguf/file.h"

namespace hwtv::app {

// The input must not be written over while it is read.  Errors: invalid_request.
Result<void> check_out(const gguf::File& file, const std::string& out);

}  // namespace hwtv::app
