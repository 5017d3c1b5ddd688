// What the architectures gemma2 and gemma3 share: Llama's layers with GELU, norms on both sides,
// scaled embeddings, and windows in most layers.  Source: Gemma Team 2024, 2025.
#pragma once
#include <cstdint>

#include "base/error.h"
#include "model/config.h"
#include "model/decoder.h"
#include "model/metadata.h"

namespace hwtv::model {

// `n_layers_27b`: how many layers the family's 27B model has, which scales its queries by the share
// of the model_dim that a head has, not by its head_dim.  GGUF has no key for that.
Decoder gemma_decoder(const ModelConfig& config, int64_t n_layers_27b);

}  // namespace hwtv::model
