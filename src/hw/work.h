// Work: what a computation moves and calculates, independent of any device.
#pragma once

namespace hwtv::hw {

struct Work {
  double read_bytes = 0;
  double written_bytes = 0;
  double int8_ops = 0;  // integer multiplies and adds of quantized matrices
  double flops = 0;     // floating-point multiplies and adds

  Work& operator+=(const Work& other) {
    read_bytes += other.read_bytes;
    written_bytes += other.written_bytes;
    int8_ops += other.int8_ops;
    flops += other.flops;
    return *this;
  }
};

}  // namespace hwtv::hw
