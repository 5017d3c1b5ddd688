#include "transform/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_member.h"
#include "base/quoted.h"
#include "transform/json_file.h"

namespace hwtv::transform {
namespace {

using Json = nlohmann::json;

constexpr int64_t kSizeMax = 1 << 24;  // of any dimension; real vocabularies have 262,208 tokens
constexpr std::string_view kSpecialKinds[] = {"bos", "eos",  "unk", "sep", "pad",
                                              "cls", "mask", "eot", "eom"};

std::optional<int64_t> as_integer(const Json& value) {
  if (value.is_number_unsigned() || value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_number_float()) return {};
  const double number = value.get<double>();
  const bool is_whole = std::fabs(number) < 1e15 && std::floor(number) == number;
  return is_whole ? std::optional(static_cast<int64_t>(number)) : std::nullopt;
}

// Values by name out of one object, its defaults given by the caller.
class Reader {
 public:
  Reader(const std::string& path, const Json& json) : path_(path), json_(json) {}

  bool has(std::string_view key) const { return json_member(json_, key) != nullptr; }

  Result<std::optional<int64_t>> find_integer(std::string_view key) const {
    const Json* value = json_member(json_, key);
    if (!value) return std::nullopt;
    const auto number = as_integer(*value);
    if (!number) return odd(key, "a whole number");
    return number;
  }

  Result<std::optional<double>> find_number(std::string_view key) const {
    const Json* value = json_member(json_, key);
    if (!value) return std::nullopt;
    if (!value->is_number() || !std::isfinite(value->get<double>())) return odd(key, "a number");
    return value->get<double>();
  }

  // A size of something; `otherwise` where it is not told, 0: it must be.
  Result<int64_t> size(std::string_view key, int64_t otherwise) const {
    HWTV_TRY(const std::optional<int64_t> found, find_integer(key));
    if (!found && otherwise == 0)
      return fail(ErrorCode::corrupt_file, fmt::format("{} does not tell {}", path_, key),
                  "add it, as the model's page has it");
    const int64_t n = found.value_or(otherwise);
    if (n >= 1 && n <= kSizeMax) return n;
    return fail(ErrorCode::corrupt_file,
                fmt::format("{}: {} is {}, it can be 1 to {}", path_, key, n, kSizeMax),
                "the file is damaged: fetch it again");
  }

  Result<double> number(std::string_view key, double otherwise) const {
    HWTV_TRY(const std::optional<double> found, find_number(key));
    return found.value_or(otherwise);
  }

  Result<bool> flag(std::string_view key, bool otherwise) const {
    const Json* value = json_member(json_, key);
    if (!value) return otherwise;
    if (!value->is_boolean()) return odd(key, "true or false");
    return value->get<bool>();
  }

  Result<std::vector<float>> numbers(std::string_view key) const {
    std::vector<float> out;
    const Json* value = json_member(json_, key);
    if (!value) return out;
    if (!value->is_array()) return odd(key, "a list of numbers");
    for (const Json& item : *value) {
      if (!item.is_number()) return odd(key, "a list of numbers");
      out.push_back(item.get<float>());
    }
    return out;
  }

 private:
  tl::unexpected<Error> odd(std::string_view key, std::string_view wanted) const {
    return fail(ErrorCode::corrupt_file,
                fmt::format("{}: {} is {}, it should be {}", path_, key,
                            hwtv::quoted(json_member(json_, key)->dump(-1, ' ', true)), wanted),
                "correct it, as the model's page has it");
  }

