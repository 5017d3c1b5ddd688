#include "probe/cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "probe/parse.h"

namespace hwtv::probe {
namespace {

std::vector<int> intersection(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

// x86 names its model; ARM gives numbers.
Observed<std::string> read_model(const std::string& cpuinfo) {
  if (auto name = parse_cpuinfo_field(cpuinfo, "model name")) return *std::move(name);
  const auto implementer = parse_cpuinfo_field(cpuinfo, "CPU implementer");
  const auto part = parse_cpuinfo_field(cpuinfo, "CPU part");
  if (implementer && part) return fmt::format("ARM implementer {} part {}", *implementer, *part);
  return unobserved(Why::unparsable, "/proc/cpuinfo (no model)");
}

Observed<std::vector<int>> read_allowed(const Root& root) {
  const std::string path = "/proc/self/status";
  const auto status = root.text(path);
  if (!status) return tl::unexpected(status.error());
  const auto list = parse_cpuinfo_field(*status, "Cpus_allowed_list");
  auto cpus = list ? parse_cpu_list(*list) : std::nullopt;
  if (!cpus) return unobserved(Why::unparsable, path + " (Cpus_allowed_list)");
  return *std::move(cpus);
}

std::vector<int> usable_cpus(const CpuFacts& facts) {
  if (facts.online && facts.allowed) {
    std::vector<int> both = intersection(*facts.online, *facts.allowed);
    if (!both.empty()) return both;
  }
  if (facts.allowed && !facts.allowed->empty()) return *facts.allowed;
  if (facts.online && !facts.online->empty()) return *facts.online;
  return {0};  // this program runs on something
}

std::vector<std::vector<int>> group_by_core(const Root& root, const std::vector<int>& cpus) {
  std::vector<std::vector<int>> cores;
  for (const int cpu : cpus) {
    const bool known = std::any_of(cores.begin(), cores.end(), [&](const std::vector<int>& core) {
      return std::binary_search(core.begin(), core.end(), cpu);
    });
    if (known) continue;
    const std::string topology = fmt::format("/sys/devices/system/cpu/cpu{}/topology", cpu);
    auto siblings = root.cpu_list(topology + "/core_cpus_list");
    if (!siblings)
      siblings = root.cpu_list(topology + "/thread_siblings_list");  // before Linux 5.2
    std::vector<int> core = siblings ? intersection(*siblings, cpus) : std::vector<int>{cpu};
    if (!std::binary_search(core.begin(), core.end(), cpu)) core = {cpu};
    cores.push_back(std::move(core));
  }
  return cores;
}

std::vector<CoreKind> read_kinds(const Root& root) {
  std::vector<CoreKind> kinds;
  for (const char* name : {"cpu_core", "cpu_atom", "cpu_lowpower"}) {
    auto cpus = root.cpu_list(fmt::format("/sys/devices/{}/cpus", name));
    if (cpus && !cpus->empty()) kinds.push_back({name, *std::move(cpus)});
  }
  if (kinds.size() < 2) kinds.clear();
  return kinds;
}

Observed<CacheFacts> read_cache(const Root& root, const std::string& folder) {
  const auto level = root.number(folder + "/level");
  const auto type = root.line(folder + "/type");
  const auto size = root.line(folder + "/size");
  const auto shared = root.cpu_list(folder + "/shared_cpu_list");
  if (!level) return tl::unexpected(level.error());
  if (!type) return tl::unexpected(type.error());
  if (!size) return tl::unexpected(size.error());
  if (!shared) return tl::unexpected(shared.error());
  const auto bytes = parse_size(*size);
  if (!bytes || *level < 1 || *level > 9 || shared->empty())
    return unobserved(Why::unparsable, folder);
  return CacheFacts{static_cast<int>(*level), *type, *bytes, *shared};
}

}  // namespace

CpuFacts read_cpus(const Root& root) {
  CpuFacts facts;
  const auto cpuinfo = root.text("/proc/cpuinfo");
  if (cpuinfo) {
    facts.model = read_model(*cpuinfo);
    auto microcode = parse_cpuinfo_field(*cpuinfo, "microcode");
    if (microcode) {
      facts.microcode = *std::move(microcode);
    } else {
      facts.microcode = unobserved(Why::absent, "/proc/cpuinfo (microcode)");
    }
    for (const char* key : {"flags", "Features"})
      if (const auto flags = parse_cpuinfo_field(*cpuinfo, key)) facts.flags = parse_words(*flags);
  } else {
    facts.model = facts.microcode = tl::unexpected(cpuinfo.error());
  }
  facts.online = root.cpu_list("/sys/devices/system/cpu/online");
  facts.allowed = read_allowed(root);
  facts.usable = usable_cpus(facts);
  facts.cores = group_by_core(root, facts.usable);
  facts.kinds = read_kinds(root);
  return facts;
}

Observed<std::vector<CacheFacts>> read_caches(const Root& root, const std::vector<int>& cpus) {
  std::vector<CacheFacts> caches;
  const auto key = [](const CacheFacts& cache) {
    return std::tuple(cache.level, cache.type, cache.shared_cpus.front());
  };
  for (const int cpu : cpus) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache", cpu);
    for (const int index : root.numbered(folder, "index")) {
      auto cache = read_cache(root, fmt::format("{}/index{}", folder, index));
      if (!cache) return tl::unexpected(cache.error());
      const bool known = std::any_of(caches.begin(), caches.end(), [&](const CacheFacts& other) {
        return key(other) == key(*cache);
      });
      if (!known) caches.push_back(*std::move(cache));
    }
  }
  if (caches.empty())
    return unobserved(Why::absent, fmt::format("/sys/devices/system/cpu/cpu{}/cache",
                                               cpus.empty() ? 0 : cpus[0]));
  std::sort(caches.begin(), caches.end(),
            [&](const CacheFacts& a, const CacheFacts& b) { return key(a) < key(b); });
  return caches;
}

Observed<std::vector<NumaNode>> read_numa_nodes(const Root& root) {
  const std::string folder = "/sys/devices/system/node";
  std::vector<NumaNode> nodes;
  for (const int number : root.numbered(folder, "node")) {
    const std::string own = fmt::format("{}/node{}", folder, number);
    NumaNode node;
    node.number = number;
    node.cpus = root.cpu_list(own + "/cpulist").value_or(std::vector<int>{});
    node.memory_bytes = unobserved(Why::absent, own + "/meminfo");
    if (const auto text = root.text(own + "/meminfo")) {
      const std::string prefix = fmt::format("Node {} ", number);
      const size_t at = text->find(prefix + "MemTotal:");
      const auto bytes =
          at == std::string::npos
              ? std::nullopt
              : parse_kib_field(std::string_view(*text).substr(at + prefix.size()), "MemTotal");
      if (bytes) node.memory_bytes = *bytes;
    }
    for (const std::string& word : parse_words(root.line(own + "/distance").value_or("")))
      node.distances.push_back(static_cast<int>(parse_int(word).value_or(0)));
    nodes.push_back(std::move(node));
  }
  if (nodes.empty()) return unobserved(Why::absent, folder);
  return nodes;
}

}  // namespace hwtv::probe
