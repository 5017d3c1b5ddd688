// Work: what an op or a step moves and computes, from shapes and types alone.  `ops` derives it,
// `plan` predicts seconds with it, `observe` holds the measured seconds against it.
#pragma once
#include <algorithm>

namespace hwtv::hw {

struct Work {
  double read_bytes = 0;
  double written_bytes = 0;
  double flops = 0;     // float operations; a multiply-add counts two
  double int8_ops = 0;  // operations of 8-bit integer dot products, counted alike; not in `flops`

  Work& operator+=(const Work& other) {
    read_bytes += other.read_bytes;
    written_bytes += other.written_bytes;
    flops += other.flops;
    int8_ops += other.int8_ops;
    return *this;
  }
  friend Work operator+(Work a, const Work& b) { return a += b; }
  friend bool operator==(const Work&, const Work&) = default;

  double moved_bytes() const { return read_bytes + written_bytes; }
  double n_ops() const { return flops + int8_ops; }
};

// What a device can do at best for one working set: Rates::peak (rates.h).
struct Peak {
  double bytes_per_s = 0;
  double flops_per_s = 0;
  double int8_ops_per_s = 0;
};

// The two times that bind a piece of work; it takes at least the longer one.
// Requires: every rate of `peak` that the work needs is above 0.
inline double memory_seconds(const Peak& peak, const Work& work) {
  return work.moved_bytes() > 0 ? work.moved_bytes() / peak.bytes_per_s : 0;
}
inline double compute_seconds(const Peak& peak, const Work& work) {
  return (work.flops > 0 ? work.flops / peak.flops_per_s : 0) +
         (work.int8_ops > 0 ? work.int8_ops / peak.int8_ops_per_s : 0);
}
inline double seconds(const Peak& peak, const Work& work) {
  return std::max(memory_seconds(peak, work), compute_seconds(peak, work));
}

}  // namespace hwtv::hw
