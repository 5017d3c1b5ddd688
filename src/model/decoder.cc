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
    // Paged groups come first: what is counted by tokens is counted in the first group.
    kv_layers_.resize(d_.layers.size());
    for (const bool is_recurrent : {false, true})
      for (size_t i = 0; i < d_.layers.size(); ++i)
        if (d_.layers[i].is_recurrent == is_recurrent)
          kv_layers_[i] = is_recurrent ? add_state_layer() : add_kv_layer(d_.layers[i], options);
  }

  Result<ops::Program> record() && {
    const bool has_logits = options_.output == ops::OutputKind::logits;
    const bool tied = has_logits && !r_.has("output.weight");
    const WeightId embedding = r_.matrix("token_embd.weight", c_.vocab_size, c_.model_dim,
                                         tied ? WeightRole::tied_embedding : WeightRole::embedding);
    ValueId x = r_.embed(embedding, d_.embedding_scale);  // (n_tokens, model_dim), as every x below
    for (int32_t layer = 0; layer < c_.n_layers; ++layer) {
      const bool is_recurrent = d_.layers[static_cast<size_t>(layer)].is_recurrent;
      const ValueId mixed = is_recurrent ? delta_net(layer, x) : attention(layer, x);
      x = r_.add(op_name(layer, "attn_residual"), mixed, x);
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

  // Two groups of states: what convolutions have seen, in `conv_group_`, and the delta nets'.
  KvLayer add_state_layer() {
    std::vector<ops::KvGroup>& groups = r_.program().kv_groups;
    const DeltaNetShape& n = d_.delta_net;
    if (conv_group_ < 0) {
      conv_group_ = static_cast<int32_t>(groups.size());
      groups.push_back(
          {.kind = ops::KvGroup::Kind::state, .state_floats = (n.kernel - 1) * conv_width()});
      groups.push_back(
          {.kind = ops::KvGroup::Kind::state, .state_floats = n.n_heads * n.key_dim * n.value_dim});
    }
    ++groups[static_cast<size_t>(conv_group_)].n_layers;
    return {conv_group_ + 1, groups[static_cast<size_t>(conv_group_) + 1].n_layers++};
  }
  int64_t qk_width() const { return 2 * d_.delta_net.n_key_heads * d_.delta_net.key_dim; }
  int64_t delta_width() const { return d_.delta_net.n_heads * d_.delta_net.value_dim; }
  int64_t conv_width() const { return qk_width() + delta_width(); }

  ValueId delta_net(int32_t layer, ValueId x) {
    constexpr float kEps = 1e-6f;  // the family's own, whatever norm_eps is
    const DeltaNetShape& n = d_.delta_net;
    const KvLayer state = kv_layers_[static_cast<size_t>(layer)];
    x = norm_by(layer, "attn_norm", x, c_.model_dim);
    const ValueId qkv = linear(layer, "attn_qkv", x, conv_width());
    const ValueId gate = linear(layer, "attn_gate", x, delta_width());
    const ValueId gates = delta_gates(layer, x);
    const WeightId kernel = r_.matrix(tensor_name(layer, "ssm_conv1d"), conv_width(), n.kernel,
                                      WeightRole::convolution);
    const ValueId seen =
        r_.causal_conv(op_name(layer, "ssm_conv1d"), qkv, kernel, {conv_group_, state.layer});
    ValueId qk = r_.pick(op_name(layer, "ssm_qk"), seen, 0, qk_width(), conv_width());
    qk = r_.l2_norm(op_name(layer, "ssm_qk_norm"), qk, n.key_dim, kEps);
    const ValueId v =
        r_.pick(op_name(layer, "ssm_v"), seen, qk_width(), delta_width(), conv_width());
    x = r_.delta_net(op_name(layer, "delta_net"), state,
                     {.qk = qk,
                      .v = v,
                      .gates = gates,
                      .kv_group = -1,
                      .layer = -1,
                      .n_heads = n.n_heads,
                      .n_key_heads = n.n_key_heads,
                      .interleaved = n.interleaved,
                      .scale = 1.0f / std::sqrt(static_cast<float>(n.key_dim)),
                      .out = -1});
    x = norm_by(layer, "ssm_norm", x, n.value_dim);
    x = r_.glu(op_name(layer, "ssm_glu"), gate, x, ops::Activation::silu);
    return linear(layer, "ssm_out", x, c_.model_dim);
  }

  ValueId delta_gates(int32_t layer, ValueId x) {
    const DeltaNetShape& n = d_.delta_net;
    ValueId beta = -1, alpha = -1;
    if (n.has_joint_gates) {
      const int64_t shared = n.n_heads / n.n_key_heads;
      const ValueId both = linear(layer, "ssm_ba", x, 2 * n.n_heads);
      beta = r_.pick(op_name(layer, "ssm_beta"), both, 0, shared, 2 * shared);
      alpha = r_.pick(op_name(layer, "ssm_alpha"), both, shared, shared, 2 * shared);
    } else {
      beta = linear(layer, "ssm_beta", x, n.n_heads);
      alpha = linear(layer, "ssm_alpha", x, n.n_heads);
    }
    const WeightId a = r_.vector(fmt::format("blk.{}.ssm_a", layer), n.n_heads, WeightRole::bias);
    const WeightId dt_bias =
        r_.vector(fmt::format("blk.{}.ssm_dt.bias", layer), n.n_heads, WeightRole::bias);
    return r_.delta_gates(op_name(layer, "ssm_gates"), alpha, beta, a, dt_bias);
  }

  ValueId attention(int32_t layer, ValueId x) {
    const DecoderLayer& kind = d_.layers[static_cast<size_t>(layer)];
    const KvLayer kv = kv_layers_[static_cast<size_t>(layer)];
    x = norm_by(layer, "attn_norm", x, c_.model_dim);
    auto [q, k, v, gate] = d_.is_fused ? fused_qkv(layer, x) : qkv(layer, x);
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
    if (d_.has_gate) x = r_.sigmoid_gate(op_name(layer, "attn_gated"), x, gate);
    x = linear(layer, "attn_output", x, c_.model_dim);
    return d_.has_post_norms ? norm_by(layer, "post_attention_norm", x, c_.model_dim) : x;
  }

  struct Qkv {
    ValueId q;          // (n_tokens, n_heads * head_dim)
    ValueId k;          // (n_tokens, n_kv_heads * head_dim)
    ValueId v;          // (n_tokens, n_kv_heads * value_dim)
    ValueId gate = -1;  // (n_tokens, n_heads * head_dim)
  };
  Qkv qkv(int32_t layer, ValueId x) {
    const bool biased = d_.needs_qkv_bias;
    const int64_t q_width = (d_.has_gate ? 2 : 1) * c_.n_heads * c_.head_dim;
    ValueId q = linear(layer, "attn_q", x, q_width, biased);
    const ValueId k = linear(layer, "attn_k", x, c_.n_kv_heads * c_.head_dim, biased);
    const ValueId v = linear(layer, "attn_v", x, c_.n_kv_heads * c_.value_dim, biased);
    if (!d_.has_gate) return {q, k, v};
    const int64_t both = 2 * c_.head_dim;
    const ValueId gate = r_.pick(op_name(layer, "attn_gate"), q, c_.head_dim, c_.head_dim, both);
    q = r_.pick(op_name(layer, "attn_query"), q, 0, c_.head_dim, both);
    return {q, k, v, gate};
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
  int32_t conv_group_ = -1;         // of all recurrent layers' convolutions
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

// Whether a layer is of the kind that a file flags, or that all are but each `interval`th.
bool follows_pattern(const std::optional<std::vector<bool>>& flags, int64_t interval,
                     int64_t layer) {
  return flags ? (*flags)[static_cast<size_t>(layer)] : layer % interval < interval - 1;
}

// What the delta nets are, and which layers: all but each fourth, or as the file has it.
Result<void> read_delta_nets(const Metadata& metadata, Decoder& decoder) {
  constexpr int64_t kInterval = 4;
  DeltaNetShape& net = decoder.delta_net;
  HWTV_TRY(const int64_t n_guessing, metadata.count_or("nextn_predict_layers", 0, {.min = 0}));
  if (n_guessing > 0)
    return metadata.unsupported(
        "nextn_predict_layers",
        fmt::format("is {}: layers that guess further tokens are not run; convert without them",
                    n_guessing));
  HWTV_TRY(net.kernel, metadata.count("ssm.conv_kernel", {2, 1 << 10}));
  HWTV_TRY(net.key_dim, metadata.count("ssm.state_size", {1, 1 << 12}));
  HWTV_TRY(net.n_key_heads, metadata.count("ssm.group_count", {1, 1 << 12}));
  HWTV_TRY(net.n_heads, metadata.count("ssm.time_step_rank", {1, 1 << 12}));
  HWTV_TRY(const int64_t width, metadata.count("ssm.inner_size"));
  if (net.n_heads % net.n_key_heads != 0)
    return metadata.corrupt("ssm.time_step_rank", fmt::format("is {}, no multiple of {} groups",
                                                              net.n_heads, net.n_key_heads));
  if (width % net.n_heads != 0)
    return metadata.corrupt("ssm.inner_size",
                            fmt::format("is {}, which {} heads cannot share", width, net.n_heads));
  net.value_dim = width / net.n_heads;
  const auto n_layers = static_cast<int64_t>(decoder.layers.size());
  HWTV_TRY(const std::optional<std::vector<bool>> flags,
           metadata.find_layer_flags("attention.recurrent_layers", n_layers));
  HWTV_TRY(const int64_t interval, metadata.count_or("full_attention_interval", kInterval));
  for (int64_t layer = 0; layer < n_layers; ++layer) {
    decoder.layers[static_cast<size_t>(layer)].is_recurrent =
        follows_pattern(flags, interval, layer);
  }
  return {};
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
    if (follows_pattern(flags, interval, layer))
      decoder.layers[static_cast<size_t>(layer)].window_tokens = window_tokens;
  }
  return {};
}

Result<Decoder> delta_net_decoder(const ModelConfig& config, const Metadata& metadata) {
  Decoder decoder = plain_decoder(config, ops::RopeConfig::Pairs::halves);
  decoder.has_qk_norm = true;
  decoder.has_gate = true;
  decoder.ffn_norm = "post_attention_norm";
  HWTV_TRY_VOID(read_delta_nets(metadata, decoder));
  return decoder;
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
  const Metadata metadata(file, config.architecture);
  if (decoder.has_gate && config.head_dim != config.value_dim)
    return metadata.corrupt(
        "attention.value_length",
        fmt::format("is {}, and its gates have {} elements", config.value_dim, config.head_dim));
  const auto is_recurrent = [](const DecoderLayer& layer) { return layer.is_recurrent; };
  if (std::all_of(decoder.layers.begin(), decoder.layers.end(), is_recurrent))
    return metadata.unsupported("attention.recurrent_layers",
                                "leaves no layer of attention, and one is needed");
  return DecoderRecord(decoder, config, file, options).record();
}

}  // namespace hwtv::model
