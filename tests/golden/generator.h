// The numbers of the golden cases, made alike here and in make_golden.py: weights by the tensor's
// name, prompts by the case's.  splitmix64 [Steele et al. 2014], seeded with the FNV-1a hash of
// "case/name"; the upper 16 bits of each output make one value, exact in F32.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ops/quant_blocks.h"

namespace hwtv::golden {

class Generator {
 public:
  explicit Generator(std::string_view name) {
    for (const char c : name) state_ = (state_ ^ static_cast<uint8_t>(c)) * 0x100000001B3;
  }
  uint64_t bits() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  float uniform() {  // in [-1, 1), steps of 2^-15
    return (static_cast<float>(bits() >> 48) - 32768.0f) / 32768.0f;
  }

 private:
  uint64_t state_ = 0xCBF29CE484222325;
};

// The values of one tensor, by its name in the GGUF file.
inline std::vector<float> generate_tensor(std::string_view golden_case, std::string_view tensor,
                                          int64_t n_elements) {
  float offset = 0, scale = 0.25f;
  if (tensor.ends_with("norm.weight"))
    offset = 1;
  else if (tensor.ends_with(".bias"))
    scale = 0.5f;
  else if (tensor == "token_embd.weight")
    scale = 1;
  else if (tensor.ends_with("attn_q.weight") || tensor.ends_with("attn_k.weight"))
    scale = 0.5f;
  else if (tensor.ends_with("ffn_gate_inp.weight") || tensor.ends_with("sinks.weight"))
    scale = 1;
  else if (tensor.ends_with("ssm_conv1d.weight"))
    scale = 1;
  std::string name(golden_case);
  Generator generator(name.append("/").append(tensor));
  std::vector<float> values(static_cast<size_t>(n_elements));
  for (float& value : values) value = offset + scale * generator.uniform();
  return values;
}

// The blocks of a tensor in MXFP4: exponents that keep the values as small as F32 ones are.
inline std::vector<ops::BlockMXFP4> generate_mxfp4(std::string_view golden_case,
                                                   std::string_view tensor, int64_t n_elements) {
  std::string name(golden_case);
  Generator generator(name.append("/").append(tensor));
  const auto byte = [&] { return static_cast<uint8_t>(generator.bits() >> 56); };
  std::vector<ops::BlockMXFP4> blocks(static_cast<size_t>(n_elements / 32));
  for (ops::BlockMXFP4& block : blocks) {
    block.exponent = static_cast<uint8_t>(120 + byte() % 4);
    for (uint8_t& pair : block.nibbles) pair = byte();
  }
  return blocks;
}

inline std::vector<int32_t> generate_prompt(std::string_view golden_case, int64_t n_tokens,
                                            int64_t vocab_size) {
  Generator generator(std::string(golden_case) + "/prompt");
  std::vector<int32_t> tokens(static_cast<size_t>(n_tokens));
  for (int32_t& token : tokens)
    token = static_cast<int32_t>(generator.bits() % static_cast<uint64_t>(vocab_size));
  return tokens;
}

}  // namespace hwtv::golden
