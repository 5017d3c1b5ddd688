// Measures a device's rates with the very threads that will do the work.  Called through
// DeviceContext, which keeps the results; tests and benches may call it directly.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/thread_team.h"
#include "hw/machine.h"
#include "hw/rates.h"

namespace hwtv::hw {

// The instruction sets this machine can run, best first: "avx512vnni", "avx512", "avx2", "scalar".
std::vector<std::string> runnable_isas();

// What a buffer is made of.  Huge pages need fewer address translations: a reader of DRAM gains 10
// to 25 % by them in a virtual machine, so a limit must be measured on the pages that its reader
// uses.
enum class Pages {
  ordinary,  // as malloc gives them; what other bandwidth benchmarks measure
  huge,      // 2 MiB pages, asked for with madvise; ordinary ones where the system refuses
};

// Reads a buffer of exactly n_bytes again and again, each thread its own slice, which it also
// touched first.  At least 3 timed runs, then until `at_least_s` have gone by.  `level` is left
// empty. Errors: out_of_memory.  Requires: n_bytes > 0, and so much memory is free.
Result<ReadBandwidth> measure_read_bandwidth(ThreadTeam& team, int64_t n_bytes, Pages pages,
                                             double at_least_s = 0.2);

// The peak of one of runnable_isas(), in about 50 ms.
IsaPeak measure_peak(ThreadTeam& team, std::string_view isa);

// All rates: buffers from half the L2 caches up to 1 GiB (at most an eighth of the
// available memory), and the peak of each runnable instruction set.
Result<Rates> measure_rates(ThreadTeam& team, const Device& device);

}  // namespace hwtv::hw
