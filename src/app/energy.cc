#include "app/energy.h"

#include <algorithm>
#include <cstdint>

namespace hwtv::app {
namespace {

// The others (core, uncore) are parts of a package, or hold it (psys).
bool counts(const probe::EnergyZone& zone) {
  return zone.name.starts_with("package") || zone.name == "dram";
}

probe::Observed<int64_t> microjoules_between(const probe::EnergyZone& before,
                                             const probe::EnergyZone& after) {
  if (!before.microjoules) return before.microjoules;
  if (!after.microjoules) return after.microjoules;
  if (*after.microjoules >= *before.microjoules) return *after.microjoules - *before.microjoules;
  if (!after.max_microjoules) return after.max_microjoules;
  return *after.microjoules + *after.max_microjoules - *before.microjoules;
}

}  // namespace

probe::Observed<double> joules_between(const EnergyReading& before, const EnergyReading& after) {
  if (!before) return tl::unexpected(before.error());
  if (!after) return tl::unexpected(after.error());
  const size_t n_zones = std::min(before->size(), after->size());
  double joules = 0;
  bool counted = false;
  for (size_t i = 0; i < n_zones; ++i) {
    if (!counts((*after)[i])) continue;
    const auto spent = microjoules_between((*before)[i], (*after)[i]);
    if (!spent) return tl::unexpected(spent.error());
    joules += 1e-6 * static_cast<double>(*spent);
    counted = true;
  }
  if (!counted) return probe::unobserved(probe::Why::absent, "an energy counter of a package");
  return joules;
}

}  // namespace hwtv::app
