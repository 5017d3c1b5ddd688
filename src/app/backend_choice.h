// The only place that makes the backends.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "backends/ref/ref_backend.h"
#include "base/error.h"
#include "hw/device_context.h"
#include "ops/backend.h"

namespace hwtv::app {

// `packs`: quantized weights are re-laid for the machine.  Only "ref" has a use for the observer.
// Errors: invalid_request (an unknown name, an instruction set that HWTV_ISA forces and this
// machine cannot run).
Result<std::unique_ptr<ops::Backend>> make_backend(const std::string& name, bool packs,
                                                   hw::DeviceContext& device,
                                                   ref::WeightObserver observer = {});

// The instruction set that make_backend(backend) is held against: of "cpu" the one it computes with,
// else the machine's best.  Requires: it has made one.
std::string_view instruction_set(const std::string& backend);

// The CPU kernel tables in this program, best first: "amx avx512vnni avx512 avxvnni avx2 scalar".
std::string kernel_tables();

}  // namespace hwtv::app
