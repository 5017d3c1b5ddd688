// One tensor of a GGUF file: what it is called, its type and shape, and where its bytes lie.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"

namespace hwtv::gguf {

// Views into the file's mapping: valid as long as its File.
struct TensorInfo {
  std::string_view name;
  uint32_t type_id = 0;        // as in the file
  std::optional<DType> dtype;  // nullopt: a type that this program does not compute with
  std::vector<int64_t> shape;  // GGUF order: shape[0] is contiguous; 0 to 4 dimensions, each > 0
  int64_t n_elements = 0;
  int64_t n_bytes = 0;  // 0 where the size of the type is not known
  const std::byte* data = nullptr;
  int64_t offset_bytes = 0;  // of `data` from the start of its file
  int part = 0;              // index into File::parts()

  std::string type_name() const;        // "Q4_K"; "IQ2_XXS"; "type 77" where the id is unknown
  Result<DType> require_dtype() const;  // Errors: unsupported, naming the type and the known ones
};

}  // namespace hwtv::gguf
