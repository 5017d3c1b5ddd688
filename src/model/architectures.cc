#include "model/architectures.h"

#include <fmt/format.h>

#include <string>

namespace hwtv::model {
namespace {

constexpr Architecture kArchitectures[] = {
    {"llama", record_llama},
};

}  // namespace

std::span<const Architecture> architectures() { return kArchitectures; }

Result<const Architecture*> find_architecture(std::string_view name) {
  std::string supported;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name == name) return &architecture;
    supported += fmt::format("{}{}", supported.empty() ? "" : ", ", architecture.name);
  }
  return fail(ErrorCode::unsupported,
              fmt::format("the model's architecture is \"{}\"; supported: {}", name, supported),
              fmt::format("use a model of one of these architectures: {}", supported));
}

}  // namespace hwtv::model
