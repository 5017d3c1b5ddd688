// Random weights made directly as quant_blocks: every bit of the quants is used, scales are finite
// and of about the size that gives elements near 1.  For tests only; real quantizers choose scales
// well.
#pragma once
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "base/dtype.h"

namespace hwtv::test {

using Random = std::mt19937_64;

// Standard normal.
float random_normal(Random& random);
double random_between(Random& random, double low, double high);

// The bytes of n_rows rows of `width`.  Requires: dtype is not I32; width fits its quant_block.
std::vector<std::byte> random_weight(DType dtype, int64_t n_rows, int64_t width, Random& random);

// The bytes of F32 elements.
std::vector<std::byte> bytes_of(const std::vector<float>& values);

}  // namespace hwtv::test
