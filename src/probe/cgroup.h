// The limits that control groups, v1 and v2, set on this process: one entry for each level of the
// hierarchy that has a limit, from its own group up to the root.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "probe/root.h"

namespace hwtv::probe {

struct MemoryLevel {
  std::string name;  // "cgroup v2 /user.slice", "cgroup v1 memory /docker/1f"
  int64_t max_bytes = 0;
  int64_t current_bytes = 0;        // everything charged to the group and its children
  int64_t inactive_file_bytes = 0;  // of it page cache that the kernel drops first

  int64_t available_bytes() const { return max_bytes - (current_bytes - inactive_file_bytes); }
};

struct CpuLevel {
  std::string name;
  double quota_cpus = 0;  // run time per wall time: 1.5 is one and a half CPUs
};

struct CgroupFacts {
  std::vector<MemoryLevel> memory;     // innermost first
  std::vector<CpuLevel> cpu;           // innermost first
  std::vector<Unobserved> unobserved;  // limits that could not be read
};

CgroupFacts read_cgroups(const Root& root);

}  // namespace hwtv::probe
