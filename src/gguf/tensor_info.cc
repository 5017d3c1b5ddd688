#include "gguf/tensor_info.h"

#include <fmt/format.h>

#include "base/quoted.h"

namespace hwtv::gguf {

std::string TensorInfo::type_name() const {
  if (dtype) return std::string(dtype_name(*dtype));
  const std::string_view known = unsupported_dtype_name(type_id);
  return known.empty() ? fmt::format("type {}", type_id) : std::string(known);
}

Result<DType> TensorInfo::require_dtype() const {
  if (dtype) return *dtype;
  size_t n = 0;
  const DTypeInfo* table = dtype_table(&n);
  std::string supported;
  for (size_t i = 0; i < n; ++i)
    supported += fmt::format("{}{}", i == 0 ? "" : ", ", table[i].name);
  return fail(ErrorCode::unsupported,
              fmt::format("tensor {} has the type {}; supported are {}", quoted(name), type_name(),
                          supported),
              "use a file of the same model quantized to one of these types");
}

}  // namespace hwtv::gguf
