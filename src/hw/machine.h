// The machine in numbers, derived once from probe's facts.  What was not observable keeps its
// reason.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace hwtv::probe {
struct MachineFacts;
}

namespace hwtv::hw {

struct CacheLevel {
  std::string name;  // "L1d", "L2", "L3"
  int64_t instance_bytes = 0;
  int64_t total_bytes = 0;  // over the instances that the usable CPUs touch
  int n_instances = 0;
  int n_cpus_sharing = 0;  // CPUs per instance, usable or not
};

// One place that computes and holds bytes.  The CPU with its memory is "cpu:0".
struct Device {
  std::string name;
  std::string model;
  int n_cpus = 0;                      // usable here: online and allowed
  int n_cores = 0;                     // physical, behind those CPUs
  double quota_cpus = 0;               // the tightest cgroup CPU quota; 0: none
  int64_t memory_bytes = 0;            // all of it
  int64_t available_bytes = 0;         // what could be allocated when probed
  std::string memory_limit;            // which level binds available_bytes, one line
  int n_threads = 0;                   // how many the engine should use
  std::string thread_reason;           // why, one line
  std::vector<CacheLevel> caches;      // data caches, smallest first; empty when not observable
  std::vector<std::string> isa_flags;  // as the kernel names them
};

// How far the memory of one NUMA node is from another's CPUs, as the firmware says.
struct Link {
  int from_node = 0;
  int to_node = 0;
  int distance = 0;  // 10 is local
};

struct Machine {
  std::string fingerprint;  // 16 hex digits: see fingerprint_of
  std::string kernel;
  std::string virtualization;        // "kvm", "none", or why it is not known
  std::vector<Device> devices;       // never empty: devices[0] is the CPU
  std::vector<Link> links;           // between different NUMA nodes
  std::vector<std::string> unknown;  // what was not observable here and why, one line each

  const Device& cpu() const& { return devices.front(); }
  const Device& cpu() && = delete;  // it would outlive its machine
};

Machine machine_from(const probe::MachineFacts& facts);

// Reads this machine: machine_from(probe::read_machine(Root("/"))).
Machine this_machine();

// Stable over reboots and over what else runs: a hash of CPU model, flags, physical and usable
// cores, quota, caches, total memory (to 1/16) and the kernel's release.  What changes it changes
// the rates.
std::string fingerprint_of(const probe::MachineFacts& facts);

// Where a cyclic read of `n_bytes` comes from, by size alone: "L2", "L3", "L3+DRAM", "DRAM";
// "memory" when no cache size is known.
std::string memory_level(const Device& device, double n_bytes);

}  // namespace hwtv::hw
