// From the project's element types to the indices of the kernel tables.
#pragma once
#include <optional>

#include "backends/cpu/kernels.h"
#include "base/dtype.h"

namespace hwtv::cpu {

std::optional<WeightType> weight_type(DType dtype);
std::optional<KvType> kv_type(DType dtype);

}  // namespace hwtv::cpu
