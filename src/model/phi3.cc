// The phi3 architecture (Phi-3, Phi-4): Llama's layers with queries, keys and values in one tensor,
// gate and up in another; long contexts by longrope.  Source: Abdin et al. 2024; Ding et al. 2024.
#include "model/architectures.h"
#include "model/decoder.h"
#include "model/metadata.h"

namespace hwtv::model {

Result<ops::Program> record_phi3(const ModelConfig& config, const gguf::File& file,
                                 const RecordOptions& options) {
  const Metadata metadata(file, config.architecture);
  Decoder decoder = plain_decoder(config, ops::RopeConfig::Pairs::halves);
  decoder.is_fused = true;
  HWTV_TRY(const int64_t window_tokens,
           metadata.count_or("attention.sliding_window", 0, {.min = 0}));
  for (DecoderLayer& layer : decoder.layers) layer.window_tokens = window_tokens;
  return record_decoder(decoder, config, file, options);
}

}  // namespace hwtv::model
