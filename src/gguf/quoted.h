// The words for names of a GGUF file's entries and tensors in messages.
#pragma once
#include "base/quoted.h"

namespace hwtv::gguf {

using hwtv::quoted;

}  // namespace hwtv::gguf
