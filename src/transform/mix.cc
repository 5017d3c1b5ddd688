#include "transform/mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>

namespace hwtv::transform {
namespace {

constexpr MixInfo kMixes[] = {
    {Mix::F32, "F32", "", DType::F32, 0},
    {Mix::F16, "F16", "", DType::F16, 1},
    {Mix::BF16, "BF16", "", DType::BF16, 32},
    {Mix::Q8_0, "Q8_0", "", DType::Q8_0, 7},
    {Mix::Q6_K, "Q6_K", "", DType::Q6_K, 18},
    {Mix::Q5_K_M, "Q5_K_M", "Q5_K", DType::Q5_K, 17},
    {Mix::Q5_K_S, "Q5_K_S", "", DType::Q5_K, 16},
    {Mix::Q5_1, "Q5_1", "", DType::Q5_1, 9},
    {Mix::Q5_0, "Q5_0", "", DType::Q5_0, 8},
    {Mix::Q4_K_M, "Q4_K_M", "Q4_K", DType::Q4_K, 15},
    {Mix::Q4_K_S, "Q4_K_S", "", DType::Q4_K, 14},
    {Mix::Q4_1, "Q4_1", "", DType::Q4_1, 3},
    {Mix::Q4_0, "Q4_0", "", DType::Q4_0, 2},
    {Mix::IQ4_NL, "IQ4_NL", "", DType::IQ4_NL, 25},
    {Mix::IQ4_XS, "IQ4_XS", "", DType::IQ4_XS, 30},
    {Mix::MXFP4, "MXFP4", "", DType::MXFP4, 38},
    {Mix::MXFP4_MOE, "MXFP4_MOE", "", DType::MXFP4, 38},
    {Mix::Q3_K_L, "Q3_K_L", "", DType::Q3_K, 13},
    {Mix::Q3_K_M, "Q3_K_M", "Q3_K", DType::Q3_K, 12},
    {Mix::Q3_K_S, "Q3_K_S", "", DType::Q3_K, 11},
    {Mix::Q2_K, "Q2_K", "", DType::Q2_K, 10},
    {Mix::Q2_K_S, "Q2_K_S", "", DType::Q2_K, 21},
};

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::toupper(x) == std::toupper(y);
  });
}

