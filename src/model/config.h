// The sizes and settings of a model, read from a GGUF file's metadata and checked: what `plan`,
// `engine` and an architecture's record() build on.  Reads no tensor data.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "gguf/file.h"
#include "ops/rope.h"

namespace hwtv::model {

// How the position embedding is stretched beyond the trained context.  Llama-3's own scaling comes
// as a tensor of factors (`rope_freqs.weight`) under `none`.
enum class RopeScaling { none, linear, yarn, longrope };
std::string_view rope_scaling_name(RopeScaling scaling);

// How a text's one embedding is made of those of its tokens: the file's choice.
enum class Pooling {
  none,
  mean,
  cls,   // the first token's
  last,  // the last token's
  rank,  // classes of the first token: a reranker
};

struct ModelConfig {
  std::string architecture;  // "llama"
  std::string name;          // as the file calls the model; may be empty
  int64_t n_layers = 0;
  int64_t model_dim = 0;  // width of the residual stream
  int64_t ffn_dim = 0;    // width inside the feed-forward network
  int64_t n_heads = 0;    // of queries; a multiple of n_kv_heads
  int64_t n_kv_heads = 0;
  int64_t head_dim = 0;            // of a query and a key
  int64_t value_dim = 0;           // of a value
  int64_t vocab_size = 0;          // rows of the token embedding
  int64_t context_tokens_max = 0;  // trained for, any scaling included
  float norm_eps = 0;
  bool causal = true;         // a token sees those before it; false: all of the sequence
  int64_t n_token_types = 0;  // an encoder's: rows that are added to the tokens'; 0: none
  std::optional<Pooling> pooling;
  RopeScaling rope_scaling = RopeScaling::none;
  // Complete but for `pairs`, which the architecture decides.  n_rotated <= head_dim.
  ops::RopeConfig rope;
  int64_t rope_original_context_tokens = 0;  // before any scaling
  int64_t n_experts = 0;                     // 0: a dense model
  int64_t n_experts_used = 0;                // of them, for each token
};

// Every value lies within bounds that make later products safe, and agrees with the others.
// Errors: corrupt_file (a key missing, of another type, impossible or at odds with another; names
// the key); unsupported (a setting outside what this program does; names it).
Result<ModelConfig> read_config(const gguf::File& file);

}  // namespace hwtv::model
