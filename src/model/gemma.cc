#include "model/gemma.h"

#include <cmath>

namespace hwtv::model {

Decoder gemma_decoder(const ModelConfig& config, int64_t n_layers_27b) {
  Decoder decoder = plain_decoder(config, ops::RopeConfig::Pairs::halves);
  decoder.activation = ops::Activation::gelu_tanh;
  decoder.has_post_norms = true;
  decoder.embedding_scale = std::sqrt(static_cast<float>(config.model_dim));
  if (config.n_layers == n_layers_27b)
    decoder.attention_scale =
        1.0f / std::sqrt(static_cast<float>(config.model_dim / config.n_heads));
  return decoder;
}

}  // namespace hwtv::model
