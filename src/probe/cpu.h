// The processors: which exist, which this process may use, how they share cores, caches and memory.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "probe/root.h"

namespace hwtv::probe {

struct CoreKind {
  std::string
      name;  // "cpu_core", "cpu_atom": the kernel's names for the parts of a hybrid processor
  std::vector<int> cpus;
};

struct CpuFacts {
  Observed<std::string> model;  // "Intel(R) Xeon(R) Processor"
  Observed<std::string> microcode;
  std::vector<std::string>
      flags;  // instruction sets and features, the kernel's names; may be empty
  Observed<std::vector<int>> online;
  Observed<std::vector<int>> allowed;   // this process's affinity
  std::vector<int> usable;              // online and allowed; never empty
  std::vector<std::vector<int>> cores;  // the usable CPUs by physical core; never empty
  std::vector<CoreKind> kinds;          // empty unless hybrid
};
CpuFacts read_cpus(const Root& root);

struct CacheFacts {
  int level = 0;     // 1, 2, 3
  std::string type;  // "Data", "Instruction", "Unified"
  int64_t size_bytes = 0;
  std::vector<int> shared_cpus;  // all that share it, usable or not
};
// Every cache that one of `cpus` uses, once; by level, then by first CPU.
Observed<std::vector<CacheFacts>> read_caches(const Root& root, const std::vector<int>& cpus);

struct NumaNode {
  int number = 0;
  std::vector<int> cpus;
  Observed<int64_t> memory_bytes;
  std::vector<int> distances;  // to each node in order; 10 is local
};
Observed<std::vector<NumaNode>> read_numa_nodes(const Root& root);

}  // namespace hwtv::probe