  const std::string& path_;
  const Json& json_;
};

Result<const HfFamily*> family_of(const std::string& path, const Json& config) {
  const Json* names = nullptr;
  if (const Json* text = json_member(config, "text_config"))
    names = json_member(*text, "architectures");
  if (!names) names = json_member(config, "architectures");
  if (!names || !names->is_array() || names->empty() || !names->front().is_string())
    return fail(ErrorCode::corrupt_file, fmt::format("{} tells no architectures", path),
                "add it, as the model's page has it: \"architectures\": [\"LlamaForCausalLM\"]");
  return find_hf_family(names->front().get<std::string>());
}

// What config.json says about the text model: its text_config, where it has one, over the rest.
Json flat(const Json& config) {
  Json out = config;
  const Json* text = json_member(config, "text_config");
  if (text && text->is_object()) out.update(*text);
  return out;
}

Result<void> check_plain(const std::string& path, const Json& json, const HfFamily& family) {
  if (const Json* quantization = json_member(json, "quantization_config")) {
    const std::string method = json_text(*quantization, "quant_method");
    return fail(ErrorCode::unsupported,
                fmt::format("{}: its weights are quantized ({})", path,
                            method.empty() ? "no method told" : hwtv::quoted(method)),
                "convert the original in F32, F16 or BF16, then use hwtv quantize");
  }
  const bool is_gemma = family.architecture == "gemma3";
  std::string activation = json_text(json, "hidden_act");
  if (is_gemma && json_member(json, "hidden_activation"))
    activation = json_text(json, "hidden_activation");
  const std::string_view known = is_gemma ? "gelu_pytorch_tanh" : "silu";
  if (activation.empty() || activation == known) return {};
  return fail(ErrorCode::unsupported,
              fmt::format("{}: the activation is {}", path, hwtv::quoted(activation)),
              fmt::format("models of {} with {} can be converted", family.architecture, known));
}

Result<HfRope> read_rope(const std::string& path, const Json& json, const Reader& config,
                         const HfFamily& family, int64_t context_tokens) {
  const Reader rope(path, json);
  HfRope out;
  if (rope.has("rope_type") || rope.has("type"))
    out.kind = json_text(json, rope.has("rope_type") ? "rope_type" : "type");
  // The first phi3 models called it by these names.
  if (family.architecture == "phi3" && (out.kind == "su" || out.kind == "yarn"))
    out.kind = "longrope";
  constexpr std::string_view kKinds[] = {"default", "linear", "dynamic",
                                         "yarn",    "llama3", "longrope"};
  if (std::ranges::find(kKinds, out.kind) == std::end(kKinds))
    return fail(ErrorCode::unsupported,
                fmt::format("{}: the rope scaling is {}", path, hwtv::quoted(out.kind)),
                "default, linear, dynamic, yarn, llama3 and longrope can be converted");
  HWTV_TRY(const double theta, config.number("rope_theta", family.rope_theta));
  HWTV_TRY(out.theta, rope.number("rope_theta", theta));
  HWTV_TRY(const double share, config.number("partial_rotary_factor", 1));
  HWTV_TRY(out.rotated_share, rope.number("partial_rotary_factor", share));
  HWTV_TRY(out.factor, rope.find_number("factor"));
  HWTV_TRY(out.original_context_tokens, rope.find_integer("original_max_position_embeddings"));
  HWTV_TRY(const auto original, config.find_integer("original_max_position_embeddings"));
  if (original) out.original_context_tokens = original;
  const bool is_scaled = out.kind == "llama3" || out.kind == "yarn" || out.kind == "longrope";
  if (is_scaled && !out.original_context_tokens) out.original_context_tokens = context_tokens;
  HWTV_TRY(out.low_frequency_factor, rope.find_number("low_freq_factor"));
  HWTV_TRY(out.high_frequency_factor, rope.find_number("high_freq_factor"));
  HWTV_TRY(out.extrapolation_factor, rope.find_number("extrapolation_factor"));
  HWTV_TRY(out.attention_factor, rope.find_number("attention_factor"));
  if (!rope.has("attention_factor")) {
    HWTV_TRY(out.attention_factor, rope.find_number("attn_factor"));
  }
  HWTV_TRY(out.beta_fast, rope.find_number("beta_fast"));
  HWTV_TRY(out.beta_slow, rope.find_number("beta_slow"));
  HWTV_TRY(out.long_factors, rope.numbers("long_factor"));
  HWTV_TRY(out.short_factors, rope.numbers("short_factor"));
  return out;
}

// The one of all layers, or that of the layers without a window and the base of the others.
Result<void> read_ropes(const std::string& path, const Json& json, HfConfig& out) {
  const Reader config(path, json);
  const Json* rope = json_member(json, "rope_parameters");
  if (!rope) rope = json_member(json, "rope_scaling");
  const Json none = Json::object();
  if (!rope) rope = &none;
  const Json* full = json_member(*rope, "full_attention");
  const Json* sliding = json_member(*rope, "sliding_attention");
  HWTV_TRY(out.rope,
           read_rope(path, full ? *full : *rope, config, *out.family, out.context_tokens));
  if (out.family->local_rope_theta == 0) return {};
  HWTV_TRY(double theta, config.number("rope_local_base_freq", out.family->local_rope_theta));
  if (sliding) {
    HWTV_TRY(theta, Reader(path, *sliding).number("rope_theta", theta));
  }
  out.local_rope_theta = theta;
  return {};
}

Result<void> read_sizes(const Reader& config, HfConfig& out) {
  const HfFamily& family = *out.family;
  HWTV_TRY(out.n_layers, config.size("num_hidden_layers", 0));
  HWTV_TRY(out.model_dim, config.size("hidden_size", 0));
  HWTV_TRY(out.ffn_dim, config.size("intermediate_size", 0));
  HWTV_TRY(out.n_heads, config.size("num_attention_heads", family.n_heads));
  HWTV_TRY(out.n_kv_heads,
           config.size("num_key_value_heads", family.n_kv_heads ? family.n_kv_heads : out.n_heads));
  out.has_head_dim = config.has("head_dim");
  HWTV_TRY(
      out.head_dim,
      config.size("head_dim", family.head_dim ? family.head_dim
                                              : std::max<int64_t>(1, out.model_dim / out.n_heads)));
  HWTV_TRY(out.context_tokens, config.size("max_position_embeddings", family.context_tokens));
  HWTV_TRY(out.vocab_size, config.size("vocab_size", family.vocab_size));
  HWTV_TRY(const auto window, config.find_integer("sliding_window"));
  out.sliding_window = window.value_or(family.architecture == "gemma3" ? family.sliding_window : 0);
  HWTV_TRY(out.norm_eps, config.number("rms_norm_eps", family.norm_eps));
  HWTV_TRY(out.is_tied, config.flag("tie_word_embeddings", family.is_tied));
  HWTV_TRY(out.has_attention_bias, config.flag("attention_bias", false));
  HWTV_TRY(out.has_mlp_bias, config.flag("mlp_bias", false));
  HWTV_TRY(out.final_logit_softcap, config.find_number("final_logit_softcapping"));
  return {};
}

Result<void> check_heads(const std::string& path, const HfConfig& config) {
  if (config.n_heads % config.n_kv_heads == 0 && config.head_dim % 2 == 0) return {};
  return fail(ErrorCode::corrupt_file,
              fmt::format("{}: {} heads of {} do not go with {} heads of keys and values", path,
                          config.n_heads, config.head_dim, config.n_kv_heads),
              "correct num_attention_heads, num_key_value_heads and head_dim");
}

// The settings that change what the model says and that its GGUF architecture has no word for.
void note_losses(const Json& json, HfConfig& config) {
  const std::string_view architecture = config.family->architecture;
  const Json* uses = json_member(json, "use_sliding_window");
  const bool is_windowed = architecture == "llama" || (architecture.starts_with("qwen") && uses &&
                                                       uses->is_boolean() && uses->get<bool>());
  if (is_windowed && config.sliding_window > 0 && config.sliding_window < config.context_tokens)
    config.notes.push_back(fmt::format(
        "sliding_window {} is lost: the GGUF architecture {} has none; use a context of at most {}",
        config.sliding_window, architecture, config.sliding_window));
  if (config.rope.kind == "dynamic")
    config.notes.push_back(fmt::format(
        "dynamic rope scaling is lost: it acts beyond {} tokens only", config.context_tokens));
}

void read_special_ids(const Json& json, HfConfig& config) {
  const Json* text = json_member(json, "text_config");
  for (const std::string_view kind : kSpecialKinds) {
    const std::string key = fmt::format("{}_token_id", kind);
    const Json* id = json_member(json, key);
    if (!id && text) id = json_member(*text, key);
    if (id && id->is_number_unsigned()) config.special_ids[std::string(kind)] = id->get<int64_t>();
  }
}

}  // namespace

Result<HfConfig> read_hf_config(const std::string& folder) {
  const std::string path = folder + "/config.json";
  HWTV_TRY(const Json json, read_json(path));
  HfConfig config{};
  HWTV_TRY(config.family, family_of(path, json));
  const Json text = flat(json);
  HWTV_TRY_VOID(check_plain(path, text, *config.family));
  HWTV_TRY_VOID(read_sizes(Reader(path, text), config));
  HWTV_TRY_VOID(check_heads(path, config));
  HWTV_TRY_VOID(read_ropes(path, text, config));
  config.name = json_text(json, "_name_or_path");
  read_special_ids(json, config);
  note_losses(text, config);
  return config;
}

}  // namespace hwtv::transform
