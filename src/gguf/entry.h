// One metadata entry of a GGUF file.
#pragma once
#include <cstdint>
#include <string_view>

#include "gguf/value.h"

namespace hwtv::gguf {

struct Entry {
  std::string_view key;
  Value value;
  int64_t offset_bytes;  // of the entry from the start of its file, for messages
};

}  // namespace hwtv::gguf
