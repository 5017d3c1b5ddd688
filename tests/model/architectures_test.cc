// What sets the architectures apart, on headers alone; their logits are held in tests/golden.
#include "model/architectures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <variant>

#include "tests/model/tiny_file.h"

namespace hwtv::model {
namespace {

// The tiny llama file under another architecture's name.
TinyFile file_of(const std::string& architecture, uint32_t n_layers = 2) {
  TinyFile file;
  for (auto at = file.metadata.begin(); at != file.metadata.end();) {
    const auto next = std::next(at);
    if (at->first.starts_with("llama.")) {
      auto entry = file.metadata.extract(at);
      entry.key() = architecture + entry.key().substr(5);
      file.metadata.insert(std::move(entry));
    }
    at = next;
  }
  file.metadata["general.architecture"] = architecture;
  file.metadata[architecture + ".block_count"] = n_layers;
  const std::vector<TinyFile::Tensor> tensors = file.tensors;
  for (const TinyFile::Tensor& tensor : tensors)
    for (uint32_t layer = 2; layer < n_layers && tensor.name.starts_with("blk.0."); ++layer)
      file.tensors.push_back(
          {"blk." + std::to_string(layer) + tensor.name.substr(5), tensor.dtype, tensor.shape});
  return file;
}

void add_vectors(TinyFile& file, uint32_t n_layers, const std::string& part, int64_t width) {
  for (uint32_t layer = 0; layer < n_layers; ++layer)
    file.tensors.push_back({"blk." + std::to_string(layer) + "." + part, DType::F32, {width}});
}

TinyFile gemma_file(const std::string& architecture, uint32_t n_layers) {
  TinyFile file = file_of(architecture, n_layers);
  add_vectors(file, n_layers, "post_attention_norm.weight", 64);
  add_vectors(file, n_layers, "post_ffw_norm.weight", 64);
  if (architecture == "gemma3") {
    add_vectors(file, n_layers, "attn_q_norm.weight", 16);
    add_vectors(file, n_layers, "attn_k_norm.weight", 16);
  }
  return file;
}

// For each layer the window that it sees; 0: everything.
std::vector<int64_t> windows_of(const Model& model) {
  std::vector<int64_t> windows;
  for (const ops::Attention* op : ops_of<ops::Attention>(model))
    windows.push_back(model.program().kv_groups[static_cast<size_t>(op->kv_group)].window_tokens);
  return windows;
}

TEST(Architectures, AnUnknownOneIsRefusedByNameWithTheSupportedOnes) {
  for (const std::string name : {"gemma4", "qwen35moe", "jina-bert-v2", "clip"}) {
    const Result<Model> model = file_of(name).open();
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().code, ErrorCode::unsupported);
    EXPECT_EQ(model.error().what, "the model's architecture is \"" + name +
                                      "\"; supported: bert, gemma2, gemma3, gpt-oss, llama, "
                                      "mistral3, nomic-bert, phi3, qwen2, qwen2moe, qwen3, qwen35, "
                                      "qwen3moe, qwen3next, smollm3");
  }
}

TEST(Architectures, Qwen2NeedsItsBiases) {
  TinyFile file = file_of("qwen2");
  add_vectors(file, 2, "attn_q.bias", 64);
  add_vectors(file, 2, "attn_k.bias", 32);
  add_vectors(file, 2, "attn_v.bias", 32);
  const Result<Model> model = file.open();
  ASSERT_TRUE(model) << model.error().what;
  for (const ops::Rope* rope : ops_of<ops::Rope>(*model))
    EXPECT_EQ(rope->rope.pairs, ops::RopeConfig::Pairs::halves);
  file.remove_tensor("blk.1.attn_v.bias");
  const Result<Model> without = file.open();
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().what, "tensor blk.1.attn_v.bias of shape (32) is missing");
}

TEST(Architectures, Smollm3RotatesThreeLayersOfFour) {
  const Result<Model> model = file_of("smollm3", 9).open();
  ASSERT_TRUE(model) << model.error().what;
  std::vector<std::string> unrotated;
  for (int layer = 0; layer < 9; ++layer) {
    const std::string name = "layer " + std::to_string(layer) + " rope_q";
    bool found = false;
    for (const ops::NamedOp& named : model->program().ops) found |= named.name == name;
    if (!found) unrotated.push_back(name);
  }
  EXPECT_EQ(unrotated, (std::vector<std::string>{"layer 3 rope_q", "layer 7 rope_q"}));
}

