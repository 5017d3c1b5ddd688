// The qwen2moe architecture (Qwen1.5 and Qwen2 MoE): Qwen2 with experts, whose shares stay as the
// softmax over all gives them, and one expert for all tokens.  Source: Yang et al. 2024.
#include "model/architectures.h"
#include "model/decoder.h"

namespace hwtv::model {

Result<ops::Program> record_qwen2moe(const ModelConfig& config, const gguf::File& file,
                                     const RecordOptions& options) {
  Decoder decoder = plain_decoder(config, ops::RopeConfig::Pairs::halves);
  decoder.needs_qkv_bias = true;
  HWTV_TRY(decoder.experts,
           read_experts(file, config, {.shared_ffn_dim = config.ffn_dim, .normalized = false}));
  return record_decoder(decoder, config, file, options);
}

}  // namespace hwtv::model
