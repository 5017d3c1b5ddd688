#include "transform/hf_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json_member.h"
#include "transform/json_file.h"
#include "transform/mix.h"
#include "transform/model_name.h"

namespace hwtv::transform {
namespace {

using Json = nlohmann::json;

void set_sampling(const Json& settings, gguf::Writer& writer) {
  const auto find = [&](std::string_view key) {
    const Json* value = json_member(settings, key);
    return value && value->is_number() ? value : nullptr;
  };
  if (const Json* value = find("top_k"))
    writer.set("general.sampling.top_k", value->get<int32_t>());
  if (const Json* value = find("top_p")) writer.set("general.sampling.top_p", value->get<float>());
  if (const Json* value = find("min_p")) writer.set("general.sampling.min_p", value->get<float>());
  if (const Json* value = find("temperature"))
    writer.set("general.sampling.temp", value->get<float>());
  if (const Json* value = find("repetition_penalty"))
    writer.set("general.sampling.penalty_repeat", value->get<float>());
}

void set_if_told(gguf::Writer& writer, std::string_view key, const std::string& value) {
  if (!value.empty()) writer.set(key, value);
}

// Sets keys of one architecture.
class Keys {
 public:
  Keys(const HfConfig& config, gguf::Writer& writer)
      : c_(config), prefix_(std::string(config.family->architecture) + "."), writer_(writer) {}

  void integer(std::string_view key, int64_t value) const {
    writer_.set(prefix_ + std::string(key), static_cast<uint32_t>(value));
  }
  void number(std::string_view key, double value) const {
    writer_.set(prefix_ + std::string(key), static_cast<float>(value));
  }
  void number(std::string_view key, const std::optional<double>& value) const {
    if (value) number(key, *value);
  }
  void text(std::string_view key, std::string_view value) const {
    writer_.set(prefix_ + std::string(key), value);
  }

  void sizes() const {
    integer("block_count", c_.n_layers);
    integer("context_length", c_.context_tokens);
    integer("embedding_length", c_.model_dim);
    integer("feed_forward_length", c_.ffn_dim);
    integer("attention.head_count", c_.n_heads);
    integer("attention.head_count_kv", c_.n_kv_heads);
    number("attention.layer_norm_rms_epsilon", c_.norm_eps);
  }

  void rope() const {
    const HfRope& rope = c_.rope;
    number("rope.freq_base", rope.theta);
    number("rope.freq_base_swa", c_.local_rope_theta);
    if ((rope.kind != "linear" && rope.kind != "yarn") || !rope.factor) return;
    text("rope.scaling.type", rope.kind);
    number("rope.scaling.factor", *rope.factor);
    if (rope.kind == "linear") return;
    integer("rope.scaling.original_context_length", *rope.original_context_tokens);
    number("rope.scaling.yarn_ext_factor", rope.extrapolation_factor);
    number("rope.scaling.yarn_attn_factor", rope.attention_factor);
    number("rope.scaling.yarn_beta_fast", rope.beta_fast);
    number("rope.scaling.yarn_beta_slow", rope.beta_slow);
  }

  void head_dim() const {
    if (!c_.family->tells_head_dim && !c_.has_head_dim) return;
    integer("attention.key_length", c_.head_dim);
    integer("attention.value_length", c_.head_dim);
  }

  // phi3 rotates a share of each head and scales attention once, for the trained context.
  void phi3() const {
    const HfRope& rope = c_.rope;
    const auto original = rope.original_context_tokens.value_or(c_.family->context_tokens);
    integer("rope.scaling.original_context_length", original);
    number("rope.freq_base", rope.theta);
    integer(
        "rope.dimension_count",
        static_cast<int64_t>(rope.rotated_share * static_cast<double>(c_.model_dim)) / c_.n_heads);
    integer("attention.sliding_window", c_.sliding_window);
    if (rope.kind != "longrope") return;
    const double scale = static_cast<double>(c_.context_tokens) / static_cast<double>(original);
    const double stretch = std::log(scale) / std::log(static_cast<double>(original));
    number("rope.scaling.attn_factor", scale > 1 ? std::sqrt(1 + stretch) : 1.0);
  }

