#include "model/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/check.h"
#include "model/classes.h"
#include "model/recorder.h"

namespace hwtv::model {
namespace {

using ops::ValueId;
using ops::WeightId;
using ops::WeightRole;

// The longest sequence that will be run.
int64_t context_tokens(const ModelConfig& config, const RecordOptions& options) {
  return options.context_tokens > 0 ? options.context_tokens : config.context_tokens_max;
}

class DecoderRecord {
 public:
  DecoderRecord(const Decoder& decoder, const ModelConfig& config, const gguf::File& file,
                const RecordOptions& options)
      : d_(decoder),
        c_(config),
        options_(options),
        r_(file, options.adapters),
        rope_factors_(read_rope_factors(options)) {
    CHECK(static_cast<int64_t>(d_.layers.size()) == c_.n_layers);
    for (const DecoderLayer& layer : d_.layers) kv_layers_.push_back(add_kv_layer(layer, options));
  }

  Result<ops::Program> record() && {
    const bool has_logits = options_.output == ops::OutputKind::logits;
    const bool tied = has_logits && !r_.has("output.weight");
    const WeightId embedding = r_.matrix("token_embd.weight", c_.vocab_size, c_.model_dim,
                                         tied ? WeightRole::tied_embedding : WeightRole::embedding);
    ValueId x = r_.embed(embedding, d_.embedding_scale);  // (n_tokens, model_dim), as every x below
    for (int32_t layer = 0; layer < c_.n_layers; ++layer) {
      x = r_.add(op_name(layer, "attn_residual"), attention(layer, x), x);
      // Only rows whose logits are asked for go through the last feed-forward network.
      if (layer == c_.n_layers - 1) x = r_.select_outputs(x);
      x = r_.add(op_name(layer, "ffn_residual"), feed_forward(layer, x), x);
    }
    x = r_.rms_norm("output_norm", x, norm("output_norm.weight", c_.model_dim), c_.norm_eps);
    if (!has_logits) {
      r_.skip("output.weight");
      record_embeddings(x, c_, options_, r_);
      return std::move(r_).finish();
    }
    for (const char* kind : {"weight", "bias"}) r_.skip(fmt::format("cls.output.{}", kind));
    const WeightId output =
        tied ? embedding
             : r_.matrix("output.weight", c_.vocab_size, c_.model_dim, WeightRole::output);
    ValueId logits = r_.matmul("logits", x, output);  // (n_outputs, vocab_size)
    if (d_.logit_softcap > 0) logits = r_.softcap("logit_softcap", logits, d_.logit_softcap);
    r_.program().outputs.push_back({ops::OutputKind::logits, logits});
    return std::move(r_).finish();
  }

 private:
  // Layers that see equally far share a kv_group.  A window that no sequence outgrows is none.
  KvLayer add_kv_layer(const DecoderLayer& layer, const RecordOptions& options) {
    const bool is_whole = layer.window_tokens >= context_tokens(c_, options);
    const int64_t window_tokens = is_whole ? 0 : layer.window_tokens;
    std::vector<ops::KvGroup>& groups = r_.program().kv_groups;
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const ops::KvGroup& group) {
      return group.window_tokens == window_tokens;
    });
    const auto index = static_cast<int32_t>(found - groups.begin());
    if (found == groups.end())
      groups.push_back({.n_kv_heads = c_.n_kv_heads,
                        .head_dim = c_.head_dim,
                        .value_dim = c_.value_dim,
                        .window_tokens = window_tokens});
    return {index, groups[static_cast<size_t>(index)].n_layers++};
  }

