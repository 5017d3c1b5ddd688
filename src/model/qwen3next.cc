// The qwen3next architecture: three layers of gated delta nets to one of gated attention, each with
// experts.  Source: Qwen team 2025; Yang et al. 2024 (gated delta nets).
#include "model/architectures.h"
#include "model/decoder.h"

namespace hwtv::model {

Result<ops::Program> record_qwen3next(const ModelConfig& config, const gguf::File& file,
                                      const RecordOptions& options) {
  constexpr int64_t kInterval = 4;
  Decoder decoder = plain_decoder(config, ops::RopeConfig::Pairs::halves);
  decoder.has_qk_norm = true;
  decoder.has_gate = true;
  decoder.ffn_norm = "post_attention_norm";
  decoder.delta_net.has_joint_gates = true;
  HWTV_TRY_VOID(add_delta_nets(Metadata(file, config.architecture), kInterval, decoder));
  HWTV_TRY(decoder.experts, read_experts(file, config, {.shared_ffn_dim = config.ffn_dim}));
  return record_decoder(decoder, config, file, options);
}

}  // namespace hwtv::model
