#include "model/gemma.h"

#include <cmath>
#include <optional>
#include <vector>

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

Result<void> add_windows(const Metadata& metadata, int64_t window_tokens, int64_t interval,
                         Decoder& decoder) {
  constexpr std::string_view kPattern = "attention.sliding_window_pattern";
  const auto n_layers = static_cast<int64_t>(decoder.layers.size());
  HWTV_TRY(const std::optional<std::vector<bool>> flags,
           metadata.find_layer_flags(kPattern, n_layers));
  if (!flags) {
    HWTV_TRY(interval, metadata.count_or(kPattern, interval));
  }
  for (int64_t layer = 0; layer < n_layers; ++layer) {
    const auto at = static_cast<size_t>(layer);
    if (flags ? (*flags)[at] : layer % interval < interval - 1)
      decoder.layers[at].window_tokens = window_tokens;
  }
  return {};
}

}  // namespace hwtv::model
