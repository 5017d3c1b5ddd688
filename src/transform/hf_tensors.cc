#include "transform/hf_tensors.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numbers>

#include "base/quoted.h"

namespace hwtv::transform {
namespace {

// One tensor that the checkpoint must hold.
struct Expected {
  std::string name;            // in the GGUF file
  std::vector<int64_t> shape;  // as safetensors have it: the contiguous size last
  int64_t n_halved_heads = 0;
  float addend = 0;
  bool is_found = false;
};

using ExpectedByName = std::map<std::string, Expected, std::less<>>;  // by the checkpoint's name

// Lists what a family's checkpoint holds.
class Expectation {
 public:
  explicit Expectation(const HfConfig& config) : c_(config), family_(*config.family) {
    matrix("model.embed_tokens", "token_embd", c_.vocab_size, c_.model_dim);
    norm("model.norm", "output_norm", c_.model_dim);
    if (!c_.is_tied) matrix("lm_head", "output", c_.vocab_size, c_.model_dim);
    for (int64_t layer = 0; layer < c_.n_layers; ++layer) {
      hf_ = fmt::format("model.layers.{}.", layer);
      gguf_ = fmt::format("blk.{}.", layer);
      norms();
      attention();
      feed_forward();
    }
  }

  ExpectedByName take() { return std::move(all_); }

 private:
  void norms() {
    norm("input_layernorm", "attn_norm", c_.model_dim);
    if (!family_.has_post_norms) return norm("post_attention_layernorm", "ffn_norm", c_.model_dim);
    norm("post_attention_layernorm", "post_attention_norm", c_.model_dim);
    norm("pre_feedforward_layernorm", "ffn_norm", c_.model_dim);
    norm("post_feedforward_layernorm", "post_ffw_norm", c_.model_dim);
  }

  void attention() {
    const int64_t n_q = c_.n_heads * c_.head_dim, n_kv = c_.n_kv_heads * c_.head_dim;
    const bool has_bias = c_.has_attention_bias;
    matrix("self_attn.o_proj", "attn_output", c_.model_dim, n_q, has_bias);
    if (family_.is_fused) {
      matrix("self_attn.qkv_proj", "attn_qkv", n_q + 2 * n_kv, c_.model_dim);
      return;
    }
    const bool has_qkv_bias = has_bias || family_.has_qkv_bias;
    const bool is_halved = family_.is_rope_halved;
    matrix("self_attn.q_proj", "attn_q", n_q, c_.model_dim, has_qkv_bias,
           is_halved ? c_.n_heads : 0);
    matrix("self_attn.k_proj", "attn_k", n_kv, c_.model_dim, has_qkv_bias,
           is_halved ? c_.n_kv_heads : 0);
    matrix("self_attn.v_proj", "attn_v", n_kv, c_.model_dim, has_qkv_bias);
    if (!family_.has_qk_norm) return;
    norm("self_attn.q_norm", "attn_q_norm", c_.head_dim);
    norm("self_attn.k_norm", "attn_k_norm", c_.head_dim);
  }

  void feed_forward() {
    const bool has_bias = c_.has_mlp_bias;
    matrix("mlp.down_proj", "ffn_down", c_.model_dim, c_.ffn_dim, has_bias);
    if (family_.is_fused) return matrix("mlp.gate_up_proj", "ffn_up", 2 * c_.ffn_dim, c_.model_dim);
    matrix("mlp.gate_proj", "ffn_gate", c_.ffn_dim, c_.model_dim, has_bias);
    matrix("mlp.up_proj", "ffn_up", c_.ffn_dim, c_.model_dim, has_bias);
  }

  void matrix(std::string_view hf, std::string_view gguf, int64_t n_out, int64_t n_in,
              bool has_bias = false, int64_t n_halved_heads = 0) {
    add(hf, gguf, ".weight",
        {.name = {}, .shape = {n_out, n_in}, .n_halved_heads = n_halved_heads});
    if (has_bias)
      add(hf, gguf, ".bias", {.name = {}, .shape = {n_out}, .n_halved_heads = n_halved_heads});
  }

