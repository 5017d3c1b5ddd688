// Which tensor of a Hugging Face checkpoint becomes which of a GGUF file, and what has to be done
// to it on the way.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "transform/checkpoint.h"
#include "transform/hf_config.h"

namespace hwtv::transform {

struct PlannedTensor {
  std::string name;  // in the GGUF file
  DType to;
  std::vector<int64_t> shape;      // GGUF order
  CheckpointTensor source = {};    // no info: `values` are written
  std::vector<float> values = {};  // F32
  int64_t n_halved_heads = 0;      // rotary pairs come side by side in each of so many; 0: rows
                                   // as they are
  float addend = 0;                // to every element

  int64_t n_elements() const;
  int64_t n_bytes() const { return dtype_bytes(to, n_elements()); }
};

struct TensorPlan {
  std::vector<PlannedTensor> tensors;  // generated ones first, then in the checkpoint's order
  std::vector<std::string> notes;      // what was left out, and types that could not be had
};

// `type`: of the matrices; vectors and norms are F32.
// Errors: corrupt_file (tensors that are missing, known to nobody, there twice or of a wrong shape,
// with numbers and names); unsupported (element types, rope scalings that the architecture's GGUF
// form lacks).
Result<TensorPlan> plan_tensors(const HfConfig& config, const Checkpoint& checkpoint, DType type);

}  // namespace hwtv::transform
