#include "model/config.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "model/metadata.h"

namespace hwtv::model {
namespace {

constexpr NumberBounds kAnyFactor{0.0, 1e6};

// The growth of the magnitude with the stretch [Peng et al. 2023, eq. 22].
double yarn_magnitude(double factor, double multiplier) {
  return factor <= 1.0 ? 1.0 : 0.1 * multiplier * std::log(factor) + 1.0;
}

Result<RopeScaling> read_rope_scaling(const Metadata& metadata) {
  HWTV_TRY(const std::optional<std::string_view> type, metadata.find_string("rope.scaling.type"));
  // Files of before 2023-11 give a factor without a type.
  if (!type || *type == "linear") return RopeScaling::linear;
  if (*type == "none") return RopeScaling::none;
  if (*type == "yarn") return RopeScaling::yarn;
  if (*type == "longrope") return RopeScaling::longrope;
  return metadata.unsupported(
      "rope.scaling.type",
      fmt::format("is \"{}\"; supported are none, linear, yarn and longrope", *type));
}

// How many times longer the positions may grow; 1: not stretched.
Result<double> read_rope_factor(const Metadata& metadata) {
  HWTV_TRY(std::optional<double> factor, metadata.find_number("rope.scaling.factor", kAnyFactor));
  if (!factor) {
    HWTV_TRY(factor, metadata.find_number("rope.scale_linear", kAnyFactor));  // the older name
  }
  return factor.value_or(0) == 0 ? 1.0 : *factor;
}

// yarn_attn_factor replaces the whole magnitude, as `attention_factor` does in transformers, from
// which converters copy it; rope.scaling.attn_factor multiplies what the other keys give.
Result<void> read_yarn(const Metadata& metadata, double factor, ops::RopeConfig& rope) {
  HWTV_TRY(const double mix, metadata.number_or("rope.scaling.yarn_ext_factor", -1, {-1e6, 1.0}));
  rope.yarn_mix = mix < 0 ? 1.0 : mix;  // negative: not set
  HWTV_TRY(rope.yarn_beta_fast, metadata.number_or("rope.scaling.yarn_beta_fast", 32, {1e-3, 1e6}));
  HWTV_TRY(rope.yarn_beta_slow, metadata.number_or("rope.scaling.yarn_beta_slow", 1, {1e-3, 1e6}));
  HWTV_TRY(const double multiplier,
           metadata.number_or("rope.scaling.yarn_log_multiplier", 0, kAnyFactor));
  HWTV_TRY(const std::optional<double> complete,
           metadata.find_number("rope.scaling.yarn_attn_factor", kAnyFactor));
  rope.magnitude = yarn_magnitude(factor, 1.0);
  if (multiplier != 0) rope.magnitude /= yarn_magnitude(factor, multiplier);
  if (complete) rope.magnitude = *complete;
  if (rope.theta <= 1)
    return metadata.corrupt("rope.freq_base",
                            fmt::format("is {}; yarn needs more than 1", rope.theta));
  return {};
}

Result<void> read_rope(const Metadata& metadata, ModelConfig& config) {
  ops::RopeConfig& rope = config.rope;
  HWTV_TRY(rope.n_rotated,
           metadata.count_or("rope.dimension_count", config.head_dim, {2, config.head_dim}));
  if (rope.n_rotated % 2 != 0)
    return metadata.corrupt("rope.dimension_count",
                            fmt::format("is {}, expected an even number", rope.n_rotated));
  HWTV_TRY(rope.theta, metadata.number_or("rope.freq_base", 10000.0, {1e-3, 1e12}));
  HWTV_TRY(config.rope_original_context_tokens,
           metadata.count_or("rope.scaling.original_context_length", config.context_tokens_max,
                             {1, int64_t{1} << 40}));
  HWTV_TRY(config.rope_scaling, read_rope_scaling(metadata));
  HWTV_TRY(const double factor, read_rope_factor(metadata));
  if (config.rope_scaling == RopeScaling::linear && factor == 1.0)
    config.rope_scaling = RopeScaling::none;
  if (config.rope_scaling != RopeScaling::none) rope.frequency_scale = 1.0 / factor;
  if (config.rope_scaling == RopeScaling::yarn) {
    rope.yarn_original_context_tokens = config.rope_original_context_tokens;
    HWTV_TRY_VOID(read_yarn(metadata, factor, rope));
  }
  HWTV_TRY(const double attention_factor,
           metadata.number_or("rope.scaling.attn_factor", 1.0, kAnyFactor));
  rope.magnitude *= attention_factor;
  return {};
}

Result<void> read_attention(const Metadata& metadata, ModelConfig& config) {
  constexpr CountBounds kHeads{1, 1 << 16};
  HWTV_TRY(config.n_heads, metadata.count("attention.head_count", kHeads));
  HWTV_TRY(config.n_kv_heads, metadata.count_or("attention.head_count_kv", config.n_heads, kHeads));
  if (config.n_heads % config.n_kv_heads != 0)
    return metadata.corrupt("attention.head_count_kv",
                            fmt::format("is {}, expected a divisor of the {} heads",
                                        config.n_kv_heads, config.n_heads));
  constexpr CountBounds kHeadDim{1, 1 << 14};
  const int64_t even_share = config.model_dim / config.n_heads;
  HWTV_TRY(config.head_dim, metadata.count_or("attention.key_length", even_share, kHeadDim));
  HWTV_TRY(config.value_dim, metadata.count_or("attention.value_length", even_share, kHeadDim));
  if (config.head_dim < 2 || config.value_dim < 1)
    return metadata.corrupt("attention.head_count",
                            fmt::format("is {}, too many for an embedding_length of {}",
                                        config.n_heads, config.model_dim));
  HWTV_TRY(config.causal, metadata.flag_or("attention.causal", true));
  return {};
}

// Models have norms of one kind: RMSNorm, or the encoders' LayerNorm.
Result<void> read_norm(const Metadata& metadata, ModelConfig& config) {
  constexpr NumberBounds kEps{0, 1};
  HWTV_TRY(std::optional<double> eps, metadata.find_number("attention.layer_norm_epsilon", kEps));
  if (!eps) {
    HWTV_TRY(eps, metadata.number("attention.layer_norm_rms_epsilon", kEps));
  }
  config.norm_eps = static_cast<float>(*eps);
  return {};
}

Result<void> read_pooling(const gguf::File& file, const Metadata& metadata, ModelConfig& config) {
  HWTV_TRY(const std::optional<int64_t> pooling, metadata.find_count("pooling_type", {0, 4}));
  if (pooling) config.pooling = static_cast<Pooling>(*pooling);
  HWTV_TRY(const std::optional<int64_t> n_types,
           file.get<int64_t>("tokenizer.ggml.token_type_count"));
  config.n_token_types = file.find_tensor("token_types.weight") ? n_types.value_or(1) : 0;
  if (config.n_token_types < 0 || config.n_token_types > (1 << 16))
    return fail(ErrorCode::corrupt_file,
                fmt::format("tokenizer.ggml.token_type_count is {}", config.n_token_types),
                kFetchAgain);
  return {};
}

Result<void> read_experts(const Metadata& metadata, ModelConfig& config) {
  HWTV_TRY(config.n_experts, metadata.count_or("expert_count", 0, {0, 1 << 16}));
  HWTV_TRY(config.n_experts_used, metadata.count_or("expert_used_count", 0, {0, config.n_experts}));
  if (config.n_experts > 0 && config.n_experts_used == 0)
    return metadata.corrupt("expert_used_count",
                            fmt::format("is 0 or missing, of {} experts", config.n_experts));
  return {};
}

// The embedding's rows, the tokenizer's list and the key are three witnesses of one number.
Result<void> read_vocab_size(const gguf::File& file, const Metadata& metadata,
                             ModelConfig& config) {
  HWTV_TRY(const std::optional<int64_t> declared, metadata.find_count("vocab_size"));
  const gguf::Value* tokens = file.find("tokenizer.ggml.tokens");
  const gguf::TensorInfo* embedding = file.find_tensor("token_embd.weight");
  std::optional<int64_t> size;
  if (embedding != nullptr && embedding->shape.size() == 2) size = embedding->shape[1];
  if (!size) size = declared;
  if (!size && tokens != nullptr) size = tokens->n_elements();
  if (!size) return metadata.corrupt("vocab_size", "is missing, and so is a token list");
  if (declared && *declared != *size)
    return metadata.corrupt(
        "vocab_size", fmt::format("is {}, the token embedding has {} rows", *declared, *size));
  if (tokens != nullptr && tokens->n_elements() != *size)
    return fail(ErrorCode::corrupt_file,
                fmt::format("tokenizer.ggml.tokens has {} tokens, the token embedding {} rows",
                            tokens->n_elements(), *size),
                kFetchAgain);
  config.vocab_size = *size;
  return {};
}

}  // namespace

std::string_view rope_scaling_name(RopeScaling scaling) {
  switch (scaling) {
    case RopeScaling::none:
      return "none";
    case RopeScaling::linear:
      return "linear";
    case RopeScaling::yarn:
      return "yarn";
    case RopeScaling::longrope:
      return "longrope";
  }
  return "";
}

Result<ModelConfig> read_config(const gguf::File& file) {
  ModelConfig config;
  HWTV_TRY(const std::string_view architecture,
           file.require<std::string_view>("general.architecture"));
  config.architecture = architecture;
  HWTV_TRY(const std::optional<std::string_view> name, file.get<std::string_view>("general.name"));
  config.name = name.value_or("");

  const Metadata metadata(file, architecture);
  // A layer has several tensors, so a count beyond the tensors is refused before it costs time.
  const auto n_tensors = static_cast<int64_t>(file.tensors().size());
  HWTV_TRY(config.n_layers, metadata.count("block_count", {1, n_tensors}));
  HWTV_TRY(config.model_dim, metadata.count("embedding_length"));
  HWTV_TRY(config.ffn_dim, metadata.count("feed_forward_length"));
  HWTV_TRY(config.context_tokens_max, metadata.count("context_length", {1, int64_t{1} << 40}));
  HWTV_TRY_VOID(read_norm(metadata, config));
  HWTV_TRY_VOID(read_pooling(file, metadata, config));
  HWTV_TRY_VOID(read_attention(metadata, config));
  HWTV_TRY_VOID(read_rope(metadata, config));
  HWTV_TRY_VOID(read_experts(metadata, config));
  HWTV_TRY_VOID(read_vocab_size(file, metadata, config));
  return config;
}

}  // namespace hwtv::model
