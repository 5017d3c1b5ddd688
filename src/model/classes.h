// How a Program ends that gives embeddings: with them, or with the classes that a reranker's head
// makes of them.  For the architectures.
#pragma once
#include "base/error.h"
#include "gguf/file.h"
#include "model/architectures.h"
#include "model/config.h"
#include "model/recorder.h"
#include "ops/program.h"

namespace hwtv::model {

// Errors: unsupported (the options ask for classes, and the file has no head for them).
Result<void> check_classes(const gguf::File& file, const ModelConfig& config,
                           const RecordOptions& options);

// Makes x (n_outputs, model_dim) the output, or what the head makes of it.
// Requires: check_classes().
void record_embeddings(ops::ValueId x, const ModelConfig& config, const RecordOptions& options,
                       Recorder& recorder);

}  // namespace hwtv::model
