#include "hw/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/units.h"
#include "probe/machine_facts.h"

namespace hwtv::hw {
namespace {

std::string text_or_reason(const probe::Observed<std::string>& fact) {
  return fact ? *fact : describe(fact.error());
}

// Data caches by level: L1d, L2, L3.  The instruction caches hold no weights.
std::vector<CacheLevel> cache_levels(const probe::MachineFacts& facts) {
  std::vector<CacheLevel> levels;
  if (!facts.caches) return levels;
  for (const probe::CacheFacts& cache : *facts.caches) {
    if (cache.type == "Instruction") continue;
    const std::string name = fmt::format("L{}{}", cache.level, cache.type == "Data" ? "d" : "");
    if (levels.empty() || levels.back().name != name) levels.push_back({.name = name});
    CacheLevel& level = levels.back();
    level.instance_bytes = std::max(level.instance_bytes, cache.size_bytes);
    level.total_bytes += cache.size_bytes;
    level.n_instances += 1;
    level.n_cpus_sharing =
        std::max(level.n_cpus_sharing, static_cast<int>(cache.shared_cpus.size()));
  }
  return levels;
}

void set_available(const probe::MachineFacts& facts, Device& device) {
  const auto take = [&device](int64_t bytes, std::string limit) {
    if (!device.memory_limit.empty() && bytes >= device.available_bytes) return;
    device.available_bytes = std::max<int64_t>(bytes, 0);
    device.memory_limit = std::move(limit);
  };
  if (facts.memory.available_bytes) {
    take(*facts.memory.available_bytes, "what the system has available");
  } else if (facts.memory.total_bytes) {
    take(*facts.memory.total_bytes, "all memory: what is available could not be read");
  }
  for (const probe::MemoryLevel& level : facts.cgroups.memory)
    take(level.available_bytes(), fmt::format("{}, limited to {}", level.name,
                                              format_bytes(static_cast<double>(level.max_bytes))));
  if (device.memory_limit.empty())
    take(std::numeric_limits<int64_t>::max() / 2, "nothing that could be read");
}

std::string cores_text(const probe::CpuFacts& cpu) {
  std::string text =
      fmt::format("{} physical core{}", cpu.cores.size(), cpu.cores.size() > 1 ? "s" : "");
  std::string kinds;
  for (const probe::CoreKind& kind : cpu.kinds) {
    const auto n = std::count_if(cpu.cores.begin(), cpu.cores.end(), [&](const auto& core) {
      return std::binary_search(kind.cpus.begin(), kind.cpus.end(), core.front());
    });
    if (n > 0) kinds += fmt::format("{}{} {}", kinds.empty() ? "" : " + ", n, kind.name);
  }
  if (!kinds.empty()) text += fmt::format(" ({})", kinds);
  return text;
}

// A second thread on one core adds nothing to reading weights; threads above a quota are put to
// sleep for the rest of each period.
void choose_threads(const probe::MachineFacts& facts, Device& device) {
  const probe::CpuLevel* quota = nullptr;
  for (const probe::CpuLevel& level : facts.cgroups.cpu)
    if (!quota || level.quota_cpus < quota->quota_cpus) quota = &level;
  device.quota_cpus = quota ? quota->quota_cpus : 0;
  device.n_threads = device.n_cores;
  device.thread_reason = "one for each of " + cores_text(facts.cpu);
  if (device.n_cpus > device.n_cores)
    device.thread_reason += fmt::format(" behind {} usable CPUs", device.n_cpus);
  if (!quota || std::ceil(quota->quota_cpus) >= device.n_cores) return;
  device.n_threads = std::max(1, static_cast<int>(std::ceil(quota->quota_cpus)));
  device.thread_reason = fmt::format("{} grants {:.3g} CPUs, fewer than {}", quota->name,
                                     quota->quota_cpus, cores_text(facts.cpu));
}

std::vector<Link> numa_links(const probe::MachineFacts& facts) {
  std::vector<Link> links;
  if (!facts.numa_nodes) return links;
  for (const probe::NumaNode& from : *facts.numa_nodes)
    for (size_t i = 0; i < std::min(from.distances.size(), facts.numa_nodes->size()); ++i)
      if (const int to = (*facts.numa_nodes)[i].number; to != from.number)
        links.push_back({from.number, to, from.distances[i]});
  return links;
}

std::vector<std::string> unknown_facts(const probe::MachineFacts& facts) {
  std::vector<std::string> lines;
  const auto note = [&lines](const auto& fact) {
    if (!fact) lines.push_back(describe(fact.error()));
  };
  note(facts.cpu.model);
  note(facts.cpu.online);
  note(facts.cpu.allowed);
  note(facts.caches);
  note(facts.numa_nodes);
  note(facts.memory.total_bytes);
  note(facts.memory.available_bytes);
  note(facts.energy);
  if (facts.energy && !facts.energy->empty()) note(facts.energy->front().microjoules);
  note(facts.vendor);
  for (const probe::Unobserved& reason : facts.cgroups.unobserved)
    lines.push_back(describe(reason));
  return lines;
}

// FNV-1a, 64 bits.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// To a sixteenth of its power of two: the kernel's own share differs from boot to boot.
int64_t coarse(int64_t bytes) {
  int64_t unit = 1;
  while (bytes / unit >= 32) unit *= 2;
  return bytes / unit * unit;
}

Device cpu_device(const probe::MachineFacts& facts) {
  Device device;
  device.name = "cpu:0";
  device.model = text_or_reason(facts.cpu.model);
  device.n_cpus = static_cast<int>(facts.cpu.usable.size());
  device.n_cores = static_cast<int>(facts.cpu.cores.size());
  device.memory_bytes = facts.memory.total_bytes.value_or(0);
  set_available(facts, device);
  choose_threads(facts, device);
  device.caches = cache_levels(facts);
  device.isa_flags = facts.cpu.flags;
  return device;
}

}  // namespace

Machine machine_from(const probe::MachineFacts& facts) {
  Machine machine;
  machine.fingerprint = fingerprint_of(facts);
  machine.kernel = text_or_reason(facts.kernel);
  machine.virtualization = text_or_reason(facts.hypervisor);
  if (facts.vendor && facts.product)
    machine.virtualization += fmt::format(" ({}, {})", *facts.vendor, *facts.product);
  machine.devices.push_back(cpu_device(facts));
  machine.links = numa_links(facts);
  machine.unknown = unknown_facts(facts);
  return machine;
}

Machine this_machine() { return machine_from(probe::read_machine(probe::Root())); }

std::string fingerprint_of(const probe::MachineFacts& facts) {
  const Device device = cpu_device(facts);
  std::string text =
      fmt::format("{}\n{}\n{}\n{}\n{:.3f}\n{}\n", device.model, facts.cpu.microcode.value_or(""),
                  device.n_cpus, device.n_cores, device.quota_cpus, coarse(device.memory_bytes));
  for (const CacheLevel& cache : device.caches)
    text += fmt::format("{} {} {}\n", cache.name, cache.total_bytes, cache.n_instances);
  for (const std::string& flag : device.isa_flags) text += flag + " ";
  text += "\n" + facts.kernel.value_or("");
  return fmt::format("{:016x}", hash_of(text));
}

// A cyclic read wants the whole buffer to stay in the cache.  It does up to about half of a large
// shared one (others use it too, and its replacement is not exact); far above the size nothing
// does.
std::string memory_level(const Device& device, double n_bytes) {
  std::string last;
  double last_bytes = 0;
  for (const CacheLevel& cache : device.caches) {
    if (cache.name == "L1d") continue;
    last = cache.name;
    last_bytes = static_cast<double>(cache.total_bytes);
    if (n_bytes <= (cache.name == "L2" ? last_bytes : last_bytes / 2)) return last;
  }
  if (last.empty()) return "memory";
  return n_bytes <= 4 * last_bytes ? last + "+DRAM" : "DRAM";
}

}  // namespace hwtv::hw
