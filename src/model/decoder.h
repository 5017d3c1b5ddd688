// What the decoders share: an embedding, layers of attention (or of a gated delta net) and of a
// gated feed-forward network around one residual stream, and the output.  An architecture says in a
// Decoder how its own differ.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "gguf/file.h"
#include "model/architectures.h"
#include "model/config.h"
#include "model/metadata.h"
#include "ops/program.h"

namespace hwtv::model {

struct DecoderLayer {
  std::optional<ops::RopeConfig> q_rope;  // nullopt: the layer knows no positions
  std::optional<ops::RopeConfig> k_rope;
  int64_t window_tokens = 0;  // attends to the last so many; 0: to the whole sequence
  bool is_recurrent = false;  // a gated delta net in place of attention
};

// The gated delta net of recurrent layers.
struct DeltaNetShape {
  int64_t kernel = 0;  // tokens that the convolution sees
  int64_t n_heads = 0;
  int64_t value_dim = 0;    // of a head
  int64_t n_key_heads = 0;  // of queries and of keys
  int64_t key_dim = 0;
  bool interleaved = false;  // head h has the keys of head h % n_key_heads, else of its neighbours
  bool has_joint_gates = false;  // beta and alpha are rows of one tensor, by key head
};

// A feed-forward network of experts, of which each token goes through a few.
struct Experts {
  int64_t ffn_dim = 0;         // width inside one
  int64_t shared_ffn_dim = 0;  // of another one, for all tokens, under a gate of its own; 0: none
  bool have_biases = false;    // and the router too
  ops::Routing routing = ops::Routing::softmax;
  bool normalized = true;
  float scale = 1;
};

struct Decoder {
  bool needs_qkv_bias = false;  // else a bias is taken where the file has one
  bool has_qk_norm = false;     // an RMSNorm over each head of queries and of keys
  bool has_post_norms = false;  // one over what attention and the feed-forward network give
  bool has_sinks = false;       // each head's softmax counts one more score
  bool has_gate = false;  // attn_q gives each head its query, then a gate of what it attends to
  bool is_fused = false;  // queries, keys and values are rows of one tensor; gate and up too
  ops::Activation activation = ops::Activation::silu;
  float embedding_scale = 1;
  float attention_scale = 0;    // of q . k
  float attention_softcap = 0;  // 0: none
  float logit_softcap = 0;      // 0: none
  std::string_view ffn_norm = "ffn_norm";
  std::optional<Experts> experts;    // nullopt: the layers are dense
  DeltaNetShape delta_net;           // where a layer is recurrent
  std::vector<DecoderLayer> layers;  // n_layers of them
};

// The decoder of Llama: every layer sees the whole sequence and rotates `pairs` by the config's
// rope.
Decoder plain_decoder(const ModelConfig& config, ops::RopeConfig::Pairs pairs);

// Gives a window to all layers but each `interval`th, or as attention.sliding_window_pattern has
// it: an interval, or one flag for each layer.  Errors: corrupt_file.
Result<void> add_windows(const Metadata& metadata, int64_t window_tokens, int64_t interval,
                         Decoder& decoder);

// The decoder of Qwen3-Next: gated attention in each full_attention_interval'th layer, or where
// attention.recurrent_layers says no; gated delta nets in all others.
// Errors: corrupt_file; unsupported (layers that guess further tokens).
Result<Decoder> delta_net_decoder(const ModelConfig& config, const Metadata& metadata);

// The experts of every layer; what the file does not say of them stays as in `family`.
// Errors: corrupt_file; unsupported (another way of routing).
Result<Experts> read_experts(const gguf::File& file, const ModelConfig& config, Experts family);

// Errors: those of Architecture::record.
Result<ops::Program> record_decoder(const Decoder& decoder, const ModelConfig& config,
                                    const gguf::File& file, const RecordOptions& options);

}  // namespace hwtv::model
