// Memory: the machine's, and what this very process holds.
#pragma once
#include <cstdint>

#include "probe/root.h"

namespace hwtv::probe {

struct MemoryFacts {
  Observed<int64_t> total_bytes;
  Observed<int64_t> available_bytes;  // MemAvailable: without swapping, page cache reclaimed
  Observed<int64_t> swap_total_bytes;
  Observed<int64_t> swap_free_bytes;
};
MemoryFacts read_memory(const Root& root);

// /proc/self: bytes held by this process now, and at most so far.
struct ProcessMemory {
  Observed<int64_t> anonymous_bytes;  // RssAnon: heap, stacks, anonymous mappings
  Observed<int64_t> file_bytes;       // RssFile: mapped files, the program's own code among them
  Observed<int64_t> peak_bytes;       // VmHWM: the most that was resident at once
  Observed<int64_t> swapped_bytes;    // VmSwap
};
ProcessMemory read_process_memory(const Root& root);

// How much of the mapping that holds [begin, begin + n_bytes) is resident.  Neighbouring mappings
// of one file at adjacent offsets count as one.  Costs the kernel a walk over the page tables of
// the whole process: once per run, not per step.
Observed<int64_t> read_resident_bytes(const Root& root, const void* begin, int64_t n_bytes);

// What was taken away from this process or had to be fetched; only differences mean something.
struct Disturbance {
  int64_t n_minor_faults = 0;
  int64_t n_major_faults = 0;  // each waited for a disk
  int64_t n_preemptions = 0;   // involuntary context switches
  Observed<double> stolen_s;   // CPU seconds that a hypervisor gave to others, over all CPUs
};
Disturbance read_disturbance(const Root& root);

}  // namespace hwtv::probe
