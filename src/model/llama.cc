// The llama architecture (Llama 1 to 3, SmolLM, Mistral, Mixtral, and what is built alike):
// RMSNorm, rotary positions on adjacent pairs, grouped queries, SwiGLU, dense or by experts.
// Source: Touvron et al. 2023; Jiang et al. 2024; the tensor and key names are those of GGUF files.
#include "model/architectures.h"
#include "model/decoder.h"

namespace hwtv::model {

Result<ops::Program> record_llama(const ModelConfig& config, const gguf::File& file,
                                  const RecordOptions& options) {
  Decoder decoder = plain_decoder(config, ops::RopeConfig::Pairs::adjacent);
  if (config.n_experts > 0) {
    HWTV_TRY(decoder.experts, read_experts(file, config, {}));
  }
  return record_decoder(decoder, config, file, options);
}

}  // namespace hwtv::model
