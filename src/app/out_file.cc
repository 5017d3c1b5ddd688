#include "app/out_file.h"

#include <fmt/format.h>

#include <filesystem>

namespace hwtv::app {

Result<void> check_out(const gguf::File& file, const std::string& out) {
  std::error_code code;
  for (const gguf::Part& part : file.parts())
    if (std::filesystem::equivalent(part.path, out, code))
      return fail(ErrorCode::invalid_request, fmt::format("{} is the file to be read", out),
                  "give the result another path");
  return {};
}

}  // namespace hwtv::app
