// How far a backend's result may lie from the oracle's: one rule for all ops and types.
#pragma once
#include <cmath>
#include <cstdint>

#include "base/dtype.h"

namespace hwtv::test {

// The largest difference allowed for one element, as a share of the root mean square of the
// oracle's result; a sixth of it is allowed as the root mean square of all differences.
//
// dtype: of the stored operand of the dot products; n: their length.
//
// Rounding.  Let the n terms of a sum have the standard deviation s; the result has s sqrt(n).  The
// partial sum after k terms is about s sqrt(k) and is rounded by at most 2^-24 of itself, with the
// standard deviation 2^-24/sqrt(3).  In all: 2^-24/sqrt(3) s sqrt(1 + 2 + ... + n) = s n
// 2^-24/sqrt(6), which as a share of the result is 0.41 x 2^-24 sqrt(n).  Six of those are 1.2 x
// 2^-23 sqrt(n); two sides round, and the constant 4 covers products, conversions and a function
// such as exp.
//
// Quantized activations.  Backends may round x to 8 bits per 32 elements when the weights are
// quantized: x = step * integer with step = largest / 127.  For normal x the largest of 32 is below
// 4 standard deviations, so an error is uniform in +-step/2, with the standard deviation
// 4/127/sqrt(12) = 0.0091 of that of x.  Errors of different elements are independent, so the dot
// product keeps that share, for every n.  Six of them are 0.055.
inline double tolerance(DType dtype, int64_t n) {
  const double rounding = 0x1p-23 * (4 + 2 * std::sqrt(static_cast<double>(n)));
  const double activations = is_quantized(dtype) ? 6 * 4 / 127.0 / std::sqrt(12.0) : 0;
  return rounding + activations;
}

}  // namespace hwtv::test
