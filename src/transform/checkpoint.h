// The weights of a Hugging Face folder: model.safetensors, or the parts that
// model.safetensors.index.json lists, as one list of tensors.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "safetensors/file.h"

namespace hwtv::transform {

struct CheckpointTensor {
  const safetensors::TensorInfo* info;
  const safetensors::File* file;
};

class Checkpoint {
 public:
  // Errors: those of safetensors::File::open; corrupt_file (a part that is missing, a tensor in two
  // parts, an index that does not agree with the parts, with numbers and names).
  static Result<Checkpoint> open(const std::string& folder);

  std::span<const safetensors::File> files() const { return files_; }
  // In the files' order, which is that of their names.
  std::span<const CheckpointTensor> tensors() const { return tensors_; }
  int64_t size_bytes() const;  // of all tensors

 private:
  Checkpoint() = default;

  std::vector<safetensors::File> files_;
  std::vector<CheckpointTensor> tensors_;
};

}  // namespace hwtv::transform
