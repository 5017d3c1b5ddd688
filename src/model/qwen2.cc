// The qwen2 architecture (Qwen1.5, Qwen2, Qwen2.5): Llama's layers with biases on queries, keys and
// values, and rotary positions on halves.  Source: Yang et al. 2024.
#include "model/architectures.h"
#include "model/decoder.h"

namespace hwtv::model {

Result<ops::Program> record_qwen2(const ModelConfig& config, const gguf::File& file,
                                  const RecordOptions& options) {
  Decoder decoder = plain_decoder(config, ops::RopeConfig::Pairs::halves);
  decoder.needs_qkv_bias = true;
  return record_decoder(decoder, config, file, options);
}

}  // namespace hwtv::model
