#include "model/model.h"

#include <utility>

namespace hwtv::model {

Model::Model(gguf::File file, ModelConfig config, ops::Program program)
    : file_(std::move(file)), config_(std::move(config)), program_(std::move(program)) {}

Result<Model> Model::open(const std::string& path, const RecordOptions& options) {
  HWTV_TRY(gguf::File file, gguf::File::open(path));
  return from_file(std::move(file), options);
}

Result<Model> Model::from_file(gguf::File file, const RecordOptions& options) {
  HWTV_TRY(const std::string_view name, file.require<std::string_view>("general.architecture"));
  HWTV_TRY(const Architecture* architecture, find_architecture(name));
  if (file.tensors().empty())
    return fail(ErrorCode::unsupported,
                "the file holds a vocabulary and no tensors: there is no model to run",
                "`hwtv tokenize` works with it; to run a model, use a file with its weights");
  HWTV_TRY(ModelConfig config, read_config(file));
  HWTV_TRY(ops::Program program, architecture->record(config, file, options));
  return Model(std::move(file), std::move(config), std::move(program));
}

std::span<const std::byte> Model::weight_bytes(ops::WeightId id) const {
  const ops::WeightDecl& weight = program_.weight(id);
  const gguf::TensorInfo* tensor = file_.find_tensor(weight.name);
  if (tensor->data == nullptr) return {};
  return {tensor->data + weight.first_row * dtype_bytes(weight.dtype, weight.width),
          static_cast<size_t>(weight.n_bytes())};
}

ops::WeightSource Model::weight_source(ops::WeightId id) const {
  return {weight_bytes(id), [this](std::span<const std::byte> bytes) { file_.release(bytes); }};
}

int64_t Model::weights_bytes() const {
  int64_t n_bytes = 0;
  for (const ops::WeightDecl& weight : program_.weights) n_bytes += weight.n_bytes();
  return n_bytes;
}

}  // namespace hwtv::model
