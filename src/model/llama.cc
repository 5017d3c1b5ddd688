// The llama architecture (Llama 1 to 3, SmolLM, Mistral, and what is built alike): RMSNorm, rotary
// positions on adjacent pairs, grouped queries, SwiGLU.  Source: Touvron et al. 2023; the tensor and
// key names are those of GGUF files.
#include <fmt/format.h>

#include <cmath>

#include "model/architectures.h"
#include "model/recorder.h"

namespace hwtv::model {
namespace {

using ops::ValueId;
using ops::WeightId;
using ops::WeightRole;

class Llama {
 public:
  Llama(const ModelConfig& config, const gguf::File& file, const RecordOptions& options)
      : c_(config), r_(file), rope_factors_(read_rope_factors(options)) {
    r_.program().kv_groups.push_back({.n_layers = static_cast<int32_t>(c_.n_layers),
                                      .n_kv_heads = c_.n_kv_heads,
                                      .head_dim = c_.head_dim,
                                      .value_dim = c_.value_dim});
  }

  Result<ops::Program> record() && {
    const bool tied = !r_.has("output.weight");
    const WeightId embedding =
        r_.matrix("token_embd.weight", c_.vocab_size, c_.model_dim,
                  tied ? WeightRole::tied_embedding : WeightRole::embedding);
    ValueId x = r_.embed(embedding);  // (n_tokens, model_dim), as every x below
    for (int32_t layer = 0; layer < c_.n_layers; ++layer) {
      x = r_.add(op(layer, "attn_residual"), attention(layer, x), x);
      // Only rows whose logits are asked for go through the last feed-forward network.
      if (layer == c_.n_layers - 1) x = r_.select_outputs(x);
      x = r_.add(op(layer, "ffn_residual"), feed_forward(layer, x), x);
    }
    x = r_.rms_norm("output_norm", x, norm("output_norm.weight"), c_.norm_eps);
    const WeightId output = tied ? embedding
                                 : r_.matrix("output.weight", c_.vocab_size, c_.model_dim,
                                             WeightRole::output);
    const ValueId logits = r_.matmul("logits", x, output);  // (n_outputs, vocab_size)
    r_.program().outputs.push_back({ops::OutputKind::logits, logits});
    return std::move(r_).finish();
  }

 private:
  ValueId attention(int32_t layer, ValueId x) {
    const int64_t q_width = c_.n_heads * c_.head_dim;
    const int64_t k_width = c_.n_kv_heads * c_.head_dim;
    const int64_t v_width = c_.n_kv_heads * c_.value_dim;
    const float scale = 1.0f / std::sqrt(static_cast<float>(c_.head_dim));
    x = r_.rms_norm(op(layer, "attn_norm"), x, norm(tensor(layer, "attn_norm")), c_.norm_eps);
    ValueId q = linear(layer, "attn_q", x, q_width);  // (n_tokens, n_heads * head_dim)
    ValueId k = linear(layer, "attn_k", x, k_width);  // (n_tokens, n_kv_heads * head_dim)
    ValueId v = linear(layer, "attn_v", x, v_width);  // (n_tokens, n_kv_heads * value_dim)
    q = r_.rope(op(layer, "rope_q"), q, rope_factors_, c_.head_dim, c_.rope);
    k = r_.rope(op(layer, "rope_k"), k, rope_factors_, c_.head_dim, c_.rope);
    r_.kv_write(op(layer, "kv_write"), k, v, layer);
    x = r_.attention(op(layer, "attention"), q, layer, c_.n_heads, scale);
    return linear(layer, "attn_output", x, c_.model_dim);
  }

  ValueId feed_forward(int32_t layer, ValueId x) {
    x = r_.rms_norm(op(layer, "ffn_norm"), x, norm(tensor(layer, "ffn_norm")), c_.norm_eps);
    const ValueId gate = linear(layer, "ffn_gate", x, c_.ffn_dim);
    const ValueId up = linear(layer, "ffn_up", x, c_.ffn_dim);
    x = r_.glu(op(layer, "ffn_glu"), gate, up, ops::Activation::silu);
    return linear(layer, "ffn_down", x, c_.model_dim);
  }

  // x . weight^T, and the bias where the file has one.
  ValueId linear(int32_t layer, std::string_view part, ValueId x, int64_t n_out) {
    const int64_t n_in = r_.program().value(x).width;
    const WeightId weight = r_.matrix(tensor(layer, part), n_out, n_in);
    const WeightId bias =
        r_.optional_vector(fmt::format("blk.{}.{}.bias", layer, part), n_out, WeightRole::bias);
    return r_.matmul(op(layer, part), x, weight, bias);
  }

  WeightId norm(const std::string& name) {
    return r_.vector(name, c_.model_dim, WeightRole::norm);
  }

  // Llama-3's scaling, or the one of longrope's two sets that fits the context to be run.
  WeightId read_rope_factors(const RecordOptions& options) {
    const int64_t n_pairs = c_.rope.n_rotated / 2;
    if (c_.rope_scaling != RopeScaling::longrope)
      return r_.optional_vector("rope_freqs.weight", n_pairs, WeightRole::rope_factors);
    const int64_t context =
        options.context_tokens > 0 ? options.context_tokens : c_.context_tokens_max;
    const std::string long_factors = "rope_factors_long.weight";
    const std::string short_factors = "rope_factors_short.weight";
    r_.ignore(long_factors);
    r_.ignore(short_factors);
    return r_.vector(context > c_.rope_original_context_tokens ? long_factors : short_factors,
                     n_pairs, WeightRole::rope_factors);
  }

  static std::string tensor(int32_t layer, std::string_view part) {
    return fmt::format("blk.{}.{}.weight", layer, part);
  }
  static std::string op(int32_t layer, std::string_view part) {
    return fmt::format("layer {} {}", layer, part);
  }

  const ModelConfig& c_;
  Recorder r_;
  const WeightId rope_factors_;
};

}  // namespace

Result<ops::Program> record_llama(const ModelConfig& config, const gguf::File& file,
                                  const RecordOptions& options) {
  if (config.n_experts > 0)
    return fail(ErrorCode::unsupported,
                fmt::format("{} is a llama model with {} experts (llama.expert_count), and only "
                            "dense llama models can be run",
                            config.name.empty() ? "this file" : config.name, config.n_experts),
                "use a dense model of the llama family");
  return Llama(config, file, options).record();
}

}  // namespace hwtv::model
