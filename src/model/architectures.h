// The table of model architectures.  Adding one: a file <name>.cc with a record function, declared
// here, and a row in architectures.cc.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"
#include "gguf/file.h"
#include "model/adapter.h"
#include "model/config.h"
#include "ops/program.h"

namespace hwtv::model {

struct RecordOptions {
  // The longest sequence that will be run; 0: as trained.  What depends on a length (the factors of
  // longrope) is fixed with it here, never by the current length.
  int64_t context_tokens = 0;
  // What steps are asked for.  Encoders have no logits and give embeddings instead.
  ops::OutputKind output = ops::OutputKind::logits;
  // What sequences may name; their indices are those of ops::Program::n_adapters.
  std::span<const Adapter> adapters = {};
};

struct Architecture {
  std::string_view name;  // the file's general.architecture
  // Records what the model computes in one step.  Takes every shape from the config and checks the
  // file's tensors against it; reads no tensor data.  Errors: corrupt_file, unsupported.
  Result<ops::Program> (*record)(const ModelConfig& config, const gguf::File& file,
                                 const RecordOptions& options);
};

std::span<const Architecture> architectures();

// Errors: unsupported, with the names of those that are supported.
Result<const Architecture*> find_architecture(std::string_view name);

Result<ops::Program> record_bert(const ModelConfig& config, const gguf::File& file,
                                 const RecordOptions& options);
Result<ops::Program> record_gemma2(const ModelConfig& config, const gguf::File& file,
                                   const RecordOptions& options);
Result<ops::Program> record_gemma3(const ModelConfig& config, const gguf::File& file,
                                   const RecordOptions& options);
Result<ops::Program> record_gpt_oss(const ModelConfig& config, const gguf::File& file,
                                    const RecordOptions& options);
Result<ops::Program> record_llama(const ModelConfig& config, const gguf::File& file,
                                  const RecordOptions& options);
Result<ops::Program> record_mistral3(const ModelConfig& config, const gguf::File& file,
                                     const RecordOptions& options);
Result<ops::Program> record_nomic_bert(const ModelConfig& config, const gguf::File& file,
                                       const RecordOptions& options);
Result<ops::Program> record_phi3(const ModelConfig& config, const gguf::File& file,
                                 const RecordOptions& options);
Result<ops::Program> record_qwen2(const ModelConfig& config, const gguf::File& file,
                                  const RecordOptions& options);
Result<ops::Program> record_qwen2moe(const ModelConfig& config, const gguf::File& file,
                                     const RecordOptions& options);
Result<ops::Program> record_qwen3(const ModelConfig& config, const gguf::File& file,
                                  const RecordOptions& options);
Result<ops::Program> record_qwen35(const ModelConfig& config, const gguf::File& file,
                                   const RecordOptions& options);
Result<ops::Program> record_qwen3next(const ModelConfig& config, const gguf::File& file,
                                      const RecordOptions& options);
Result<ops::Program> record_qwen3moe(const ModelConfig& config, const gguf::File& file,
                                     const RecordOptions& options);
Result<ops::Program> record_smollm3(const ModelConfig& config, const gguf::File& file,
                                    const RecordOptions& options);

}  // namespace hwtv::model
