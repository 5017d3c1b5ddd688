// The llama architecture (Llama 1 to 3, SmolLM, Mistral, and what is built alike): RMSNorm, rotary
// positions on adjacent pairs, grouped queries, SwiGLU.  Source: Touvron et al. 2023; the tensor
// and key names are those of GGUF files.
#include "model/architectures.h"
#include "model/decoder.h"

namespace hwtv::model {

Result<ops::Program> record_llama(const ModelConfig& config, const gguf::File& file,
                                  const RecordOptions& options) {
  return record_decoder(plain_decoder(config, ops::RopeConfig::Pairs::adjacent), config, file,
                        options);
}

}  // namespace hwtv::model