// Tensors that stay as they are: small, and sensitive.
constexpr std::string_view kKept[] = {
    "_norm.weight",
    "ffn_gate_inp.weight",
    "ffn_gate_tid2eid.weight",
    "altup",
    "laurel",
    "per_layer_model_proj",
    "ssm_conv1d",
    "shortconv.conv.weight",
    "indexer.k_proj.weight",
    "indexer.q_proj.weight",
    "time_mix_first.weight",
    "time_mix_w0.weight",
    "time_mix_w1.weight",
    "time_mix_w2.weight",
    "time_mix_v0.weight",
    "time_mix_v1.weight",
    "time_mix_v2.weight",
    "time_mix_a0.weight",
    "time_mix_a1.weight",
    "time_mix_a2.weight",
    "time_mix_g1.weight",
    "time_mix_g2.weight",
    "time_mix_decay_w1.weight",
    "time_mix_decay_w2.weight",
    "time_mix_lerp_fused.weight",
    "attn_rel_b.weight",
    ".position_embd",
    "sam.pos_embd",
    "sam.neck.",
    "sam.net_",
    ".rel_pos",
    ".patch_embd",
    ".patch_merger",
    "a.rvq.codebook",
    "mm.a.code_embd",
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

size_t n_dimensions(const gguf::TensorInfo& tensor) {
  size_t n = tensor.shape.size();
  while (n > 0 && tensor.shape[n - 1] == 1) --n;
  return n;
}

bool is_quantizable(const gguf::TensorInfo& tensor) {
  if (n_dimensions(tensor) < 2 || !tensor.name.ends_with("weight")) return false;
  if (tensor.name == "position_embd.weight" || tensor.name == "token_types.weight") return false;
  return std::none_of(std::begin(kKept), std::end(kKept),
                      [&](std::string_view part) { return contains(tensor.name, part); });
}

enum class Kind { output, embedding, attn_v, attn_k, attn_output, ffn_down, other };

// attn_v stands for whatever holds the values: fused and low-rank tensors too.
Kind kind_of(std::string_view name) {
  if (name == "output.weight") return Kind::output;
  if (name == "token_embd.weight" || name == "per_layer_token_embd.weight") return Kind::embedding;
  for (const std::string_view part : {"attn_qkv.weight", "attn_kv_b.weight", "attn_v.weight"})
    if (contains(name, part)) return Kind::attn_v;
  if (contains(name, "attn_k.weight")) return Kind::attn_k;
  if (contains(name, "attn_q.weight")) return Kind::other;
  if (contains(name, "attn_output.weight")) return Kind::attn_output;
  if (contains(name, "ffn_up") || contains(name, "ffn_gate")) return Kind::other;
  return contains(name, "ffn_down") ? Kind::ffn_down : Kind::other;
}

// N of "blk.N."; -1 where the tensor is in no layer.
int64_t layer_of(std::string_view name) {
  if (!name.starts_with("blk.")) return -1;
  int64_t layer = -1;
  std::from_chars(name.data() + 4, name.data() + name.size(), layer);
  return layer;
}

// What the choices ask of a model.
struct Facts {
  bool is_falcon = false;
  bool is_tied = false;
  bool is_70b = false;  // eight or more heads share each attn_v there
  int64_t n_layers = 0;
  int64_t n_experts = 0;
  int64_t n_heads_per_kv_head = 1;
  int64_t n_attn_v = 0;
};

// The first element where a model has one number for each layer.
int64_t first_int(const gguf::File& file, const std::string& key, int64_t otherwise) {
  const gguf::Value* value = file.find(key);
  if (!value) return otherwise;
  if (value->type() != gguf::ValueType::ARRAY) return value->as_int().value_or(otherwise);
  const auto numbers = value->as_ints(1);
  return numbers && !numbers->empty() ? numbers->front() : otherwise;
}

Result<Facts> read_facts(const gguf::File& file) {
  Facts facts;
  HWTV_TRY(const auto architecture, file.get<std::string_view>("general.architecture"));
  const std::string arch(architecture.value_or(""));
  facts.n_layers = first_int(file, arch + ".block_count", 0);
  facts.n_experts = first_int(file, arch + ".expert_count", 0);
  const int64_t n_heads = first_int(file, arch + ".attention.head_count", 1);
  const int64_t n_kv_heads = first_int(file, arch + ".attention.head_count_kv", n_heads);
  facts.n_heads_per_kv_head = n_kv_heads > 0 ? n_heads / n_kv_heads : 0;
  facts.is_falcon = arch == "falcon";
  facts.is_tied = file.find_tensor("output.weight") == nullptr;
  facts.is_70b = (facts.n_layers == 80 && ((arch == "llama" && n_heads != n_kv_heads) ||
                                           arch == "qwen2" || arch == "deci" || arch == "olmo")) ||
                 (facts.n_layers == 68 && arch == "jais2");
  for (const gguf::TensorInfo& tensor : file.tensors())
    facts.n_attn_v += kind_of(tensor.name) == Kind::attn_v;
  return facts;
}

// The first and the last eighth of the layers, and every third between.
bool is_sensitive(int64_t layer, int64_t n_layers) {
  return layer < n_layers / 8 || layer >= 7 * n_layers / 8 || (layer - n_layers / 8) % 3 == 2;
}

// Chooses types tensor by tensor.  Requires: in the order of layers, then names.
class Chooser {
 public:
  Chooser(const Facts& facts, const MixInfo& mix, const MixOptions& options)
      : f_(facts), mix_(mix), options_(options) {}

  // Before any fallback for short rows.
  DType choose(const gguf::TensorInfo& tensor) {
    if (!is_quantized(mix_.dtype) || options_.pure) return mix_.dtype;
    const Kind kind = kind_of(tensor.name);
    if (kind == Kind::output || (kind == Kind::embedding && f_.is_tied)) return output(tensor);
    if (mix_.mix == Mix::MXFP4_MOE)
      return tensor.shape.size() > 2 && tensor.shape[2] > 1 ? DType::MXFP4 : DType::Q8_0;
    switch (kind) {
      case Kind::attn_v:
        return attn_v();
      case Kind::attn_k:
        return f_.n_experts == 8 ? DType::Q8_0 : mix_.dtype;
      case Kind::ffn_down:
        return ffn_down(tensor);
      case Kind::attn_output:
        return attn_output();
      default:
        return mix_.dtype;
    }
  }

 private:
  DType output(const gguf::TensorInfo& tensor) const {
    if (mix_.dtype == DType::MXFP4 || mix_.dtype == DType::Q8_0 || f_.is_falcon) return DType::Q8_0;
    const bool fills = tensor.shape[0] % dtype_info(mix_.dtype).block_elements == 0;
    return fills ? DType::Q6_K : DType::Q8_0;
  }

  DType attn_v() {
    const int64_t i = n_attn_v_seen_++;
    if (f_.n_experts == 8) return DType::Q8_0;
    const DType type = attn_v_of_mix(i);
    return f_.is_70b && (type == DType::Q3_K || type == DType::Q4_K) ? DType::Q5_K : type;
  }

  DType attn_v_of_mix(int64_t i) const {
    const bool is_shared = f_.n_heads_per_kv_head >= 4;
    switch (mix_.mix) {
      case Mix::Q2_K:
        return is_shared ? DType::Q4_K : DType::Q3_K;
      case Mix::Q2_K_S:
        return is_shared ? DType::Q4_K : mix_.dtype;
      case Mix::Q3_K_M:
        return i < 2 ? DType::Q5_K : DType::Q4_K;
      case Mix::Q3_K_L:
        return DType::Q5_K;
      case Mix::IQ4_NL:
      case Mix::IQ4_XS:
        return is_shared ? DType::Q5_K : mix_.dtype;
      case Mix::Q4_K_M:
      case Mix::Q5_K_M:
        return is_sensitive(i, f_.n_attn_v) ? DType::Q6_K : mix_.dtype;
      case Mix::Q4_K_S:
        return i < 4 ? DType::Q5_K : mix_.dtype;
      default:
        return mix_.dtype;
    }
  }

  DType ffn_down(const gguf::TensorInfo& tensor) {
    const int64_t counted = n_ffn_down_seen_++;
    const int64_t i = f_.n_experts > 1 ? layer_of(tensor.name) : counted;
    const bool is_early = i < f_.n_layers / 8;
    switch (mix_.mix) {
      case Mix::Q2_K:
        return DType::Q3_K;
      case Mix::Q2_K_S:
        return is_early ? DType::Q4_K : mix_.dtype;
      case Mix::Q3_K_M:
        if (i < f_.n_layers / 16) return DType::Q5_K;
        return !f_.is_falcon || is_sensitive(i, f_.n_layers) ? DType::Q4_K : DType::Q3_K;
      case Mix::Q3_K_L:
        return f_.is_falcon ? DType::Q4_K : DType::Q5_K;
      case Mix::Q4_K_M:
        if (f_.is_falcon && i >= f_.n_layers / 16)
          return is_sensitive(i, f_.n_layers) ? DType::Q5_K : DType::Q4_K;
        return f_.is_falcon || is_sensitive(i, f_.n_layers) ? DType::Q6_K : DType::Q4_K;
      case Mix::Q5_K_M:
        return is_sensitive(i, f_.n_layers) ? DType::Q6_K : mix_.dtype;
      case Mix::Q4_K_S:
        return is_early && !f_.is_falcon ? DType::Q5_K : mix_.dtype;
      case Mix::IQ4_NL:
      case Mix::IQ4_XS:
        return is_early && !options_.with_importance ? DType::Q5_K : mix_.dtype;
      case Mix::Q4_0:
        return is_early && options_.with_importance ? DType::Q4_1 : mix_.dtype;
      case Mix::Q5_0:
        return is_early && options_.with_importance ? DType::Q5_1 : mix_.dtype;
      default:
        return mix_.dtype;
    }
  }

  DType attn_output() const {
    if (f_.is_falcon) return mix_.mix == Mix::Q3_K_L ? DType::Q4_K : mix_.dtype;
    if (f_.n_experts == 8) {
      constexpr Mix kRaised[] = {Mix::Q2_K,   Mix::Q3_K_S, Mix::Q3_K_M, Mix::IQ4_NL,
                                 Mix::Q4_K_S, Mix::Q4_K_M, Mix::IQ4_XS};
      const bool raised =
          std::find(std::begin(kRaised), std::end(kRaised), mix_.mix) != std::end(kRaised);
      return raised ? DType::Q5_K : mix_.dtype;
    }
    if (mix_.mix == Mix::Q2_K) return DType::Q3_K;
    if (mix_.mix == Mix::Q3_K_M) return DType::Q4_K;
    return mix_.mix == Mix::Q3_K_L ? DType::Q5_K : mix_.dtype;
  }

  const Facts& f_;
  const MixInfo& mix_;
  const MixOptions& options_;
  int64_t n_attn_v_seen_ = 0, n_ffn_down_seen_ = 0;
};

// The type for rows that do not fill the blocks of `wanted`: of like size, in blocks of 32.
DType fallback(DType wanted, int64_t width) {
  const auto fills = [&](DType dtype) { return width % dtype_info(dtype).block_elements == 0; };
  if (fills(wanted)) return wanted;
  DType other = DType::F16;
  if (wanted == DType::IQ4_XS) other = DType::IQ4_NL;
  if (wanted == DType::Q2_K || wanted == DType::Q3_K) other = DType::Q4_0;
  if (wanted == DType::Q4_K) other = DType::Q5_0;
  if (wanted == DType::Q5_K) other = DType::Q5_1;
  if (wanted == DType::Q6_K) other = DType::Q8_0;
  return fills(other) ? other : DType::F16;
}

}  // namespace

