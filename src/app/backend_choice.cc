#include "app/backend_choice.h"

#include <fmt/format.h>

#include <utility>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/isa.h"

namespace hwtv::app {

Result<std::unique_ptr<ops::Backend>> make_backend(const std::string& name, bool packs,
                                                   hw::DeviceContext& device,
                                                   ref::WeightObserver observer) {
  if (name == "cpu")
    return cpu::CpuBackend::make(device, packs ? cpu::Packing::tiles : cpu::Packing::none);
  if (name == "ref") return std::make_unique<ref::RefBackend>(device, std::move(observer));
  return fail(ErrorCode::invalid_request, fmt::format("there is no backend {}", name),
              "use cpu or ref");
}

std::string_view instruction_set(const std::string& backend) {
  for (const cpu::Isa& isa : cpu::isas())
    if (backend != "cpu" && isa.can_run()) return isa.name();
  return (*cpu::chosen_kernels())->name;
}

std::string kernel_tables() {
  std::string names;
  for (const cpu::Isa& isa : cpu::isas())
    names += fmt::format("{}{}{}", names.empty() ? "" : " ", isa.name(),
                         isa.can_run() ? "" : " (not on this machine)");
  return names;
}

}  // namespace hwtv::app
