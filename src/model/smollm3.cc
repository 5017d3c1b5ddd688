// The smollm3 architecture (SmolLM3): Llama's layers, of which every fourth rotates nothing (NoPE).
// Source: Yang et al. 2025, "RoPE to NoPE and back again"; GGUF has no key for the interval.
#include "model/architectures.h"
#include "model/decoder.h"

namespace hwtv::model {
namespace {

constexpr size_t kNoRopeInterval = 4;

}  // namespace

Result<ops::Program> record_smollm3(const ModelConfig& config, const gguf::File& file,
                                    const RecordOptions& options) {
  Decoder decoder = plain_decoder(config, ops::RopeConfig::Pairs::adjacent);
  for (size_t layer = kNoRopeInterval - 1; layer < decoder.layers.size(); layer += kNoRopeInterval)
    decoder.layers[layer] = {};
  return record_decoder(decoder, config, file, options);
}

}  // namespace hwtv::model