TEST(Architectures, Mistral3GrowsQueriesOnly) {
  TinyFile file = file_of("mistral3");
  file.metadata["mistral3.attention.temperature_scale"] = 0.1f;
  file.metadata["mistral3.rope.scaling.original_context_length"] = 64u;
  const Result<Model> model = file.open();
  ASSERT_TRUE(model) << model.error().what;
  const auto ropes = ops_of<ops::Rope>(*model);
  ASSERT_EQ(ropes.size(), 4);
  EXPECT_FLOAT_EQ(static_cast<float>(ropes[0]->rope.growth), 0.1f);
  EXPECT_EQ(ropes[0]->rope.growth_tokens, 64);
  EXPECT_EQ(ropes[1]->rope.growth, 0);

  file.metadata["mistral3.rope.dimension_count"] = 8u;
  const Result<Model> partial = file.open();
  ASSERT_FALSE(partial);
  EXPECT_EQ(partial.error().code, ErrorCode::unsupported);
}

TEST(Architectures, Gemma3SeesWindowsByItsPattern) {
  TinyFile file = gemma_file("gemma3", 7);
  const auto windows = [&] {
    const Result<Model> model = file.open();
    EXPECT_TRUE(model) << model.error().what;
    return model ? windows_of(*model) : std::vector<int64_t>{};
  };
  EXPECT_EQ(windows(), std::vector<int64_t>(7, 0));  // no window: all layers see everything
  file.metadata["gemma3.attention.sliding_window"] = 32u;
  EXPECT_EQ(windows(), (std::vector<int64_t>{32, 32, 32, 32, 32, 0, 32}));
  file.metadata["gemma3.attention.sliding_window_pattern"] = 3u;
  EXPECT_EQ(windows(), (std::vector<int64_t>{32, 32, 0, 32, 32, 0, 32}));
  file.metadata["gemma3.attention.sliding_window_pattern"] =
      std::vector<int32_t>{0, 1, 1, 0, 1, 1, 1};
  EXPECT_EQ(windows(), (std::vector<int64_t>{0, 32, 32, 0, 32, 32, 32}));
  file.metadata["gemma3.attention.sliding_window_pattern"] = std::vector<int32_t>{0, 1};
  const Result<Model> few = file.open();
  ASSERT_FALSE(few);
  EXPECT_NE(few.error().what.find("each of 7 layers"), std::string::npos) << few.error().what;
}

TEST(Architectures, LayersOfOneWindowShareAGroup) {
  TinyFile file = gemma_file("gemma3", 7);
  file.metadata["gemma3.attention.sliding_window"] = 32u;
  const Result<Model> model = file.open();
  ASSERT_TRUE(model) << model.error().what;
  const auto& groups = model->program().kv_groups;
  ASSERT_EQ(groups.size(), 2);
  EXPECT_EQ(groups[0].n_layers, 6);
  EXPECT_EQ(groups[0].window_tokens, 32);
  EXPECT_EQ(groups[1].n_layers, 1);
  EXPECT_EQ(groups[1].window_tokens, 0);
  const auto attentions = ops_of<ops::Attention>(*model);
  EXPECT_EQ(attentions[6]->kv_group, 0);
  EXPECT_EQ(attentions[6]->layer, 5);

  // What will be run never leaves the window: one cache for all.
  const Result<Model> shorter = file.open({.context_tokens = 32});
  ASSERT_TRUE(shorter);
  EXPECT_EQ(windows_of(*shorter), std::vector<int64_t>(7, 0));
  EXPECT_EQ(shorter->program().kv_groups.size(), 1);
}

TEST(Architectures, Gemma2HasItsFamilysDefaults) {
  TinyFile file = gemma_file("gemma2", 2);
  file.metadata["gemma2.context_length"] = 8192u;
  const Result<Model> model = file.open();
  ASSERT_TRUE(model) << model.error().what;
  EXPECT_EQ(windows_of(*model), (std::vector<int64_t>{4096, 0}));
  EXPECT_EQ(ops_of<ops::Embed>(*model)[0]->scale, 8.0f);
  EXPECT_EQ(ops_of<ops::Attention>(*model)[1]->softcap, 50.0f);
  ASSERT_EQ(ops_of<ops::Softcap>(*model).size(), 1);
  EXPECT_EQ(ops_of<ops::Softcap>(*model)[0]->cap, 30.0f);
}

