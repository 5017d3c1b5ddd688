#include "model/model.h"

#include <utility>

namespace hwtv::model {

Model::Model(gguf::File file, std::vector<Adapter> adapters, ModelConfig config,
             ops::Program program)
    : file_(std::move(file)),
      adapters_(std::move(adapters)),
      config_(std::move(config)),
      program_(std::move(program)) {}

Result<Model> Model::open(const std::string& path, const RecordOptions& options) {
  HWTV_TRY(gguf::File file, gguf::File::open(path));
  return from_file(std::move(file), options);
}

Result<Model> Model::from_file(gguf::File file, RecordOptions options,
                               std::vector<Adapter> adapters) {
  HWTV_TRY(const std::string_view name, file.require<std::string_view>("general.architecture"));
  HWTV_TRY(const Architecture* architecture, find_architecture(name));
  if (file.tensors().empty())
    return fail(ErrorCode::unsupported,
                "the file holds a vocabulary and no tensors: there is no model to run",
                "`hwtv tokenize` works with it; to run a model, use a file with its weights");
  HWTV_TRY(ModelConfig config, read_config(file));
  for (const Adapter& adapter : adapters) HWTV_TRY_VOID(adapter.check_base(file));
  options.adapters = adapters;
  HWTV_TRY(ops::Program program, architecture->record(config, file, options));
  return Model(std::move(file), std::move(adapters), std::move(config), std::move(program));
}

const gguf::File& Model::file_of(const ops::WeightDecl& weight) const {
  return weight.adapter < 0 ? file_ : adapters_[static_cast<size_t>(weight.adapter)].file();
}

std::span<const std::byte> Model::weight_bytes(ops::WeightId id) const {
  const ops::WeightDecl& weight = program_.weight(id);
  const gguf::TensorInfo* tensor = file_of(weight).find_tensor(weight.name);
  if (tensor->data == nullptr) return {};
  return {tensor->data + weight.first_row * dtype_bytes(weight.dtype, weight.width),
          static_cast<size_t>(weight.n_bytes())};
}

ops::WeightSource Model::weight_source(ops::WeightId id) const {
  const gguf::File& file = file_of(program_.weight(id));
  return {weight_bytes(id), [&file](std::span<const std::byte> bytes) { file.release(bytes); }};
}

int64_t Model::weights_bytes() const {
  int64_t n_bytes = 0;
  for (const ops::WeightDecl& weight : program_.weights) n_bytes += weight.n_bytes();
  return n_bytes;
}

}  // namespace hwtv::model