 private:
  const HfConfig& c_;
  const std::string prefix_;
  gguf::Writer& writer_;
};

// The key of a special token's id: most are called as they are.
std::string id_key(std::string_view kind) {
  if (kind == "unk") kind = "unknown";
  if (kind == "sep") kind = "seperator";  // as the format has it
  if (kind == "pad") kind = "padding";
  return fmt::format("tokenizer.ggml.{}_token_id", kind);
}

// What no file of these llama models tells and their users rely on.
void add_known_models(const HfConfig& config, gguf::Writer& writer) {
  constexpr int64_t kCodeLlama = 32016, kSmolLm = 49152;  // known by their vocabularies' sizes
  if (config.family->architecture != "llama") return;
  if (config.vocab_size == kCodeLlama) {
    writer.set("tokenizer.ggml.prefix_token_id", uint32_t{32007});
    writer.set("tokenizer.ggml.suffix_token_id", uint32_t{32008});
    writer.set("tokenizer.ggml.middle_token_id", uint32_t{32009});
    writer.set("tokenizer.ggml.eot_token_id", uint32_t{32010});
  }
  if (config.vocab_size == kSmolLm) writer.set("tokenizer.ggml.add_bos_token", false);
}

}  // namespace

Result<void> add_general_metadata(const std::string& folder, const HfConfig& config,
                                  int64_t n_parameters, gguf::Writer& writer) {
  writer.set("general.architecture", config.family->architecture);
  writer.set("general.type", "model");
  HWTV_TRY(const Json sampling, read_json_if_there(folder + "/generation_config.json"));
  set_sampling(sampling, writer);
  ModelName name;
  // A path of the machine that it was trained on names no model.
  if (!config.name.empty() && std::ranges::count(config.name, '/') <= 1)
    name = parse_model_name(config.name, n_parameters);
  std::error_code code;
  const auto full = std::filesystem::weakly_canonical(folder, code);
  name.complete(parse_model_name(full.filename().string(), n_parameters));
  if (name.size_label.empty()) name.size_label = size_label(n_parameters);
  writer.set("general.name", name.name);
  set_if_told(writer, "general.version", name.version);
  set_if_told(writer, "general.organization", name.organization);
  set_if_told(writer, "general.finetune", name.finetune);
  set_if_told(writer, "general.basename", name.basename);
  set_if_told(writer, "general.size_label", name.size_label);
  return {};
}

void add_hyperparameters(const HfConfig& config, uint32_t file_type, gguf::Writer& writer) {
  const Keys keys(config, writer);
  const std::string_view architecture = config.family->architecture;
  keys.sizes();
  if (architecture == "phi3") {
    keys.phi3();
  } else {
    keys.rope();
    keys.head_dim();
  }
  if (architecture == "llama") {
    keys.integer("vocab_size", config.vocab_size);
    keys.integer("rope.dimension_count", config.head_dim);
  }
  if (architecture == "gemma3") {
    keys.integer("attention.sliding_window", config.sliding_window);
    if (config.final_logit_softcap.value_or(0) != 0)
      keys.number("final_logit_softcapping", *config.final_logit_softcap);
  }
  writer.set("general.file_type", file_type);
  writer.set("general.quantization_version", kQuantizationVersion);
}

void add_tokenizer(const HfConfig& config, const HfVocabulary& vocabulary,
                   const HfSpecialTokens& special, gguf::Writer& writer) {
  if (vocabulary.adds_space) writer.set("tokenizer.ggml.add_space_prefix", *vocabulary.adds_space);
  writer.set("tokenizer.ggml.model", vocabulary.model);
  writer.set("tokenizer.ggml.pre", vocabulary.pre);
  writer.set_strings("tokenizer.ggml.tokens", vocabulary.tokens);
  if (!vocabulary.scores.empty()) writer.set_array("tokenizer.ggml.scores", vocabulary.scores);
  writer.set_array("tokenizer.ggml.token_type", vocabulary.types);
  if (!vocabulary.merges.empty()) writer.set_strings("tokenizer.ggml.merges", vocabulary.merges);
  for (const auto& [kind, id] : special.ids) writer.set(id_key(kind), static_cast<uint32_t>(id));
  for (const auto& [kind, is_added] : special.are_added)
    writer.set(fmt::format("tokenizer.ggml.add_{}_token", kind), is_added);
  std::vector<std::string> names;
  for (const auto& [name, text] : special.named_templates) {
    writer.set("tokenizer.chat_template." + name, text);
    names.push_back(name);
  }
  if (!names.empty()) writer.set_strings("tokenizer.chat_templates", names);
  if (!special.chat_template.empty()) writer.set("tokenizer.chat_template", special.chat_template);
  add_known_models(config, writer);
}

}  // namespace hwtv::transform
