// A GGUF file as a model: its sizes, what it computes, and where its weights lie.  Opening reads
// the header only; a weight's bytes are touched by the backend that imports them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "gguf/file.h"
#include "model/adapter.h"
#include "model/architectures.h"
#include "model/config.h"
#include "ops/backend.h"
#include "ops/program.h"

namespace hwtv::model {

class Model {
 public:
  // Errors: those of gguf::File::open; corrupt_file (a key or tensor missing, impossible, of the
  // wrong shape); unsupported (architecture, tensor type or setting, by name).
  // Each adapter must be one of this model: as Adapter::check_base says.
  static Result<Model> open(const std::string& path, const RecordOptions& options = {});
  static Result<Model> from_file(gguf::File file, RecordOptions options = {},
                                 std::vector<Adapter> adapters = {});

  const gguf::File& file() const { return file_; }
  const ModelConfig& config() const { return config_; }
  std::span<const Adapter> adapters() const { return adapters_; }
  // Stays at its place while the Model does: keep the Model where it is once a backend prepared it.
  const ops::Program& program() const { return program_; }

  // The bytes of program().weights[id] in its file's mapping; empty where only the header is there.
  std::span<const std::byte> weight_bytes(ops::WeightId id) const;
  // The same, with a way to let go of pages that were copied.  Requires: the Model outlives it.
  ops::WeightSource weight_source(ops::WeightId id) const;
  // All weights, each once, as the file stores them.
  int64_t weights_bytes() const;

 private:
  Model(gguf::File file, std::vector<Adapter> adapters, ModelConfig config, ops::Program program);
  const gguf::File& file_of(const ops::WeightDecl& weight) const;

  gguf::File file_;
  std::vector<Adapter> adapters_;
  ModelConfig config_;
  ops::Program program_;
};

}  // namespace hwtv::model
