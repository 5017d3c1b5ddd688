// Loops that do nothing but read, or nothing but multiply and add, as fast as one instruction set
// allows.  One table per instruction set, each in its own file compiled for that set only; so this
// header holds plain declarations.  Used by measure.cc.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace hwtv::hw {

struct PeakKernels {
  const char* isa;
  // Reads all bytes once; what it returns depends on each of them.
  uint64_t (*read)(const void* data, size_t n_bytes);
  // Multiply and add in registers; what they return depends on each round.
  float (*multiply_add)(int64_t n_rounds);
  int32_t (*dot_int8)(int64_t n_rounds);
  double flops_per_round;
  double int8_ops_per_round;
};

extern const PeakKernels kPeakScalar;
#if defined(__x86_64__)
extern const PeakKernels kPeakAvx2;
extern const PeakKernels kPeakAvxVnni;
extern const PeakKernels kPeakAvx512;
extern const PeakKernels kPeakAvx512Vnni;
extern const PeakKernels kPeakAmx;
#endif

}  // namespace hwtv::hw
