// The gemma2 architecture: every other layer sees a window, and soft caps bound the scores of
// attention and the logits.  What a file leaves out has the family's own values.  Source: Gemma
// Team 2024.
#include "model/architectures.h"
#include "model/gemma.h"

namespace hwtv::model {

Result<ops::Program> record_gemma2(const ModelConfig& config, const gguf::File& file,
                                   const RecordOptions& options) {
  constexpr int64_t kNLayers27B = 46;
  constexpr int64_t kWindowTokens = 4096;
  constexpr int64_t kInterval = 2;
  const Metadata metadata(file, config.architecture);
  Decoder decoder = gemma_decoder(config, kNLayers27B);
  HWTV_TRY(const double attention_softcap,
           metadata.number_or("attn_logit_softcapping", 50, {0.0, 1e6}));
  HWTV_TRY(const double logit_softcap,
           metadata.number_or("final_logit_softcapping", 30, {0.0, 1e6}));
  decoder.attention_softcap = static_cast<float>(attention_softcap);
  decoder.logit_softcap = static_cast<float>(logit_softcap);
  HWTV_TRY(const int64_t window_tokens,
           metadata.count_or("attention.sliding_window", kWindowTokens));
  HWTV_TRY_VOID(add_windows(metadata, window_tokens, kInterval, decoder));
  return record_decoder(decoder, config, file, options);
}

}  // namespace hwtv::model
