#include "model/encoder.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "model/classes.h"
#include "model/recorder.h"

namespace hwtv::model {
namespace {

using ops::ValueId;
using ops::WeightId;
using ops::WeightRole;

class EncoderRecord {
 public:
  EncoderRecord(const Encoder& encoder, const ModelConfig& config, const gguf::File& file,
                const RecordOptions& options)
      : e_(encoder), c_(config), options_(options), r_(file) {
    r_.program().kv_groups.push_back({.n_layers = static_cast<int32_t>(c_.n_layers),
                                      .n_kv_heads = c_.n_kv_heads,
                                      .head_dim = c_.head_dim,
                                      .value_dim = c_.value_dim});
  }

  Result<ops::Program> record() && {
    ValueId x = norm("token_embd_norm", "embedding_norm", embedding());
    for (int32_t layer = 0; layer < c_.n_layers; ++layer) {
      x = r_.add(op_name(layer, "attn_residual"), x, attention(layer, x));
      // Only rows that are asked for go through the last feed-forward network.
      if (layer == c_.n_layers - 1) x = r_.select_outputs(x);
      x = norm(layer, "attn_output_norm", x);
      x = r_.add(op_name(layer, "ffn_residual"), x, feed_forward(layer, x));
      x = norm(layer, "layer_output_norm", x);
    }
    record_embeddings(x, c_, options_, r_);
    return std::move(r_).finish();
  }

 private:
  // (n_tokens, model_dim), as every value below but those that say otherwise.
  ValueId embedding() {
    ValueId x = table("embedding", "token_embd.weight", c_.vocab_size, ops::EmbedBy::token);
    if (c_.n_token_types > 0)  // a text alone is of the first type
      x = r_.add("embedding and type", x,
                 table("type", "token_types.weight", c_.n_token_types, ops::EmbedBy::nothing));
    if (e_.has_position_table)
      x = r_.add(
          "embedding and position", x,
          table("position", "position_embd.weight", c_.context_tokens_max, ops::EmbedBy::position));
    return x;
  }
  ValueId table(const std::string& name, const std::string& tensor, int64_t n_rows,
                ops::EmbedBy by) {
    return r_.embed(name, r_.matrix(tensor, n_rows, c_.model_dim, WeightRole::embedding), by);
  }

  ValueId attention(int32_t layer, ValueId x) {
    auto [q, k, v] = qkv(layer, x);
    if (e_.rope) {
      q = r_.rope(op_name(layer, "rope_q"), q, ops::kNoWeight, c_.head_dim, *e_.rope);
      k = r_.rope(op_name(layer, "rope_k"), k, ops::kNoWeight, c_.head_dim, *e_.rope);
    }
    const KvLayer kv{0, layer};
    r_.kv_write(op_name(layer, "kv_write"), k, v, kv);
    const float scale = 1.0f / std::sqrt(static_cast<float>(c_.head_dim));
    x = r_.attention(op_name(layer, "attention"), q, kv, c_.n_heads,
                     {.scale = scale, .causal = c_.causal});
    return linear(layer, "attn_output", x, c_.model_dim);
  }

  struct Qkv {
    ValueId q;  // (n_tokens, n_heads * head_dim)
    ValueId k;  // (n_tokens, n_kv_heads * head_dim)
    ValueId v;  // (n_tokens, n_kv_heads * value_dim)
  };
  Qkv qkv(int32_t layer, ValueId x) {
    const int64_t q_width = c_.n_heads * c_.head_dim, k_width = c_.n_kv_heads * c_.head_dim;
    const int64_t v_width = c_.n_kv_heads * c_.value_dim;
    const std::string fused = tensor_name(layer, "attn_qkv");
    if (!r_.has(fused))
      return {linear(layer, "attn_q", x, q_width), linear(layer, "attn_k", x, k_width),
              linear(layer, "attn_v", x, v_width)};
    StackedRows rows{fused, q_width + k_width + v_width};
    const ValueId q = r_.matmul_next(rows, op_name(layer, "attn_q"), x, q_width);
    const ValueId k = r_.matmul_next(rows, op_name(layer, "attn_k"), x, k_width);
    return {q, k, r_.matmul_next(rows, op_name(layer, "attn_v"), x, v_width)};
  }

  ValueId feed_forward(int32_t layer, ValueId x) {
    if (e_.is_gated) {
      const ValueId gate = linear(layer, "ffn_gate", x, c_.ffn_dim);
      const ValueId up = linear(layer, "ffn_up", x, c_.ffn_dim);
      x = r_.glu(op_name(layer, "ffn_glu"), gate, up, e_.activation);
    } else {
      x = r_.activate(op_name(layer, "ffn_activation"), linear(layer, "ffn_up", x, c_.ffn_dim),
                      e_.activation);
    }
    return linear(layer, "ffn_down", x, c_.model_dim);
  }

  // x . weight^T, and the bias where the file has one.
  ValueId linear(int32_t layer, std::string_view part, ValueId x, int64_t n_out) {
    const int64_t n_in = r_.program().value(x).width;
    const WeightId weight = r_.matrix(tensor_name(layer, part), n_out, n_in);
    const WeightId bias =
        r_.optional_vector(fmt::format("blk.{}.{}.bias", layer, part), n_out, WeightRole::bias);
    return r_.matmul(op_name(layer, part), x, weight, bias);
  }

  ValueId norm(int32_t layer, std::string_view part, ValueId x) {
    return norm(fmt::format("blk.{}.{}", layer, part), op_name(layer, part), x);
  }
  ValueId norm(const std::string& tensor, const std::string& name, ValueId x) {
    const WeightId weight = r_.vector(tensor + ".weight", c_.model_dim, WeightRole::norm);
    const WeightId bias = r_.vector(tensor + ".bias", c_.model_dim, WeightRole::bias);
    return r_.layer_norm(name, x, weight, bias, c_.norm_eps);
  }

  const Encoder& e_;
  const ModelConfig& c_;
  const RecordOptions& options_;
  Recorder r_;
};

}  // namespace

Result<ops::Program> record_encoder(const Encoder& encoder, const ModelConfig& config,
                                    const gguf::File& file, const RecordOptions& options) {
  HWTV_TRY_VOID(check_classes(file, config, options));
  return EncoderRecord(encoder, config, file, options).record();
}

}  // namespace hwtv::model