// By head_dim, which is not the share of model_dim here; the 27B models by that share.
TEST(Architectures, GemmaScalesQueriesByItsSize) {
  for (const auto& [name, n_layers_27b] : {std::pair{"gemma2", 46u}, std::pair{"gemma3", 62u}})
    for (const uint32_t n_layers : {2u, n_layers_27b}) {
      TinyFile file = gemma_file(name, n_layers);
      file.metadata[std::string(name) + ".attention.head_count"] = 8u;
      file.metadata[std::string(name) + ".attention.head_count_kv"] = 2u;
      file.metadata[std::string(name) + ".attention.key_length"] = 16u;
      file.metadata[std::string(name) + ".attention.value_length"] = 16u;
      for (TinyFile::Tensor& tensor : file.tensors) {
        if (tensor.name.ends_with("attn_q.weight")) tensor.shape = {64, 128};
        if (tensor.name.ends_with("attn_output.weight")) tensor.shape = {128, 64};
      }
      const Result<Model> model = file.open();
      ASSERT_TRUE(model) << model.error().what;
      EXPECT_FLOAT_EQ(ops_of<ops::Attention>(*model)[0]->scale,
                      1 / std::sqrt(n_layers == 2 ? 16.0f : 8.0f));
    }
}

TEST(Architectures, Phi3ReadsPartsOfItsTensors) {
  TinyFile file = file_of("phi3");
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    for (const std::string part : {"attn_q", "attn_k", "attn_v", "ffn_gate", "ffn_up"})
      file.remove_tensor(layer + part + ".weight");
    file.tensors.push_back({layer + "attn_qkv.weight", DType::Q4_0, {64, 128}});
    file.tensors.push_back({layer + "ffn_up.weight", DType::Q8_0, {64, 192}});
  }
  const gguf::TemporaryFolder folder;
  const Result<Model> model = Model::open(file.write(folder / "phi3.gguf"));
  ASSERT_TRUE(model) << model.error().what;
  const std::byte* const qkv = model->file().find_tensor("blk.1.attn_qkv.weight")->data;
  std::vector<std::pair<int64_t, int64_t>> parts;  // first row, rows
  for (size_t id = 0; id < model->program().weights.size(); ++id) {
    const ops::WeightDecl& weight = model->program().weights[id];
    if (weight.name != "blk.1.attn_qkv.weight") continue;
    const auto bytes = model->weight_bytes(static_cast<ops::WeightId>(id));
    EXPECT_EQ(bytes.data(), qkv + weight.first_row * 36);  // 64 elements in Q4_0
    EXPECT_EQ(static_cast<int64_t>(bytes.size()), weight.n_rows * 36);
    parts.emplace_back(weight.first_row, weight.n_rows);
  }
  EXPECT_EQ(parts, (std::vector<std::pair<int64_t, int64_t>>{{0, 64}, {64, 32}, {96, 32}}));
  int64_t n_bytes = 0;
  for (const gguf::TensorInfo& tensor : model->file().tensors()) n_bytes += tensor.n_bytes;
  EXPECT_EQ(model->weights_bytes(), n_bytes);
}

// The tiny file with 4 experts in place of its feed-forward networks.
TinyFile experts_file(const std::string& architecture) {
  TinyFile file = file_of(architecture);
  file.metadata[architecture + ".expert_count"] = 4u;
  file.metadata[architecture + ".expert_used_count"] = 2u;
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    for (const std::string part : {"ffn_gate", "ffn_up", "ffn_down"}) {
      TinyFile::Tensor& tensor = file.tensor(layer + part + ".weight");
      tensor.name = layer + part + "_exps.weight";
      tensor.shape.push_back(4);
    }
    file.tensors.push_back({layer + "ffn_gate_inp.weight", DType::F32, {64, 4}});
  }
  return file;
}

TEST(Architectures, ExpertsAreOneWeightOfManyMatrices) {
  const Result<Model> model = experts_file("llama").open();
  ASSERT_TRUE(model) << model.error().what;
  const auto products = ops_of<ops::ExpertMatMul>(*model);
  ASSERT_EQ(products.size(), 6);
  const ops::WeightDecl& down = model->program().weight(products[2]->weight);
  EXPECT_EQ(down.n_experts, 4);
  EXPECT_EQ(down.n_bytes(), 4 * 64 * 54);  // 96 elements in Q4_0
  const ops::Route& route = *ops_of<ops::Route>(*model)[0];
  EXPECT_EQ(route.n_used, 2);
  EXPECT_EQ(route.routing, ops::Routing::softmax);
  EXPECT_TRUE(route.normalized);
}