  ValueId attention(int32_t layer, ValueId x) {
    const DecoderLayer& kind = d_.layers[static_cast<size_t>(layer)];
    const KvLayer kv = kv_layers_[static_cast<size_t>(layer)];
    x = norm_by(layer, "attn_norm", x, c_.model_dim);
    auto [q, k, v] = d_.is_fused ? fused_qkv(layer, x) : qkv(layer, x);
    if (d_.has_qk_norm) {
      q = norm_by(layer, "attn_q_norm", q, c_.head_dim);
      k = norm_by(layer, "attn_k_norm", k, c_.head_dim);
    }
    if (kind.q_rope)
      q = r_.rope(op_name(layer, "rope_q"), q, rope_factors_, c_.head_dim, *kind.q_rope);
    if (kind.k_rope)
      k = r_.rope(op_name(layer, "rope_k"), k, rope_factors_, c_.head_dim, *kind.k_rope);
    r_.kv_write(op_name(layer, "kv_write"), k, v, kv);
    const WeightId sinks =
        d_.has_sinks ? r_.vector(tensor_name(layer, "attn_sinks"), c_.n_heads, WeightRole::sinks)
                     : ops::kNoWeight;
    x = r_.attention(
        op_name(layer, "attention"), q, kv, c_.n_heads,
        {.scale = d_.attention_scale, .softcap = d_.attention_softcap, .sinks = sinks});
    x = linear(layer, "attn_output", x, c_.model_dim);
    return d_.has_post_norms ? norm_by(layer, "post_attention_norm", x, c_.model_dim) : x;
  }

  struct Qkv {
    ValueId q;  // (n_tokens, n_heads * head_dim)
    ValueId k;  // (n_tokens, n_kv_heads * head_dim)
    ValueId v;  // (n_tokens, n_kv_heads * value_dim)
  };
  Qkv qkv(int32_t layer, ValueId x) {
    const bool biased = d_.needs_qkv_bias;
    const ValueId q = linear(layer, "attn_q", x, c_.n_heads * c_.head_dim, biased);
    const ValueId k = linear(layer, "attn_k", x, c_.n_kv_heads * c_.head_dim, biased);
    return {q, k, linear(layer, "attn_v", x, c_.n_kv_heads * c_.value_dim, biased)};
  }
  Qkv fused_qkv(int32_t layer, ValueId x) {
    const int64_t q_width = c_.n_heads * c_.head_dim;
    const int64_t k_width = c_.n_kv_heads * c_.head_dim;
    const int64_t v_width = c_.n_kv_heads * c_.value_dim;
    StackedRows rows{tensor_name(layer, "attn_qkv"), q_width + k_width + v_width};
    const ValueId q = r_.matmul_next(rows, op_name(layer, "attn_q"), x, q_width);
    const ValueId k = r_.matmul_next(rows, op_name(layer, "attn_k"), x, k_width);
    return {q, k, r_.matmul_next(rows, op_name(layer, "attn_v"), x, v_width)};
  }

  ValueId feed_forward(int32_t layer, ValueId x) {
    x = norm_by(layer, d_.ffn_norm, x, c_.model_dim);
    if (d_.experts) return experts(layer, *d_.experts, x);
    auto [gate, up] = d_.is_fused ? fused_gate_up(layer, x) : gate_up(layer, x);
    x = r_.glu(op_name(layer, "ffn_glu"), gate, up, d_.activation);
    x = linear(layer, "ffn_down", x, c_.model_dim);
    return d_.has_post_norms ? norm_by(layer, "post_ffw_norm", x, c_.model_dim) : x;
  }

  struct GateUp {
    ValueId gate, up;  // (rows, ffn_dim)
  };
  GateUp gate_up(int32_t layer, ValueId x) {
    const ValueId gate = linear(layer, "ffn_gate", x, c_.ffn_dim);
    return {gate, linear(layer, "ffn_up", x, c_.ffn_dim)};
  }
  GateUp fused_gate_up(int32_t layer, ValueId x) {
    StackedRows rows{tensor_name(layer, "ffn_up"), 2 * c_.ffn_dim};
    const ValueId gate = r_.matmul_next(rows, op_name(layer, "ffn_gate"), x, c_.ffn_dim);
    return {gate, r_.matmul_next(rows, op_name(layer, "ffn_up"), x, c_.ffn_dim)};
  }

