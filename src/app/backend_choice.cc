#include "app/backend_choice.h"

#include <fmt/format.h>

#include "backends/ref/ref_backend.h"

namespace hwtv::app {

Result<std::unique_ptr<ops::Backend>> make_backend(const std::string& name,
                                                   hw::DeviceContext& device) {
  if (name == "ref") return std::make_unique<ref::RefBackend>(device);
  return fail(ErrorCode::invalid_request, fmt::format("there is no backend {}", name),
              "use cpu or ref");
}

}  // namespace hwtv::app