std::span<const MixInfo> mix_table() { return kMixes; }

Result<MixInfo> find_mix(std::string_view name) {
  std::string names;
  for (const MixInfo& mix : kMixes) {
    if (!name.empty() && (same_ignoring_case(mix.name, name) || same_ignoring_case(mix.alias, name)))
      return mix;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", mix.name);
  }
  return fail(ErrorCode::invalid_request, fmt::format("there is no type '{}'", name),
              "use one of " + names);
}

Result<std::vector<TensorChoice>> choose_types(const gguf::File& file, const MixInfo& mix,
                                               const MixOptions& options) {
  HWTV_TRY(const Facts facts, read_facts(file));
  std::vector<TensorChoice> choices;
  for (const gguf::TensorInfo& tensor : file.tensors()) {
    HWTV_TRY(const DType from, tensor.require_dtype());
    choices.push_back({&tensor, from, from, from});
  }
  std::vector<size_t> order(choices.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const std::string_view x = choices[a].tensor->name, y = choices[b].tensor->name;
    return std::pair(layer_of(x), x) < std::pair(layer_of(y), y);
  });
  Chooser chooser(facts, mix, options);
  for (const size_t i : order) {
    TensorChoice& choice = choices[i];
    if (!is_quantizable(*choice.tensor) || choice.from == DType::I32) continue;
    choice.wanted = chooser.choose(*choice.tensor);
    choice.to = fallback(choice.wanted, choice.tensor->shape[0]);
  }
  return choices;
}

}  // namespace hwtv::transform
