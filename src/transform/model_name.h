// What a model's name tells: "Qwen2.5-0.5B-Instruct" is the base Qwen2.5, of 0.5 B parameters,
// tuned to follow instructions.  In the words of the GGUF naming convention, as the metadata has
// them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace hwtv::transform {

// What is not told is empty.
struct ModelName {
  std::string name;          // "Qwen2.5 0.5B Instruct"
  std::string organization;  // "Qwen"
  std::string basename, finetune, version, size_label;

  // Takes from `other` what is still empty.
  void complete(const ModelName& other);
};

// `id`: "Qwen/Qwen2.5-0.5B-Instruct", or a folder's name.  A size far from n_parameters is no size.
ModelName parse_model_name(std::string_view id, int64_t n_parameters);

// A count to two digits at least: "135M", "1.5B", "42K".
std::string size_label(int64_t n_parameters);

// "meta-llama" as a title: "Meta Llama".
std::string title_of(std::string_view id);

}  // namespace hwtv::transform
