#include "model/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

#include "tests/model/tiny_file.h"

namespace hwtv::model {
namespace {

// The error that a changed file gives.
Error refusal(const TinyFile& file) {
  const Result<Model> model = file.open();
  EXPECT_FALSE(model);
  return model ? Error{} : model.error();
}

const ops::WeightDecl* find_weight(const Model& model, std::string_view name) {
  for (const ops::WeightDecl& weight : model.program().weights)
    if (weight.name == name) return &weight;
  return nullptr;
}

TEST(Model, RecordsTheLlamaLayers) {
  const Result<Model> model = TinyFile().open();
  ASSERT_TRUE(model) << model.error().what;
  EXPECT_EQ(ops_of<ops::MatMul>(*model).size(), 2 * 7 + 1);
  EXPECT_EQ(ops_of<ops::RmsNorm>(*model).size(), 2 * 2 + 1);
  EXPECT_EQ(ops_of<ops::Rope>(*model).size(), 2 * 2);
  const auto attentions = ops_of<ops::Attention>(*model);
  ASSERT_EQ(attentions.size(), 2);
  EXPECT_EQ(attentions[1]->layer, 1);
  EXPECT_EQ(attentions[1]->n_heads, 4);
  EXPECT_FLOAT_EQ(attentions[1]->scale, 0.25f);
  ASSERT_EQ(model->program().kv_groups.size(), 1);
  EXPECT_EQ(model->program().kv_groups[0].n_layers, 2);
  const ops::Output& output = model->program().outputs.at(0);
  EXPECT_EQ(output.kind, ops::OutputKind::logits);
  EXPECT_EQ(model->program().value(output.value).width, 40);
}

TEST(Model, OnlyAskedRowsGoThroughTheLastFeedForward) {
  const Result<Model> model = TinyFile().open();
  ASSERT_TRUE(model);
  std::vector<ops::Rows> rows;
  for (const ops::Glu* glu : ops_of<ops::Glu>(*model))
    rows.push_back(model->program().value(glu->out).rows);
  EXPECT_EQ(rows, (std::vector{ops::Rows::n_tokens, ops::Rows::n_outputs}));
}

TEST(Model, GivesEveryWeightItsBytes) {
  const gguf::TemporaryFolder folder;
  const Result<Model> model = Model::open(TinyFile().write(folder / "tiny.gguf"));
  ASSERT_TRUE(model);
  int64_t total = 0;
  for (size_t i = 0; i < model->program().weights.size(); ++i) {
    const std::span bytes = model->weight_bytes(static_cast<ops::WeightId>(i));
    EXPECT_EQ(static_cast<int64_t>(bytes.size()), model->program().weights[i].n_bytes());
    EXPECT_NE(bytes.data(), nullptr);
    total += static_cast<int64_t>(bytes.size());
  }
  EXPECT_EQ(model->weights_bytes(), total);
  EXPECT_EQ(model->program().weights.size(), 3 + 2 * 9);
}

TEST(Model, ATiedEmbeddingIsOneWeight) {
  TinyFile file;
  file.remove_tensor("output.weight");
  const Result<Model> model = file.open();
  ASSERT_TRUE(model) << model.error().what;
  const ops::WeightId embedding = ops_of<ops::Embed>(*model).at(0)->weight;
  EXPECT_EQ(ops_of<ops::MatMul>(*model).back()->weight, embedding);
  EXPECT_EQ(model->program().weight(embedding).role, ops::WeightRole::tied_embedding);
}

TEST(Model, TakesBiasesWhereTheFileHasThem) {
  TinyFile file;
  file.tensors.push_back({"blk.1.attn_k.bias", DType::F32, {32}});
  file.tensors.push_back({"blk.0.ffn_down.bias", DType::F32, {64}});
  const Result<Model> model = file.open();
  ASSERT_TRUE(model) << model.error().what;
  size_t n_biased = 0;
  for (const ops::MatMul* matmul : ops_of<ops::MatMul>(*model))
    n_biased += matmul->bias != ops::kNoWeight;
  EXPECT_EQ(n_biased, 2);
}

TEST(Model, NamesAMissingTensorAndItsShape) {
  TinyFile file;
  file.remove_tensor("blk.1.ffn_up.weight");
  const Error error = refusal(file);
  EXPECT_EQ(error.code, ErrorCode::corrupt_file);
  EXPECT_EQ(error.what, "tensor blk.1.ffn_up.weight of shape (64, 96) is missing");
}

TEST(Model, NamesBothShapesWhereTheyDiffer) {
  TinyFile file;
  file.tensor("blk.0.attn_q.weight").shape = {64, 32};
  const Error error = refusal(file);
  EXPECT_EQ(error.code, ErrorCode::corrupt_file);
  EXPECT_EQ(error.what,
            "tensor blk.0.attn_q.weight has the shape (64, 32), expected (64, 64) from the "
            "metadata");
}

TEST(Model, RefusesATensorThatItWouldLeaveOut) {
  TinyFile file;
  file.tensors.push_back({"blk.0.attn_q_norm.weight", DType::F32, {16}});
  const Error error = refusal(file);
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_NE(error.what.find("blk.0.attn_q_norm.weight"), std::string::npos) << error.what;
}

TEST(Model, RefusesFewerLayersThanTheFileHolds) {
  TinyFile file;
  file.metadata["llama.block_count"] = 1u;
  EXPECT_NE(refusal(file).what.find("9 tensors"), std::string::npos);
}

TEST(Model, RefusesAVocabularyWithoutTensors) {
  TinyFile file;
  file.tensors.clear();
  const Error error = refusal(file);
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_NE(error.what.find("no tensors"), std::string::npos) << error.what;
}

TEST(Model, LongropeFactorsFollowTheContextThatWillBeRun) {
  TinyFile file;
  file.metadata["llama.rope.scaling.type"] = "longrope";
  file.metadata["llama.rope.scaling.original_context_length"] = 128u;
  file.tensors.push_back({"rope_factors_long.weight", DType::F32, {8}});
  file.tensors.push_back({"rope_factors_short.weight", DType::F32, {8}});
  const auto factors = [&](int64_t context_tokens) {
    const Result<Model> model = file.open({.context_tokens = context_tokens});
    EXPECT_TRUE(model) << model.error().what;
    return model->program().weight(ops_of<ops::Rope>(*model).at(0)->factors).name;
  };
  EXPECT_EQ(factors(0), "rope_factors_long.weight");  // as trained: 256
  EXPECT_EQ(factors(129), "rope_factors_long.weight");
  EXPECT_EQ(factors(128), "rope_factors_short.weight");
}

TEST(Model, Llama3FactorsReachEveryRope) {
  TinyFile file;
  file.tensors.push_back({"rope_freqs.weight", DType::F32, {8}});
  const Result<Model> model = file.open();
  ASSERT_TRUE(model) << model.error().what;
  for (const ops::Rope* rope : ops_of<ops::Rope>(*model)) {
    ASSERT_NE(rope->factors, ops::kNoWeight);
    EXPECT_EQ(model->program().weight(rope->factors).role, ops::WeightRole::rope_factors);
  }
  EXPECT_NE(find_weight(*model, "rope_freqs.weight"), nullptr);
}

}  // namespace
}  // namespace hwtv::model
