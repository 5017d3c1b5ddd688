#include "model/adapter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <utility>

#include "tests/model/tiny_file.h"

namespace hwtv::model {
namespace {

class AdapterTest : public testing::Test {
 protected:
  Result<Adapter> open(const TinyFile& file, float scale = 1) {
    return Adapter::open(file.write(folder_ / "adapter.gguf"), scale);
  }
  // A model with the adapter as its only one.
  Result<Model> open_model(const TinyFile& adapter_file, const TinyFile& base = {}) {
    std::vector<Adapter> adapters;
    HWTV_TRY(Adapter adapter, open(adapter_file, 0.5f));
    adapters.push_back(std::move(adapter));
    HWTV_TRY(gguf::File file, gguf::File::open(base.write(folder_ / "tiny.gguf")));
    return Model::from_file(std::move(file), {}, std::move(adapters));
  }
  // The error of a changed adapter on the model.
  Error refusal(const std::function<void(TinyFile&)>& change) {
    TinyFile file = tiny_adapter();
    change(file);
    const Result<Model> model = open_model(file);
    EXPECT_FALSE(model);
    return model ? Error{} : model.error();
  }
  void expect_refused(ErrorCode code, const std::vector<std::string>& says,
                      const std::function<void(TinyFile&)>& change) {
    const Error error = refusal(change);
    EXPECT_EQ(error.code, code) << error.what;
    EXPECT_FALSE(error.advice.empty());
    for (const std::string& words : says)
      EXPECT_NE(error.what.find(words), std::string::npos) << words << "\n" << error.what;
  }

