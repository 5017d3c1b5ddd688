// What the dense decoders share: an embedding, layers of attention and of a gated feed-forward
// network around one residual stream, and the output.  An architecture says in a Decoder how its
// own differ.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "gguf/file.h"
#include "model/architectures.h"
#include "model/config.h"
#include "ops/program.h"

namespace hwtv::model {

struct DecoderLayer {
  std::optional<ops::RopeConfig> q_rope;  // nullopt: the layer knows no positions
  std::optional<ops::RopeConfig> k_rope;
  int64_t window_tokens = 0;  // attends to the last so many; 0: to the whole sequence
};

struct Decoder {
  bool needs_qkv_bias = false;  // else a bias is taken where the file has one
  bool has_qk_norm = false;     // an RMSNorm over each head of queries and of keys
  bool has_post_norms = false;  // one over what attention and the feed-forward network give
  bool is_fused = false;        // queries, keys and values are rows of one tensor; gate and up too
  ops::Activation activation = ops::Activation::silu;
  float embedding_scale = 1;
  float attention_scale = 0;         // of q . k
  float attention_softcap = 0;       // 0: none
  float logit_softcap = 0;           // 0: none
  std::vector<DecoderLayer> layers;  // n_layers of them
};

// The decoder of Llama: every layer sees the whole sequence and rotates `pairs` by the config's
// rope.
Decoder plain_decoder(const ModelConfig& config, ops::RopeConfig::Pairs pairs);

// Errors: those of Architecture::record.
Result<ops::Program> record_decoder(const Decoder& decoder, const ModelConfig& config,
                                    const gguf::File& file, const RecordOptions& options);

}  // namespace hwtv::model
