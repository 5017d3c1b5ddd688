// The mistral3 architecture (Ministral 3): Llama's layers with YaRN, and queries that grow with the
// logarithm of how many trained contexts lie before them.  Source: its model in transformers; the
// growth is Llama 4's [Nakanishi 2025, scalable softmax].
#include "model/architectures.h"
#include "model/decoder.h"
#include "model/metadata.h"

namespace hwtv::model {

Result<ops::Program> record_mistral3(const ModelConfig& config, const gguf::File& file,
                                     const RecordOptions& options) {
  const Metadata metadata(file, config.architecture);
  HWTV_TRY(const double growth, metadata.number_or("attention.temperature_scale", 0, {0.0, 1e3}));
  if (growth != 0 && config.rope.n_rotated != config.head_dim)
    return metadata.unsupported("attention.temperature_scale",
                                "is set, and only a part of each head is rotated");
  Decoder decoder = plain_decoder(config, ops::RopeConfig::Pairs::adjacent);
  for (DecoderLayer& layer : decoder.layers) {
    layer.q_rope->growth = growth;
    layer.q_rope->growth_tokens = config.rope_original_context_tokens;
  }
  return record_decoder(decoder, config, file, options);
}

}  // namespace hwtv::model
