#include "transform/hf_family.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/quoted.h"

namespace hwtv::transform {
namespace {

// The defaults are those of the configuration classes in transformers 5.24.
constexpr HfFamily kLlama = {.hf_name = "LlamaForCausalLM",
                             .architecture = "llama",
                             .context_tokens = 2048,
                             .vocab_size = 32000,
                             .is_rope_halved = true};
constexpr HfFamily kMistral = {.hf_name = "MistralForCausalLM",
                               .architecture = "llama",
                               .n_kv_heads = 8,
                               .context_tokens = 131072,
                               .vocab_size = 32000,
                               .sliding_window = 4096,
                               .is_rope_halved = true};
constexpr HfFamily kQwen2 = {.hf_name = "Qwen2ForCausalLM",
                             .architecture = "qwen2",
                             .n_kv_heads = 32,
                             .context_tokens = 32768,
                             .vocab_size = 151936,
                             .has_qkv_bias = true,
                             .tells_head_dim = false};
constexpr HfFamily kQwen3 = {.hf_name = "Qwen3ForCausalLM",
                             .architecture = "qwen3",
                             .n_kv_heads = 32,
                             .head_dim = 128,
                             .context_tokens = 32768,
                             .vocab_size = 151936,
                             .has_qk_norm = true};
constexpr HfFamily kGemma3 = {.hf_name = "Gemma3ForCausalLM",
                              .architecture = "gemma3",
                              .n_heads = 8,
                              .n_kv_heads = 4,
                              .head_dim = 256,
                              .context_tokens = 131072,
                              .vocab_size = 262208,
                              .sliding_window = 4096,
                              .rope_theta = 1'000'000,
                              .local_rope_theta = 10000,
                              .is_tied = true,
                              .is_norm_shifted = true,
                              .has_qk_norm = true,
                              .has_post_norms = true};
constexpr HfFamily kPhi3 = {.hf_name = "Phi3ForCausalLM",
                            .architecture = "phi3",
                            .context_tokens = 4096,
                            .vocab_size = 32064,
                            .norm_eps = 1e-5,
                            .is_fused = true,
                            .tells_head_dim = false};

constexpr HfFamily wrapped(HfFamily family, std::string_view hf_name) {
  family.hf_name = hf_name;
  family.is_wrapped = true;
  return family;
}

constexpr HfFamily kFamilies[] = {
    kLlama, kMistral, kQwen2, kQwen3, kGemma3, wrapped(kGemma3, "Gemma3ForConditionalGeneration"),
    kPhi3};

}  // namespace

std::span<const HfFamily> hf_families() { return kFamilies; }

Result<const HfFamily*> find_hf_family(std::string_view hf_name) {
  const auto* found = std::ranges::find(kFamilies, hf_name, &HfFamily::hf_name);
  if (found != std::end(kFamilies)) return found;
  std::string names;
  for (const HfFamily& family : kFamilies)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", family.hf_name);
  return fail(ErrorCode::unsupported,
              fmt::format("the architecture {} cannot be converted", quoted(hf_name)),
              fmt::format("these can: {}", names));
}

}  // namespace hwtv::transform
