// A GGUF file as a model: its sizes, what it computes, and where its weights lie.  Opening reads
// the header only; a weight's bytes are touched by the backend that imports them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"
#include "gguf/file.h"
#include "model/architectures.h"
#include "model/config.h"
#include "ops/backend.h"
#include "ops/program.h"

namespace hwtv::model {

class Model {
 public:
  // Errors: those of gguf::File::open; corrupt_file (a key or tensor missing, impossible, of the
  // wrong shape); unsupported (architecture, tensor type or setting, by name).
  static Result<Model> open(const std::string& path, const RecordOptions& options = {});
  static Result<Model> from_file(gguf::File file, const RecordOptions& options = {});

  const gguf::File& file() const { return file_; }
  const ModelConfig& config() const { return config_; }
  // Stays at its place while the Model does: keep the Model where it is once a backend prepared it.
  const ops::Program& program() const { return program_; }

  // The bytes of program().weights[id] in the file's mapping; empty where only the header is there.
  std::span<const std::byte> weight_bytes(ops::WeightId id) const;
  // The same, with a way to let go of pages that were copied.  Requires: the Model outlives it.
  ops::WeightSource weight_source(ops::WeightId id) const;
  // All weights, each once, as the file stores them.
  int64_t weights_bytes() const;

 private:
  Model(gguf::File file, ModelConfig config, ops::Program program);

  gguf::File file_;
  ModelConfig config_;
  ops::Program program_;
};

}  // namespace hwtv::model
