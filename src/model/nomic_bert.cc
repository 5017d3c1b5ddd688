// The nomic-bert architecture: BERT with rotary positions on halves and SwiGLU.  Source: Nussbaum
// et al. 2024.
#include "model/architectures.h"
#include "model/encoder.h"

namespace hwtv::model {

Result<ops::Program> record_nomic_bert(const ModelConfig& config, const gguf::File& file,
                                       const RecordOptions& options) {
  ops::RopeConfig rope = config.rope;
  rope.pairs = ops::RopeConfig::Pairs::halves;
  return record_encoder({.rope = rope, .is_gated = true, .activation = ops::Activation::silu},
                        config, file, options);
}

}  // namespace hwtv::model
