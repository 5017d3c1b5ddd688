// A random model of three layers, recorded by hand, that uses every op and every weight dtype: for
// tests of what must hold for whole programs.
#pragma once
#include "tests/ops/case.h"

namespace hwtv::test {

inline constexpr int64_t kTinyVocabSize = 96;
inline constexpr int64_t kTinyContextTokens = 256;

// Four sequences of kTinyContextTokens fit, all their tokens in one step.
OpCase tiny_model(DType k_dtype, DType v_dtype);

}  // namespace hwtv::test
