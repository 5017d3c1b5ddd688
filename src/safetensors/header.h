// The header of one safetensors file: its JSON read into a list, not yet held against the file's
// size.  For file.cc only.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace hwtv::safetensors {

// One tensor as the header tells it.
struct HeaderEntry {
  std::string name;
  std::string type;
  std::vector<int64_t> shape;
  int64_t begin = -1, end = -1;  // of its bytes, from the end of the header
};

// Errors (corrupt_file, unsupported) start with `path` and name the tensor.
Result<std::vector<HeaderEntry>> parse_header(const std::string& path, std::string_view json);

}  // namespace hwtv::safetensors
