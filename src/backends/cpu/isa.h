// Which kernel tables this build has, which of them this machine runs, and the choice of one.
#pragma once
#include <span>
#include <string_view>

#include "backends/cpu/kernels.h"
#include "base/error.h"

namespace hwtv::cpu {

struct Isa {
  const Kernels* kernels;
  bool (*can_run)();

  std::string_view name() const { return kernels->name; }
};

// Best first; the last one, "scalar", runs everywhere.
std::span<const Isa> isas();

// The table called `name`.  Errors: invalid_request (no such table), unsupported (this machine
// cannot run it), both with the list of those it can.
Result<const Kernels*> kernels_named(std::string_view name);

// Whether the environment variable HWTV_ISA names a table: then nothing else is chosen.
bool is_isa_forced();

// The table that the environment variable HWTV_ISA names, or the best one this machine runs.
// Errors: as kernels_named.
Result<const Kernels*> chosen_kernels();

}  // namespace hwtv::cpu
