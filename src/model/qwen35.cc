// The qwen35 architecture (Qwen3.5, text only): as Qwen3-Next, without experts.  Its rotary
// positions come in sections for images; a token of text has the same position in all.  Source:
// Qwen team 2026.
#include "model/architectures.h"
#include "model/decoder.h"

namespace hwtv::model {

Result<ops::Program> record_qwen35(const ModelConfig& config, const gguf::File& file,
                                   const RecordOptions& options) {
  HWTV_TRY(Decoder decoder, delta_net_decoder(config, Metadata(file, config.architecture)));
  decoder.delta_net.interleaved = true;
  return record_decoder(decoder, config, file, options);
}

}  // namespace hwtv::model
