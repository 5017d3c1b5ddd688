#include "model/architectures.h"

#include <fmt/format.h>

#include <string>

namespace hwtv::model {
namespace {

constexpr Architecture kArchitectures[] = {
    {"bert", record_bert},
    {"gemma2", record_gemma2},
    {"gemma3", record_gemma3},
    {"gpt-oss", record_gpt_oss},
    {"llama", record_llama},
    {"mistral3", record_mistral3},
    {"nomic-bert", record_nomic_bert},
    {"phi3", record_phi3},
    {"qwen2", record_qwen2},
    {"qwen2moe", record_qwen2moe},
    {"qwen3", record_qwen3},
    {"qwen35", record_qwen35},
    {"qwen3moe", record_qwen3moe},
    {"qwen3next", record_qwen3next},
    {"smollm3", record_smollm3},
};

}  // namespace

std::span<const Architecture> architectures() { return kArchitectures; }

Result<const Architecture*> find_architecture(std::string_view name) {
  std::string supported;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name == name) return &architecture;
    supported += fmt::format("{}{}", supported.empty() ? "" : ", ", architecture.name);
  }
  return fail(ErrorCode::unsupported,
              fmt::format("the model's architecture is \"{}\"; supported: {}", name, supported),
              fmt::format("use a model of one of these architectures: {}", supported));
}

}  // namespace hwtv::model
