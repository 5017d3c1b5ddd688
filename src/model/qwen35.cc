// The qwen35 architecture (Qwen3.5, text only): as Qwen3-Next, without experts.  Its rotary
// positions come in sections for images; a token of text has the same position in all.  Source:
// Qwen team 2026.
#include "model/architectures.h"
#include "model/decoder.h"

namespace hwtv::model {

Result<ops::Program> record_qwen35(const ModelConfig& config, const gguf::File& file,
                                   const RecordOptions& options) {
  constexpr int64_t kInterval = 4;
  Decoder decoder = plain_decoder(config, ops::RopeConfig::Pairs::halves);
  decoder.has_qk_norm = true;
  decoder.has_gate = true;
  decoder.ffn_norm = "post_attention_norm";
  decoder.delta_net.interleaved = true;
  HWTV_TRY_VOID(add_delta_nets(Metadata(file, config.architecture), kInterval, decoder));
  return record_decoder(decoder, config, file, options);
}

}  // namespace hwtv::model
