#include "transform/mix.h"

#include <gtest/gtest.h>

#include <map>

#include "gguf/writer.h"
#include "tests/gguf/temporary_folder.h"

namespace hwtv::transform {
namespace {

constexpr int64_t kLayers = 16;

// A llama file of 16 layers, its matrices one row high.
class MixTest : public testing::Test {
 protected:
  gguf::File model(int64_t width, bool tied, uint32_t n_kv_heads = 8) {
    gguf::Writer writer;
    writer.set("general.architecture", "llama");
    writer.set("llama.block_count", static_cast<uint32_t>(kLayers));
    writer.set("llama.attention.head_count", uint32_t{8});
    writer.set("llama.attention.head_count_kv", n_kv_heads);
    zeros_.resize(static_cast<size_t>(8 * width));
    const auto add = [&](const std::string& name, std::vector<int64_t> shape) {
      const size_t n = static_cast<size_t>(shape[0] * (shape.size() > 1 ? shape[1] : 1));
      EXPECT_TRUE(
          writer.add_tensor(name, DType::F32, shape, std::as_bytes(std::span(zeros_).first(n))));
    };
    add("token_embd.weight", {width, 2});
    add("output_norm.weight", {width});
    if (!tied) add("output.weight", {width, 2});
    // Files may list layers in any order: the choices go by number.
    for (int64_t layer = kLayers - 1; layer >= 0; --layer)
      for (const char* part : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_down"})
        add("blk." + std::to_string(layer) + "." + part + ".weight", {width, 2});
    add("blk.0.attn_norm.weight", {width});
    add("blk.0.ffn_gate_inp.weight", {width, 2});
    const std::string path = folder_ / "model.gguf";
    EXPECT_TRUE(writer.write(path));
    return std::move(*gguf::File::open(path));
  }

  // Tensor name to type.
  std::map<std::string, DType> types(const gguf::File& file, std::string_view mix,
                                     const MixOptions& options = {}) {
    std::map<std::string, DType> types;
    const auto choices = choose_types(file, *find_mix(mix), options);
    EXPECT_TRUE(choices);
    for (const TensorChoice& choice : *choices)
      types[std::string(choice.tensor->name)] = choice.to;
    return types;
  }

  gguf::TemporaryFolder folder_;
  std::vector<float> zeros_;
};

TEST_F(MixTest, NamesAndAliases) {
  EXPECT_EQ(find_mix("q4_k")->mix, Mix::Q4_K_M);
  EXPECT_EQ(find_mix("IQ4_xs")->file_type, 30u);
  const auto none = find_mix("Q4_X");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().advice.find("Q4_K_M"), std::string::npos);
  EXPECT_FALSE(find_mix(""));
}

TEST_F(MixTest, NormsAndExpertGatesStayAsTheyAre) {
  auto t = types(model(256, false), "Q4_0");
  EXPECT_EQ(t["output_norm.weight"], DType::F32);
  EXPECT_EQ(t["blk.0.attn_norm.weight"], DType::F32);
  EXPECT_EQ(t["blk.0.ffn_gate_inp.weight"], DType::F32);
  EXPECT_EQ(t["blk.0.attn_q.weight"], DType::Q4_0);
  EXPECT_EQ(t["output.weight"], DType::Q6_K);
  EXPECT_EQ(t["token_embd.weight"], DType::Q4_0);
}

TEST_F(MixTest, ATiedEmbeddingIsTreatedAsTheOutput) {
  EXPECT_EQ(types(model(256, true), "Q4_0")["token_embd.weight"], DType::Q6_K);
  EXPECT_EQ(types(model(256, true), "Q8_0")["token_embd.weight"], DType::Q8_0);
  EXPECT_EQ(types(model(256, true), "F16")["token_embd.weight"], DType::F16);
}

// 16 layers: the first two, the last two, and every third from layer 4 on.
TEST_F(MixTest, SensitiveLayersGetMoreBits) {
  auto t = types(model(256, false), "Q4_K_M");
  for (int64_t layer = 0; layer < kLayers; ++layer) {
    const bool sensitive = layer < 2 || layer >= 14 || layer % 3 == 1;
    const std::string prefix = "blk." + std::to_string(layer);
    EXPECT_EQ(t[prefix + ".ffn_down.weight"], sensitive ? DType::Q6_K : DType::Q4_K) << layer;
    EXPECT_EQ(t[prefix + ".attn_v.weight"], sensitive ? DType::Q6_K : DType::Q4_K) << layer;
    EXPECT_EQ(t[prefix + ".attn_output.weight"], DType::Q4_K);
  }
  t = types(model(256, false), "Q3_K_M");
  EXPECT_EQ(t["blk.0.ffn_down.weight"], DType::Q5_K);
  EXPECT_EQ(t["blk.1.ffn_down.weight"], DType::Q4_K);
  EXPECT_EQ(t["blk.1.attn_v.weight"], DType::Q5_K);
  EXPECT_EQ(t["blk.2.attn_v.weight"], DType::Q4_K);
  EXPECT_EQ(t["blk.2.attn_output.weight"], DType::Q4_K);
}

TEST_F(MixTest, SharedValuesAndImportanceChangeChoices) {
  EXPECT_EQ(types(model(256, false, 8), "Q2_K")["blk.3.attn_v.weight"], DType::Q3_K);
  EXPECT_EQ(types(model(256, false, 2), "Q2_K")["blk.3.attn_v.weight"], DType::Q4_K);
  EXPECT_EQ(types(model(256, false), "IQ4_XS")["blk.0.ffn_down.weight"], DType::Q5_K);
  EXPECT_EQ(types(model(256, false), "IQ4_XS", {.with_importance = true})["blk.0.ffn_down.weight"],
            DType::IQ4_XS);
  EXPECT_EQ(types(model(256, false), "Q4_0", {.with_importance = true})["blk.0.ffn_down.weight"],
            DType::Q4_1);
}

TEST_F(MixTest, RowsThatDoNotFillBlocksFallBack) {
  const auto fallback = [&](std::string_view mix, int64_t width) {
    return types(model(width, false), mix, {.pure = true})["blk.0.attn_q.weight"];
  };
  EXPECT_EQ(fallback("Q2_K", 288), DType::Q4_0);
  EXPECT_EQ(fallback("Q3_K_S", 288), DType::Q4_0);
  EXPECT_EQ(fallback("Q4_K_S", 288), DType::Q5_0);
  EXPECT_EQ(fallback("Q5_K_S", 288), DType::Q5_1);
  EXPECT_EQ(fallback("Q6_K", 288), DType::Q8_0);
  EXPECT_EQ(fallback("IQ4_XS", 288), DType::IQ4_NL);
  EXPECT_EQ(fallback("Q4_K_S", 40), DType::F16);
  EXPECT_EQ(fallback("Q4_0", 40), DType::F16);
}

TEST_F(MixTest, PureIsOneTypeForAll) {
  auto t = types(model(256, true), "Q4_K_M", {.pure = true});
  EXPECT_EQ(t["token_embd.weight"], DType::Q4_K);
  EXPECT_EQ(t["blk.0.ffn_down.weight"], DType::Q4_K);
  EXPECT_EQ(t["output_norm.weight"], DType::F32);
}

}  // namespace
}  // namespace hwtv::transform
