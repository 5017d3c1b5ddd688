// The gemma3 architecture: five layers of six see a window and rotate by a base of their own,
// unscaled; queries and keys are normalized head by head.  Source: Gemma Team 2025.
#include "model/architectures.h"
#include "model/gemma.h"

namespace hwtv::model {
namespace {

// Positions of the layers that see a window.
Result<ops::RopeConfig> read_window_rope(const Metadata& metadata, const ops::RopeConfig& rope) {
  ops::RopeConfig local{.pairs = rope.pairs, .n_rotated = rope.n_rotated};
  HWTV_TRY(local.theta, metadata.number_or("rope.freq_base_swa", 10000.0, {1e-3, 1e12}));
  return local;
}

}  // namespace

Result<ops::Program> record_gemma3(const ModelConfig& config, const gguf::File& file,
                                   const RecordOptions& options) {
  constexpr int64_t kNLayers27B = 62;
  constexpr int64_t kInterval = 6;
  const Metadata metadata(file, config.architecture);
  Decoder decoder = gemma_decoder(config, kNLayers27B);
  decoder.has_qk_norm = true;
  HWTV_TRY(const double logit_softcap,
           metadata.number_or("final_logit_softcapping", 0, {0.0, 1e6}));
  decoder.logit_softcap = static_cast<float>(logit_softcap);
  HWTV_TRY(const int64_t window_tokens,
           metadata.count_or("attention.sliding_window", 0, {.min = 0}));
  if (window_tokens > 0) {
    HWTV_TRY_VOID(add_windows(metadata, window_tokens, kInterval, decoder));
    HWTV_TRY(const ops::RopeConfig local, read_window_rope(metadata, *decoder.layers[0].q_rope));
    for (DecoderLayer& layer : decoder.layers)
      if (layer.window_tokens > 0) layer.q_rope = layer.k_rope = local;
  }
  return record_decoder(decoder, config, file, options);
}

}  // namespace hwtv::model
