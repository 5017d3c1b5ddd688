// config.json of a Hugging Face folder, checked: the numbers that shapes and metadata follow from.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "transform/hf_family.h"

namespace hwtv::transform {

// How positions turn queries and keys.  What a kind has no use for is not set.
struct HfRope {
  std::string kind = "default";  // linear, dynamic, yarn, llama3, longrope
  double theta = 0;
  double rotated_share = 1;  // of a head
  std::optional<double> factor;
  std::optional<int64_t> original_context_tokens;
  std::optional<double> low_frequency_factor, high_frequency_factor;                   // llama3
  std::optional<double> extrapolation_factor, attention_factor, beta_fast, beta_slow;  // yarn
  std::vector<float> long_factors, short_factors;                                      // longrope
};

struct HfConfig {
  const HfFamily* family;
  int64_t n_layers, model_dim, ffn_dim, n_heads, n_kv_heads, head_dim;
  int64_t context_tokens, vocab_size;
  int64_t sliding_window;  // 0: none
  double norm_eps;
  bool is_tied;
  bool has_attention_bias, has_mlp_bias;
  bool has_head_dim;  // config.json tells it
  std::optional<double> final_logit_softcap;
  HfRope rope;
  std::optional<double> local_rope_theta;      // of the layers with a sliding window
  std::map<std::string, int64_t> special_ids;  // "bos": 1; as config.json alone has them
  std::string name;                            // _name_or_path; may be empty
  std::vector<std::string> notes;              // what the GGUF file cannot say
};

// Errors: io; corrupt_file (a number that is missing, of another type or out of range, by name);
// unsupported (an architecture, an activation, a rope kind, a quantized checkpoint, by name with
// those that are known).
Result<HfConfig> read_hf_config(const std::string& folder);

}  // namespace hwtv::transform