  // The router comes with the shared expert's products: they read the same row.
  ValueId experts(int32_t layer, const Experts& e, ValueId x) {
    const ValueId logits = linear(layer, "ffn_gate_inp", x, c_.n_experts, e.have_biases);
    ValueId shared = -1, shared_gate = -1;
    if (e.shared_ffn_dim > 0) {
      const ValueId gate = linear(layer, "ffn_gate_shexp", x, e.shared_ffn_dim);
      const ValueId up = linear(layer, "ffn_up_shexp", x, e.shared_ffn_dim);
      shared_gate = r_.matmul(
          op_name(layer, "ffn_gate_inp_shexp"), x,
          r_.vector(tensor_name(layer, "ffn_gate_inp_shexp"), c_.model_dim, WeightRole::matrix));
      shared = r_.glu(op_name(layer, "ffn_glu_shexp"), gate, up, d_.activation);
    }
    const ValueId shares = r_.route(op_name(layer, "ffn_route"), logits,
                                    {.logits = -1,
                                     .n_used = c_.n_experts_used,
                                     .routing = e.routing,
                                     .normalized = e.normalized,
                                     .scale = e.scale,
                                     .out = -1});
    const ValueId gate = by_expert(layer, "ffn_gate_exps", x, shares, e.ffn_dim, c_.model_dim);
    const ValueId up = by_expert(layer, "ffn_up_exps", x, shares, e.ffn_dim, c_.model_dim);
    const ValueId slots = r_.glu(op_name(layer, "ffn_glu"), gate, up, d_.activation);
    const ValueId down = by_expert(layer, "ffn_down_exps", slots, shares, c_.model_dim, e.ffn_dim);
    const ValueId sum = r_.expert_sum(op_name(layer, "ffn_sum"), down, shares, c_.n_experts_used);
    if (shared < 0) return sum;
    shared = linear(layer, "ffn_down_shexp", shared, c_.model_dim);
    shared = r_.sigmoid_gate(op_name(layer, "ffn_gate_shared"), shared, shared_gate);
    return r_.add(op_name(layer, "ffn_all"), sum, shared);
  }

  ValueId by_expert(int32_t layer, std::string_view part, ValueId x, ValueId shares, int64_t n_out,
                    int64_t n_in) {
    const WeightId weight = r_.expert_matrices(tensor_name(layer, part), c_.n_experts, n_out, n_in);
    WeightId bias = ops::kNoWeight;
    if (d_.experts->have_biases)
      bias = r_.matrix(fmt::format("blk.{}.{}.bias", layer, part), c_.n_experts, n_out,
                       WeightRole::bias);
    return r_.expert_matmul(op_name(layer, part), x, shares, c_.n_experts_used, weight, bias);
  }

  // x . weight^T, and the bias where the file has one, or must.
  ValueId linear(int32_t layer, std::string_view part, ValueId x, int64_t n_out,
                 bool needs_bias = false) {
    const int64_t n_in = r_.program().value(x).width;
    const std::string bias_name = fmt::format("blk.{}.{}.bias", layer, part);
    const WeightId weight = r_.matrix(tensor_name(layer, part), n_out, n_in);
    const WeightId bias = needs_bias ? r_.vector(bias_name, n_out, WeightRole::bias)
                                     : r_.optional_vector(bias_name, n_out, WeightRole::bias);
    return r_.matmul(op_name(layer, part), x, weight, bias);
  }

  // RMSNorm over each `width` elements of a row.
  ValueId norm_by(int32_t layer, std::string_view part, ValueId x, int64_t width) {
    return r_.rms_norm(op_name(layer, part), x, norm(tensor_name(layer, part), width), c_.norm_eps);
  }

  WeightId norm(const std::string& name, int64_t width) {
    return r_.vector(name, width, WeightRole::norm);
  }

  // Llama-3's scaling, or the one of longrope's two sets that fits the context to be run.
  WeightId read_rope_factors(const RecordOptions& options) {
    const int64_t n_pairs = c_.rope.n_rotated / 2;
    const std::string long_factors = "rope_factors_long.weight";
    const std::string short_factors = "rope_factors_short.weight";
    // Not every converter writes the scaling's type beside the tensors.
    if (c_.rope_scaling != RopeScaling::longrope && !r_.has(long_factors))
      return r_.optional_vector("rope_freqs.weight", n_pairs, WeightRole::rope_factors);
    const bool is_long = context_tokens(c_, options) > c_.rope_original_context_tokens;
    r_.leave_out(is_long ? short_factors : long_factors, n_pairs);
    return r_.vector(is_long ? long_factors : short_factors, n_pairs, WeightRole::rope_factors);
  }

