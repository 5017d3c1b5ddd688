// A small llama file for tests of model/, to be changed in one point before it is opened.  Its
// tensors hold zeros: opening reads the header only.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/check.h"
#include "gguf/writer.h"
#include "model/model.h"
#include "tests/gguf/temporary_folder.h"

namespace hwtv::model {

struct TinyFile {
  struct Tensor {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape;
  };
  using Value = std::variant<uint32_t, float, bool, std::string, std::vector<int32_t>>;

  std::map<std::string, Value> metadata = {
      {"general.architecture", std::string("llama")},
      {"general.name", std::string("tiny")},
      {"llama.block_count", 2u},
      {"llama.context_length", 256u},
      {"llama.embedding_length", 64u},
      {"llama.feed_forward_length", 96u},
      {"llama.attention.head_count", 4u},
      {"llama.attention.head_count_kv", 2u},
      {"llama.attention.layer_norm_rms_epsilon", 1e-5f},
      {"llama.rope.freq_base", 10000.0f},
  };
  std::vector<Tensor> tensors = {
      {"token_embd.weight", DType::Q8_0, {64, 40}},
      {"output_norm.weight", DType::F32, {64}},
      {"output.weight", DType::Q8_0, {64, 40}},
  };
  std::vector<std::string> tokens;  // tokenizer.ggml.tokens; none: the key is absent

  TinyFile() {
    for (const std::string layer : {"blk.0.", "blk.1."}) {
      const std::vector<Tensor> parts = {
          {"attn_norm.weight", DType::F32, {64}},       {"attn_q.weight", DType::Q4_0, {64, 64}},
          {"attn_k.weight", DType::Q4_0, {64, 32}},     {"attn_v.weight", DType::Q4_0, {64, 32}},
          {"attn_output.weight", DType::Q4_0, {64, 64}}, {"ffn_norm.weight", DType::F32, {64}},
          {"ffn_gate.weight", DType::Q4_0, {64, 96}},   {"ffn_up.weight", DType::Q4_0, {64, 96}},
          {"ffn_down.weight", DType::Q4_0, {96, 64}},
      };
      for (const Tensor& part : parts) tensors.push_back({layer + part.name, part.dtype, part.shape});
    }
  }

  Tensor& tensor(const std::string& name) {
    const auto found = std::find_if(tensors.begin(), tensors.end(),
                                    [&](const Tensor& one) { return one.name == name; });
    CHECK(found != tensors.end());
    return *found;
  }
  void remove_tensor(const std::string& name) {
    tensors.erase(tensors.begin() + (&tensor(name) - tensors.data()));
  }

  std::string write(const std::string& path) const {
    gguf::Writer writer;
    for (const auto& [key, value] : metadata) {
      std::visit(
          [&, k = key](const auto& v) {
            if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::vector<int32_t>>)
              writer.set_array(k, v);
            else
              writer.set(k, v);
          },
          value);
    }
    if (!tokens.empty()) writer.set_strings("tokenizer.ggml.tokens", tokens);
    std::vector<std::vector<std::byte>> bytes;
    for (const Tensor& one : tensors) {
      int64_t n_elements = 1;
      for (const int64_t size : one.shape) n_elements *= size;
      bytes.emplace_back(static_cast<size_t>(dtype_bytes(one.dtype, n_elements)));
      CHECK(writer.add_tensor(one.name, one.dtype, one.shape, bytes.back()));
    }
    CHECK(writer.write(path));
    return path;
  }

  Result<Model> open(const RecordOptions& options = {}) const {
    const gguf::TemporaryFolder folder;
    return Model::open(write(folder / "tiny.gguf"), options);
  }
};

// An adapter of that model: rank 4 on two of its tensors.
inline TinyFile tiny_adapter() {
  TinyFile file;
  file.metadata = {{"general.architecture", std::string("llama")},
                   {"general.type", std::string("adapter")},
                   {"adapter.type", std::string("lora")},
                   {"adapter.lora.alpha", 8.0f}};
  file.tensors = {{"blk.1.attn_q.weight.lora_a", DType::F32, {64, 4}},
                  {"blk.1.attn_q.weight.lora_b", DType::F32, {4, 64}},
                  {"blk.0.ffn_down.weight.lora_a", DType::F16, {96, 4}},
                  {"blk.0.ffn_down.weight.lora_b", DType::F16, {4, 64}}};
  return file;
}

// The ops of one kind, in their order.
template <typename T>
std::vector<const T*> ops_of(const Model& model) {
  std::vector<const T*> found;
  for (const ops::NamedOp& named : model.program().ops)
    if (const T* op = std::get_if<T>(&named.op)) found.push_back(op);
  return found;
}

}  // namespace hwtv::model
