// The qwen3 architecture (dense Qwen3): queries and keys are normalized head by head before they
// are rotated, on halves.  Source: Yang et al. 2025.
#include "model/architectures.h"
#include "model/decoder.h"

namespace hwtv::model {

Result<ops::Program> record_qwen3(const ModelConfig& config, const gguf::File& file,
                                  const RecordOptions& options) {
  Decoder decoder = plain_decoder(config, ops::RopeConfig::Pairs::halves);
  decoder.has_qk_norm = true;
  return record_decoder(decoder, config, file, options);
}

}  // namespace hwtv::model
