// The qwen3moe architecture: Qwen3 with experts.  Source: Yang et al. 2025.
#include "model/architectures.h"
#include "model/decoder.h"

namespace hwtv::model {

Result<ops::Program> record_qwen3moe(const ModelConfig& config, const gguf::File& file,
                                     const RecordOptions& options) {
  Decoder decoder = plain_decoder(config, ops::RopeConfig::Pairs::halves);
  decoder.has_qk_norm = true;
  HWTV_TRY(decoder.experts, read_experts(file, config, {}));
  return record_decoder(decoder, config, file, options);
}

}  // namespace hwtv::model
