// The qwen3next architecture: three layers of gated delta nets to one of gated attention, each with
// experts.  Source: Qwen team 2025; Yang et al. 2024 (gated delta nets).
#include "model/architectures.h"
#include "model/decoder.h"

namespace hwtv::model {

Result<ops::Program> record_qwen3next(const ModelConfig& config, const gguf::File& file,
                                      const RecordOptions& options) {
  HWTV_TRY(Decoder decoder, delta_net_decoder(config, Metadata(file, config.architecture)));
  decoder.delta_net.has_joint_gates = true;
  HWTV_TRY(decoder.experts, read_experts(file, config, {.shared_ffn_dim = config.ffn_dim}));
  return record_decoder(decoder, config, file, options);
}

}  // namespace hwtv::model
