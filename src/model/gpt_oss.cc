// The gpt-oss architecture: experts with biases and a clamped activation, a sink for each head, a
// window in every other layer.  Source: OpenAI 2025.
#include "model/architectures.h"
#include "model/decoder.h"

namespace hwtv::model {

Result<ops::Program> record_gpt_oss(const ModelConfig& config, const gguf::File& file,
                                    const RecordOptions& options) {
  constexpr int64_t kInterval = 2;
  const Metadata metadata(file, config.architecture);
  Decoder decoder = plain_decoder(config, ops::RopeConfig::Pairs::halves);
  decoder.needs_qkv_bias = true;
  decoder.has_sinks = true;
  decoder.ffn_norm = "post_attention_norm";
  decoder.activation = ops::Activation::clamped_swish;
  HWTV_TRY(decoder.experts, read_experts(file, config, {.have_biases = true}));
  HWTV_TRY(const int64_t window_tokens, metadata.count("attention.sliding_window"));
  HWTV_TRY_VOID(add_windows(metadata, window_tokens, kInterval, decoder));
  return record_decoder(decoder, config, file, options);
}

}  // namespace hwtv::model