  const Decoder& d_;
  const ModelConfig& c_;
  const RecordOptions& options_;
  Recorder r_;
  const WeightId rope_factors_;
  std::vector<KvLayer> kv_layers_;  // by layer
};

// Experts would be tensors that dense layers do not read.
Result<void> check_dense(const ModelConfig& config) {
  if (config.n_experts == 0) return {};
  return fail(ErrorCode::unsupported,
              fmt::format("{} is a {} model with {} experts ({}.expert_count), and of this "
                          "architecture only dense models can be run",
                          config.name.empty() ? "this file" : config.name, config.architecture,
                          config.n_experts, config.architecture),
              fmt::format("use a dense model of the {} family", config.architecture));
}

Result<void> check_causal(const gguf::File& file, const ModelConfig& config) {
  if (config.causal) return {};
  return Metadata(file, config.architecture)
      .unsupported("attention.causal", "is false, and this architecture is run as a decoder");
}

}  // namespace

Decoder plain_decoder(const ModelConfig& config, ops::RopeConfig::Pairs pairs) {
  ops::RopeConfig rope = config.rope;
  rope.pairs = pairs;
  Decoder decoder;
  decoder.attention_scale = 1.0f / std::sqrt(static_cast<float>(config.head_dim));
  decoder.layers.assign(static_cast<size_t>(config.n_layers), {rope, rope});
  return decoder;
}

Result<void> add_windows(const Metadata& metadata, int64_t window_tokens, int64_t interval,
                         Decoder& decoder) {
  constexpr std::string_view kPattern = "attention.sliding_window_pattern";
  const auto n_layers = static_cast<int64_t>(decoder.layers.size());
  HWTV_TRY(const std::optional<std::vector<bool>> flags,
           metadata.find_layer_flags(kPattern, n_layers));
  if (!flags) {
    HWTV_TRY(interval, metadata.count_or(kPattern, interval));
  }
  for (int64_t layer = 0; layer < n_layers; ++layer) {
    const auto at = static_cast<size_t>(layer);
    if (flags ? (*flags)[at] : layer % interval < interval - 1)
      decoder.layers[at].window_tokens = window_tokens;
  }
  return {};
}

Result<Experts> read_experts(const gguf::File& file, const ModelConfig& config, Experts family) {
  const Metadata metadata(file, config.architecture);
  if (config.n_experts == 0) return metadata.corrupt("expert_count", "is missing or 0");
  HWTV_TRY(family.ffn_dim, metadata.count_or("expert_feed_forward_length", config.ffn_dim));
  if (family.shared_ffn_dim > 0) {
    HWTV_TRY(family.shared_ffn_dim,
             metadata.count_or("expert_shared_feed_forward_length", family.shared_ffn_dim));
  }
  HWTV_TRY(const int64_t gating, metadata.count_or("expert_gating_func", 0, {.min = 0}));
  if (gating > 3)
    return metadata.unsupported(
        "expert_gating_func",
        fmt::format("is {}; supported are 1 (softmax), 2 (sigmoid) and 3 (softmax of the chosen)",
                    gating));
  if (gating > 0) family.routing = gating == 2 ? ops::Routing::sigmoid : ops::Routing::softmax;
  HWTV_TRY(family.normalized,
           metadata.flag_or("expert_weights_norm", family.normalized || gating == 3));
  HWTV_TRY(const double scale, metadata.number_or("expert_weights_scale", 1, {1e-6, 1e6}));
  family.scale = static_cast<float>(scale);
  return family;
}

Result<ops::Program> record_decoder(const Decoder& decoder, const ModelConfig& config,
                                    const gguf::File& file, const RecordOptions& options) {
  if (!decoder.experts) HWTV_TRY_VOID(check_dense(config));
  HWTV_TRY_VOID(check_causal(file, config));
  HWTV_TRY_VOID(check_classes(file, config, options));
  return DecoderRecord(decoder, config, file, options).record();
}

}  // namespace hwtv::model
