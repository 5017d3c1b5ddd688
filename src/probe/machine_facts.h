// Everything that probe reads about a machine, in one value.  hw derives numbers from it.
#pragma once
#include <string>
#include <vector>

#include "probe/cgroup.h"
#include "probe/cpu.h"
#include "probe/memory.h"
#include "probe/root.h"

namespace hwtv::probe {

struct EnergyZone {
  std::string name;               // "package-0", "dram"
  Observed<int64_t> microjoules;  // counts up and wraps at max_microjoules
  Observed<int64_t> max_microjoules;
};

struct MachineFacts {
  CpuFacts cpu;
  Observed<std::vector<CacheFacts>> caches;
  Observed<std::vector<NumaNode>> numa_nodes;
  MemoryFacts memory;
  CgroupFacts cgroups;
  Observed<std::vector<EnergyZone>> energy;  // RAPL through powercap; the counters are root's
  Observed<std::string> kernel;              // "6.1.0-18-amd64"
  Observed<std::string> vendor;              // of the system, as the firmware says (DMI)
  Observed<std::string> product;
  Observed<std::string> hypervisor;  // "none", "xen", or "unnamed"
};

Observed<std::vector<EnergyZone>> read_energy(const Root& root);

MachineFacts read_machine(const Root& root);

}  // namespace hwtv::probe
