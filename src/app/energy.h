// What a piece of work cost in joules, where the machine's counters can be read.
#pragma once
#include <vector>

#include "probe/machine_facts.h"

namespace hwtv::app {

using EnergyReading = probe::Observed<std::vector<probe::EnergyZone>>;

// Of all packages and their memory.  Requires: a counter has wrapped at most once in between.
probe::Observed<double> joules_between(const EnergyReading& before, const EnergyReading& after);

}  // namespace hwtv::app