  gguf::TemporaryFolder folder_;
};

TEST_F(AdapterTest, PairsHaveTheScaleOfAlphaAndRank) {
  const Result<Adapter> adapter = open(tiny_adapter(), 0.5f);
  ASSERT_TRUE(adapter) << adapter.error().what;
  ASSERT_EQ(adapter->pairs().size(), 2u);
  EXPECT_EQ(adapter->pairs()[0].tensor, "blk.0.ffn_down.weight");
  EXPECT_EQ(adapter->pairs()[0].rank(), 4);
  EXPECT_FLOAT_EQ(adapter->pairs()[0].scale, 0.5f * 8 / 4);
  EXPECT_EQ(adapter->find("blk.1.attn_q.weight"), &adapter->pairs()[1]);
  EXPECT_EQ(adapter->find("blk.1.attn_k.weight"), nullptr);
  EXPECT_EQ(adapter->n_bytes(), (64 * 4 + 4 * 64) * 4 + (96 * 4 + 4 * 64) * 2);
  for (const bool is_zero : {true, false}) {
    TinyFile without = tiny_adapter();
    if (is_zero) without.metadata["adapter.lora.alpha"] = 0.0f;
    if (!is_zero) without.metadata.erase("adapter.lora.alpha");
    EXPECT_FLOAT_EQ(open(without, 0.5f)->pairs()[0].scale, 0.5f);
  }
}

TEST_F(AdapterTest, ItsProductsFollowThoseOfTheModel) {
  const Result<Model> model = open_model(tiny_adapter());
  ASSERT_TRUE(model) << model.error().what;
  EXPECT_EQ(model->program().n_adapters, 1);
  const auto loras = ops_of<ops::Lora>(*model);
  ASSERT_EQ(loras.size(), 2u);
  const ops::Lora& down = *loras[0];
  ASSERT_EQ(down.pairs.size(), 1u);
  EXPECT_FLOAT_EQ(down.pairs[0].scale, 1);
  const ops::WeightDecl& a = model->program().weight(down.pairs[0].a);
  EXPECT_EQ(a.name, "blk.0.ffn_down.weight.lora_a");
  EXPECT_EQ(a.adapter, 0);
  EXPECT_EQ(a.n_rows, 4);
  EXPECT_EQ(a.width, 96);
  EXPECT_EQ(static_cast<int64_t>(model->weight_bytes(down.pairs[0].a).size()), a.n_bytes());
  EXPECT_EQ(model->weights_bytes(),
            TinyFile().open()->weights_bytes() + model->adapters()[0].n_bytes());
  EXPECT_TRUE(ops_of<ops::Lora>(*TinyFile().open()).empty());
}

TEST_F(AdapterTest, WhatIsNoAdapterIsSaid) {
  expect_refused(ErrorCode::invalid_request, {"is no adapter", "'model'"},
                 [](TinyFile& file) { file.metadata["general.type"] = std::string("model"); });
  expect_refused(ErrorCode::invalid_request, {"is no adapter", "missing"},
                 [](TinyFile& file) { file.metadata.erase("general.type"); });
  expect_refused(ErrorCode::unsupported, {"'ia3'", "'lora'"},
                 [](TinyFile& file) { file.metadata["adapter.type"] = std::string("ia3"); });
  expect_refused(ErrorCode::unsupported, {"alora.invocation_tokens"}, [](TinyFile& file) {
    file.metadata["adapter.alora.invocation_tokens"] = std::vector<int32_t>{1, 2};
  });
  expect_refused(ErrorCode::corrupt_file, {"adapter.lora.alpha", "nan"},
                 [](TinyFile& file) { file.metadata["adapter.lora.alpha"] = NAN; });
  expect_refused(ErrorCode::corrupt_file, {"no tensors"},
                 [](TinyFile& file) { file.tensors.clear(); });
}

TEST_F(AdapterTest, PairsThatAreNoneAreNamed) {
  const std::string a = "blk.1.attn_q.weight.lora_a", b = "blk.1.attn_q.weight.lora_b";
  expect_refused(ErrorCode::corrupt_file, {a + " without " + b},
                 [&](TinyFile& file) { file.remove_tensor(b); });
  expect_refused(ErrorCode::corrupt_file, {b + " without " + a},
                 [&](TinyFile& file) { file.remove_tensor(a); });
  expect_refused(ErrorCode::corrupt_file,
                 {"attn_q", "5 in lora_a (64 x 5)", "4 in lora_b (4 x 64)"}, [&](TinyFile& file) {
                   file.tensor(a).shape = {64, 5};
                 });
  expect_refused(ErrorCode::corrupt_file, {a, "256", "expected a matrix"},
                 [&](TinyFile& file) { file.tensor(a).shape = {256}; });
  expect_refused(ErrorCode::unsupported, {a, "experts"}, [&](TinyFile& file) {
    file.tensor(a).shape = {64, 4, 2};
  });
  expect_refused(ErrorCode::corrupt_file, {a, "I32"},
                 [&](TinyFile& file) { file.tensor(a).dtype = DType::I32; });
  expect_refused(ErrorCode::unsupported, {"blk.0.attn_norm.weight", "no lora_a"},
                 [](TinyFile& file) {
                   file.tensors.push_back({"blk.0.attn_norm.weight", DType::F32, {64}});
                 });
}

TEST_F(AdapterTest, AnotherModelsIsSaidWithBothNumbers) {
  expect_refused(ErrorCode::invalid_request, {"qwen2 model", "llama model"}, [](TinyFile& file) {
    file.metadata["general.architecture"] = std::string("qwen2");
  });
  expect_refused(ErrorCode::invalid_request, {"blk.7.attn_q.weight", "does not have"},
                 [](TinyFile& file) {
                   file.tensor("blk.1.attn_q.weight.lora_a").name = "blk.7.attn_q.weight.lora_a";
                   file.tensor("blk.1.attn_q.weight.lora_b").name = "blk.7.attn_q.weight.lora_b";
                 });
  expect_refused(ErrorCode::invalid_request, {"attn_q", "32 x 4", "4 x 64", "64 x 64"},
                 [](TinyFile& file) {
                   file.tensor("blk.1.attn_q.weight.lora_a").shape = {32, 4};
                 });
  expect_refused(ErrorCode::invalid_request, {"attn_q", "64 x 4", "4 x 32", "64 x 64"},
                 [](TinyFile& file) {
                   file.tensor("blk.1.attn_q.weight.lora_b").shape = {4, 32};
                 });
}

TEST_F(AdapterTest, OnlyProductsCanBeAdapted) {
  const auto expect_named = [&](const std::string& tensor, std::vector<int64_t> a,
                                std::vector<int64_t> b, const std::string& says) {
    expect_refused(ErrorCode::unsupported, {tensor, says}, [&](TinyFile& file) {
      file.tensors.push_back({tensor + ".lora_a", DType::F32, std::move(a)});
      file.tensors.push_back({tensor + ".lora_b", DType::F32, std::move(b)});
    });
  };
  expect_named("blk.0.attn_norm.weight", {64, 4}, {4, 1}, "no matrix of a plain product");
  expect_named("token_embd.weight", {64, 4}, {4, 40}, "looked up");
  expect_named("token_embd.weight", {4, 40}, {4, 64}, "looked up");  // as the converter writes it
}

// The head's product is made with it too, and adapting that alone would be half of the adapter.
TEST_F(AdapterTest, ATiedEmbeddingIsNotAdaptedInPart) {
  TinyFile tied, file = tiny_adapter();
  tied.remove_tensor("output.weight");
  EXPECT_TRUE(open_model(file, tied));
  file.tensors.push_back({"token_embd.weight.lora_a", DType::F32, {64, 4}});
  file.tensors.push_back({"token_embd.weight.lora_b", DType::F32, {4, 40}});
  const Result<Model> model = open_model(file, tied);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace hwtv::model
