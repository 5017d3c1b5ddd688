// A model's tokenizer alone, for commands that compute nothing.
#pragma once
#include <memory>
#include <string>

#include "base/error.h"
#include "text/tokenizer.h"

namespace hwtv::app {

// MODEL may be a file that holds a vocabulary and no tensors.
Result<std::unique_ptr<text::Tokenizer>> open_tokenizer(const std::string& model);

}  // namespace hwtv::app
