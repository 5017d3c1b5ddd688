// The families of Hugging Face models that `hwtv convert` knows: what their checkpoints hold, and
// what a config.json that leaves something out means.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"

namespace hwtv::transform {

struct HfFamily {
  std::string_view hf_name;       // in config.json's "architectures"
  std::string_view architecture;  // general.architecture
  // What the family's class in transformers takes where config.json says nothing; 0: must be said
  // (n_kv_heads: as many as heads; head_dim: model_dim / n_heads).
  int64_t n_heads = 0, n_kv_heads = 0, head_dim = 0, context_tokens = 0, vocab_size = 0;
  int64_t sliding_window = 0;
  double norm_eps = 1e-6;
  double rope_theta = 10000, local_rope_theta = 0;  // 0: one for all layers
  bool is_tied = false;                             // the output's weight is the embedding's
  // What its checkpoints hold.
  bool is_rope_halved = false;   // GGUF wants rotary pairs side by side, not half a head apart
  bool is_norm_shifted = false;  // a norm's weight is kept less 1
  bool has_qkv_bias = false;     // always
  bool has_qk_norm = false;
  bool has_post_norms = false;  // after attention and feed forward, before they are added
  bool is_fused = false;        // one matrix for q, k and v, one for gate and up
  bool is_wrapped = false;      // may hold parts that are no text model, and leaves them out
  bool tells_head_dim = true;   // GGUF gets key_length and value_length, told or not
};

// By the name in config.json.  Errors: unsupported, with all names.
Result<const HfFamily*> find_hf_family(std::string_view hf_name);

std::span<const HfFamily> hf_families();

}  // namespace hwtv::transform
