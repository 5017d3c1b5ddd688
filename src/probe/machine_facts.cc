#include "probe/machine_facts.h"

#include <algorithm>

namespace hwtv::probe {
namespace {

// x86 processors say in their flags whether someone stands between them and this kernel.
Observed<std::string> read_hypervisor(const Root& root, const CpuFacts& cpu) {
  if (auto type = root.line("/sys/hypervisor/type")) return type;
  const auto has = [&](const char* flag) {
    return std::find(cpu.flags.begin(), cpu.flags.end(), flag) != cpu.flags.end();
  };
  if (has("hypervisor")) return "unnamed";
  if (has("fpu")) return "none";  // every x86 processor has that flag
  return unobserved(Why::absent, "/sys/hypervisor/type");
}

}  // namespace

Observed<std::vector<EnergyZone>> read_energy(const Root& root) {
  const std::string folder = "/sys/class/powercap";
  const auto names = root.names(folder);
  if (!names) return tl::unexpected(names.error());
  std::vector<EnergyZone> zones;
  for (const std::string& name : *names) {
    if (name.compare(0, 11, "intel-rapl:") != 0) continue;
    const std::string zone = folder + "/" + name;
    zones.push_back({root.line(zone + "/name").value_or(name), root.number(zone + "/energy_uj"),
                     root.number(zone + "/max_energy_range_uj")});
  }
  if (zones.empty()) return unobserved(Why::absent, folder + "/intel-rapl:*");
  return zones;
}

MachineFacts read_machine(const Root& root) {
  MachineFacts facts;
  facts.cpu = read_cpus(root);
  facts.caches = read_caches(root, facts.cpu.usable);
  facts.numa_nodes = read_numa_nodes(root);
  facts.memory = read_memory(root);
  facts.cgroups = read_cgroups(root);
  facts.energy = read_energy(root);
  facts.kernel = root.line("/proc/sys/kernel/osrelease");
  facts.vendor = root.line("/sys/class/dmi/id/sys_vendor");
  facts.product = root.line("/sys/class/dmi/id/product_name");
  facts.hypervisor = read_hypervisor(root, facts.cpu);
  return facts;
}

}  // namespace hwtv::probe