  void norm(std::string_view hf, std::string_view gguf, int64_t width) {
    add(hf, gguf, ".weight",
        {.name = {}, .shape = {width}, .addend = family_.is_norm_shifted ? 1.0F : 0.0F});
  }

  void add(std::string_view hf, std::string_view gguf, std::string_view kind, Expected expected) {
    expected.name = fmt::format("{}{}{}", gguf_, gguf, kind);
    all_.emplace(fmt::format("{}{}{}", hf_, hf, kind), std::move(expected));
  }

  const HfConfig& c_;
  const HfFamily& family_;
  std::string hf_, gguf_;  // what a layer's names begin with
  ExpectedByName all_;
};

// A name without the words by which a model of several kinds of input wraps its text model.
std::string text_model_name(std::string name) {
  constexpr std::string_view kWrapper = "language_model.";
  const size_t at = name.find(kWrapper);
  return at == std::string::npos ? name : name.erase(at, kWrapper.size());
}

// Tables that a model computes by itself.
bool is_derived(std::string_view name) {
  return name.ends_with(".rotary_emb.inv_freq") || name.ends_with(".attention.bias") ||
         name.ends_with(".attention.masked_bias");
}

bool is_other_input(std::string_view name) {
  return name.find("vision") != std::string_view::npos ||
         name.find("projector") != std::string_view::npos;
}

// The divisors of llama3's rope scaling, one for each rotary pair, in F32 as they are trained with.
// Long waves are stretched by the factor, short ones stay, those between are mixed.
std::vector<float> llama3_factors(const HfConfig& config) {
  const HfRope& rope = config.rope;
  const auto theta = static_cast<float>(rope.theta);
  const auto factor = static_cast<float>(rope.factor.value_or(8));
  const double low = rope.low_frequency_factor.value_or(1);
  const double high = rope.high_frequency_factor.value_or(4);
  const auto original = static_cast<double>(*rope.original_context_tokens);
  std::vector<float> factors;
  for (int64_t i = 0; i < config.head_dim; i += 2) {
    const float exponent = static_cast<float>(i) / static_cast<float>(config.head_dim);
    const float frequency = 1.0F / std::pow(theta, exponent);
    const float wave = static_cast<float>(2 * std::numbers::pi) / frequency;
    if (wave < static_cast<float>(original / high)) {
      factors.push_back(1);
    } else if (wave > static_cast<float>(original / low)) {
      factors.push_back(factor);
    } else {
      const float share = (static_cast<float>(original) / wave - static_cast<float>(low)) /
                          static_cast<float>(high - low);
      factors.push_back(1.0F / ((1.0F - share) / factor + share));
    }
  }
  return factors;
}

PlannedTensor generated(std::string name, std::vector<float> values) {
  const auto n = static_cast<int64_t>(values.size());
  return {.name = std::move(name), .to = DType::F32, .shape = {n}, .values = std::move(values)};
}

Result<void> add_rope_tensors(const HfConfig& config, std::vector<PlannedTensor>& out) {
  const HfRope& rope = config.rope;
  const std::string_view architecture = config.family->architecture;
  const bool is_missing = (rope.kind == "llama3" && architecture != "llama") ||
                          (rope.kind == "longrope" && architecture != "phi3");
  if (is_missing)
    return fail(ErrorCode::unsupported,
                fmt::format("rope scaling {} in a model of {}: its GGUF form has no place for it",
                            rope.kind, architecture),
                "llama3 goes with llama, longrope with phi3");
  if (rope.kind == "llama3") out.push_back(generated("rope_freqs.weight", llama3_factors(config)));
  if (rope.kind != "longrope") return {};
  const auto n_rotated =
      static_cast<int64_t>(rope.rotated_share * static_cast<double>(config.model_dim)) /
      config.n_heads;
  const auto n_pairs = static_cast<size_t>(n_rotated / 2);
  if (rope.long_factors.size() != n_pairs || rope.short_factors.size() != n_pairs)
    return fail(
        ErrorCode::corrupt_file,
        fmt::format("config.json: {} long and {} short rope factors, {} rotary pairs need as "
                    "many of each",
                    rope.long_factors.size(), rope.short_factors.size(), n_pairs),
        "correct rope_scaling, as the model's page has it");
  out.push_back(generated("rope_factors_long.weight", rope.long_factors));
  out.push_back(generated("rope_factors_short.weight", rope.short_factors));
  return {};
}

DType type_of(const Expected& expected, DType type) {
  if (expected.shape.size() == 1) return DType::F32;
  const bool is_whole = expected.shape.back() % dtype_info(type).block_elements == 0;
  return is_whole ? type : DType::F16;
}

Result<PlannedTensor> plan_tensor(const CheckpointTensor& source, const Expected& expected,
                                  DType type) {
  const safetensors::TensorInfo& info = *source.info;
  if (info.shape != expected.shape)
    return fail(ErrorCode::corrupt_file,
                fmt::format("{}: tensor {} is {}, config.json makes it {}", source.file->path(),
                            quoted(info.name), safetensors::shape_text(info.shape),
                            safetensors::shape_text(expected.shape)),
                "config.json belongs to another model: fetch both again");
  if (!info.dtype)
    return fail(ErrorCode::unsupported,
                fmt::format("{}: tensor {} is of type {}", source.file->path(), quoted(info.name),
                            info.type),
                "convert the original in F32, F16 or BF16");
  return PlannedTensor{.name = expected.name,
                       .to = type_of(expected, type),
                       .shape = {expected.shape.rbegin(), expected.shape.rend()},
                       .source = source,
                       .n_halved_heads = expected.n_halved_heads,
                       .addend = expected.addend};
}

Result<void> check_all_found(const ExpectedByName& expected) {
  std::string first;
  int64_t n_missing = 0;
  for (const auto& [name, tensor] : expected)
    if (!tensor.is_found && n_missing++ == 0) first = name;
  if (n_missing == 0) return {};
  return fail(ErrorCode::corrupt_file,
              fmt::format("{} of {} tensors are missing, first {}", n_missing, expected.size(),
                          quoted(first)),
              "a part of the checkpoint is not there, or config.json is of another model");
}

}  // namespace

int64_t PlannedTensor::n_elements() const {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  return n;
}

Result<TensorPlan> plan_tensors(const HfConfig& config, const Checkpoint& checkpoint, DType type) {
  TensorPlan plan;
  HWTV_TRY_VOID(add_rope_tensors(config, plan.tensors));
  ExpectedByName expected = Expectation(config).take();
  int64_t n_other = 0, n_fallen_back = 0;
  for (const CheckpointTensor& source : checkpoint.tensors()) {
    const std::string name =
        config.family->is_wrapped ? text_model_name(source.info->name) : source.info->name;
    if (is_derived(name)) continue;
    if (config.is_tied && name == "lm_head.weight") {
      plan.notes.push_back(
          "lm_head.weight is left out: tie_word_embeddings makes it the embedding");
      continue;
    }
    if (config.family->is_wrapped && is_other_input(name)) {
      ++n_other;
      continue;
    }
    const auto found = expected.find(name);
    if (found == expected.end() || found->second.is_found)
      return fail(
          ErrorCode::corrupt_file,
          fmt::format("{}: tensor {} {}", source.file->path(), quoted(source.info->name),
                      found == expected.end() ? fmt::format("has no place in {} with {} layers",
                                                            config.family->hf_name, config.n_layers)
                                              : "is there twice"),
          "config.json belongs to another model, or the model was changed");
    found->second.is_found = true;
    HWTV_TRY(PlannedTensor tensor, plan_tensor(source, found->second, type));
    if (tensor.to == DType::F16 && type != DType::F16) ++n_fallen_back;
    plan.tensors.push_back(std::move(tensor));
  }
  HWTV_TRY_VOID(check_all_found(expected));
  if (n_other > 0)
    plan.notes.push_back(fmt::format("{} tensors of images are left out: text only", n_other));
  if (n_fallen_back > 0)
    plan.notes.push_back(
        fmt::format("{} tensors have rows that do not fill blocks of {}: F16 instead",
                    n_fallen_back, dtype_name(type)));
  return plan;
}

}  // namespace hwtv::transform
