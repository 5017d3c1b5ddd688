// The smallest file that opens as a llama model; the fake backend never reads its weights.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "gguf/writer.h"
#include "model/model.h"

namespace hwtv::engine {

// An adapter of its queries, rank 1.
inline std::string write_tiny_adapter(const std::string& path) {
  gguf::Writer writer;
  writer.set("general.architecture", "llama");
  writer.set("general.type", "adapter");
  writer.set("adapter.type", "lora");
  static const std::vector<float> zeros(32);
  EXPECT_TRUE(writer.add_tensor("blk.0.attn_q.weight.lora_a", DType::F32, {32, 1},
                                std::as_bytes(std::span(zeros))));
  EXPECT_TRUE(writer.add_tensor("blk.0.attn_q.weight.lora_b", DType::F32, {1, 32},
                                std::as_bytes(std::span(zeros))));
  EXPECT_TRUE(writer.write(path));
  return path;
}

inline model::Model tiny_model(int n_adapters = 0) {
  static const std::string path = [] {
    std::string folder = (std::filesystem::temp_directory_path() / "hwtv_engine_XXXXXX").string();
    const std::string file = std::string(::mkdtemp(folder.data())) + "/tiny.gguf";
    gguf::Writer writer;
    writer.set("general.architecture", "llama");
    writer.set("llama.block_count", uint32_t{1});
    writer.set("llama.context_length", uint32_t{4096});
    writer.set("llama.embedding_length", uint32_t{32});
    writer.set("llama.feed_forward_length", uint32_t{32});
    writer.set("llama.attention.head_count", uint32_t{1});
    writer.set("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    static const std::vector<float> zeros(64 * 32);
    const auto add = [&](const char* name, std::vector<int64_t> shape) {
      const int64_t n = shape.size() == 1 ? shape[0] : shape[0] * shape[1];
      EXPECT_TRUE(writer.add_tensor(
          name, DType::F32, shape, std::as_bytes(std::span(zeros.data(), static_cast<size_t>(n)))));
    };
    add("token_embd.weight", {32, 64});
    add("output_norm.weight", {32});
    for (const char* norm : {"attn_norm", "ffn_norm"})
      add(("blk.0." + std::string(norm) + ".weight").c_str(), {32});
    for (const char* matrix :
         {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"})
      add(("blk.0." + std::string(matrix) + ".weight").c_str(), {32, 32});
    EXPECT_TRUE(writer.write(file));
    return file;
  }();
  static const std::string adapter_path = write_tiny_adapter(path + ".lora");
  std::vector<model::Adapter> adapters;
  for (int i = 0; i < n_adapters; ++i)
    adapters.push_back(std::move(*model::Adapter::open(adapter_path, 1)));
  auto opened =
      model::Model::from_file(std::move(*gguf::File::open(path)), {}, std::move(adapters));
  EXPECT_TRUE(opened) << opened.error().what;
  return std::move(*opened);
}

}  // namespace hwtv::engine
