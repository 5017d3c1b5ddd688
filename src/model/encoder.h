// What BERT's encoders share: every token sees the whole sequence, and norms follow what is added.
// An architecture says in an Encoder how its own differ.
#pragma once
#include <optional>

#include "base/error.h"
#include "gguf/file.h"
#include "model/architectures.h"
#include "model/config.h"
#include "ops/program.h"

namespace hwtv::model {

struct Encoder {
  bool has_position_table = false;           // a vector for each position is added to the tokens'
  std::optional<ops::RopeConfig> rope = {};  // nullopt: queries and keys know no positions
  bool is_gated = false;                     // the feed-forward network has a gate
  ops::Activation activation = ops::Activation::gelu;
};

// Gives rows of embeddings, or of classes where the options ask for those: one for each token.
// Errors: those of Architecture::record.
Result<ops::Program> record_encoder(const Encoder& encoder, const ModelConfig& config,
                                    const gguf::File& file, const RecordOptions& options);

}  // namespace hwtv::model