TEST(Architectures, AFileMayRouteItsExpertsOtherwise) {
  TinyFile file = experts_file("llama");
  file.metadata["llama.expert_gating_func"] = 2u;
  file.metadata["llama.expert_weights_norm"] = false;
  file.metadata["llama.expert_weights_scale"] = 2.5f;
  const Result<Model> model = file.open();
  ASSERT_TRUE(model) << model.error().what;
  const ops::Route& route = *ops_of<ops::Route>(*model)[0];
  EXPECT_EQ(route.routing, ops::Routing::sigmoid);
  EXPECT_FALSE(route.normalized);
  EXPECT_EQ(route.scale, 2.5f);
  file.metadata["llama.expert_gating_func"] = 4u;
  const Result<Model> unknown = file.open();
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::unsupported);
}

// One recurrent layer, then one of gated attention.
TinyFile hybrid_file() {
  TinyFile file = file_of("qwen35");
  const std::string prefix = "qwen35.";
  for (const auto& [key, value] :
       {std::pair{"ssm.conv_kernel", 4u}, std::pair{"ssm.state_size", 8u},
        std::pair{"ssm.group_count", 2u}, std::pair{"ssm.time_step_rank", 4u},
        std::pair{"ssm.inner_size", 64u}, std::pair{"full_attention_interval", 2u}})
    file.metadata[prefix + key] = value;
  for (const char* part : {"attn_q", "attn_k", "attn_v", "attn_output"})
    file.remove_tensor("blk.0." + std::string(part) + ".weight");
  for (const std::string layer : {"blk.0.", "blk.1."})
    file.tensor(layer + "ffn_norm.weight").name = layer + "post_attention_norm.weight";
  const std::vector<TinyFile::Tensor> added = {{"blk.0.attn_qkv.weight", DType::F32, {64, 96}},
                                               {"blk.0.attn_gate.weight", DType::F32, {64, 64}},
                                               {"blk.0.ssm_beta.weight", DType::F32, {64, 4}},
                                               {"blk.0.ssm_alpha.weight", DType::F32, {64, 4}},
                                               {"blk.0.ssm_a", DType::F32, {4}},
                                               {"blk.0.ssm_dt.bias", DType::F32, {4}},
                                               {"blk.0.ssm_conv1d.weight", DType::F32, {4, 96}},
                                               {"blk.0.ssm_norm.weight", DType::F32, {16}},
                                               {"blk.0.ssm_out.weight", DType::F32, {64, 64}},
                                               {"blk.1.attn_q_norm.weight", DType::F32, {16}},
                                               {"blk.1.attn_k_norm.weight", DType::F32, {16}}};
  file.tensors.insert(file.tensors.end(), added.begin(), added.end());
  file.tensor("blk.1.attn_q.weight").shape = {64, 128};
  return file;
}

TEST(Architectures, HybridsKeepStatesBesideACache) {
  const Result<Model> model = hybrid_file().open();
  ASSERT_TRUE(model) << model.error().what;
  const auto& groups = model->program().kv_groups;
  ASSERT_EQ(groups.size(), 3);
  EXPECT_EQ(groups[0].kind, ops::KvGroup::Kind::paged);
  EXPECT_EQ(groups[0].n_layers, 1);
  EXPECT_EQ(groups[1].state_floats, 3 * 96);
  EXPECT_EQ(groups[2].state_floats, 4 * 8 * 16);
  EXPECT_EQ(ops::kv_state_bytes(groups[2]), 4 * 4 * 8 * 16);
}

TEST(Architectures, HybridsRefuseWhatTheyCannotBe) {
  const auto refusal = [](const char* key, uint32_t value) {
    TinyFile file = hybrid_file();
    file.metadata[std::string("qwen35.") + key] = value;
    const Result<Model> model = file.open();
    EXPECT_FALSE(model);
    return model ? "" : model.error().what;
  };
  EXPECT_NE(refusal("ssm.group_count", 3).find("ssm.time_step_rank"), std::string::npos);
  EXPECT_NE(refusal("ssm.inner_size", 66).find("ssm.inner_size"), std::string::npos);
  EXPECT_NE(refusal("full_attention_interval", 3).find("no layer of attention"), std::string::npos);
  EXPECT_NE(refusal("attention.value_length", 8).find("attention.value_length"), std::string::npos);
  EXPECT_NE(refusal("nextn_predict_layers", 1).find("nextn_predict_layers"), std::string::npos);
}

TEST(Architectures, ExpertsAreRefusedByName) {
  TinyFile file = file_of("qwen3");
  file.metadata["qwen3.expert_count"] = 8u;
  file.metadata["qwen3.expert_used_count"] = 2u;
  const Result<Model> model = file.open();
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::unsupported);
  EXPECT_NE(model.error().what.find("qwen3 model with 8 experts"), std::string::npos)
      << model.error().what;
}

}  // namespace
}  // namespace hwtv::model
