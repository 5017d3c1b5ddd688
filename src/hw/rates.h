// What a device was measured to do with a given thread team: read bandwidth by buffer size, peak
// operation rates by instruction set.  Measured by measure_rates (measure.h), owned by
// DeviceContext.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hw/work.h"

namespace hwtv::hw {

// A cyclic read of one buffer: the whole of it, again and again, by all threads, a slice each.
struct ReadBandwidth {
  int64_t buffer_bytes = 0;
  double bytes_per_s = 0;         // the best pass: the limit that a reader is held against
  double median_bytes_per_s = 0;  // of all passes; far below the best on a disturbed machine
  int64_t n_passes = 0;
  std::string level;  // where the bytes come from, by size: "L2", "L3", "L3+DRAM", "DRAM", "memory"
};

struct IsaPeak {
  std::string isa;            // "scalar", "avx2", "avxvnni", "avx512", "avx512vnni", "amx"
  double flops_per_s = 0;     // float32; a multiply-add counts two
  double int8_ops_per_s = 0;  // the best 8-bit dot product of that instruction set
};

struct Rates {
  int n_threads = 0;
  std::vector<ReadBandwidth> read;  // ascending by buffer_bytes, never empty once measured
  std::vector<IsaPeak> isas;  // those this machine runs, best first, never empty once measured
  double measured_in_s = 0;
  double cpu_share = 0;  // of the CPU time that the threads could have had while measuring: near 1
                         // on a quiet machine, less when others took it

  // Whether the machine was too busy for these rates to be its own.
  bool is_disturbed() const { return cpu_share < 0.8; }

  // Between the measured sizes the time per byte is interpolated over the logarithm of the size.
  double read_bytes_per_s(double working_set_bytes) const;

  // The best rates for work that cycles through `working_set_bytes`.  `isa` empty: the best one.
  // Requires: isa is empty or one of `isas`.
  Peak peak(double working_set_bytes, std::string_view isa = {}) const;
};

}  // namespace hwtv::hw
