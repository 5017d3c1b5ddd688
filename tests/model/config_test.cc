#include "model/config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/model/tiny_file.h"

namespace hwtv::model {
namespace {

TEST(Config, ReadsEverySize) {
  const Result<Model> model = TinyFile().open();
  ASSERT_TRUE(model) << model.error().what;
  const ModelConfig& c = model->config();
  EXPECT_EQ(c.architecture, "llama");
  EXPECT_EQ(c.name, "tiny");
  EXPECT_EQ(c.n_layers, 2);
  EXPECT_EQ(c.model_dim, 64);
  EXPECT_EQ(c.ffn_dim, 96);
  EXPECT_EQ(c.n_heads, 4);
  EXPECT_EQ(c.n_kv_heads, 2);
  EXPECT_EQ(c.head_dim, 16);
  EXPECT_EQ(c.value_dim, 16);
  EXPECT_EQ(c.vocab_size, 40);
  EXPECT_EQ(c.context_tokens_max, 256);
  EXPECT_FLOAT_EQ(c.norm_eps, 1e-5f);
  EXPECT_EQ(c.rope.n_rotated, 16);
  EXPECT_EQ(c.rope_scaling, RopeScaling::none);
  EXPECT_EQ(c.n_experts, 0);
}

TEST(Config, AnAbsentKeyTakesItsDefault) {
  TinyFile file;
  file.metadata.erase("llama.rope.freq_base");
  file.metadata.erase("llama.attention.head_count_kv");
  for (const char* layer : {"blk.0.", "blk.1."}) {
    file.tensor(std::string(layer) + "attn_k.weight").shape = {64, 64};
    file.tensor(std::string(layer) + "attn_v.weight").shape = {64, 64};
  }
  const Result<Model> model = file.open();
  ASSERT_TRUE(model) << model.error().what;
  EXPECT_EQ(model->config().n_kv_heads, 4);
  EXPECT_EQ(model->config().rope.theta, 10000.0);
}

// One change that makes the file impossible, and what the refusal must name.
struct BadKey {
  const char* key;
  std::optional<TinyFile::Value> value;  // nullopt: the key is removed
  ErrorCode code;
  const char* expected;  // part of the message
};

TEST(Config, RefusesWhatCannotBe) {
  constexpr ErrorCode corrupt = ErrorCode::corrupt_file;
  constexpr ErrorCode unsupported = ErrorCode::unsupported;
  const float nan = std::nanf("");
  const BadKey bad_keys[] = {
      {"general.architecture", std::nullopt, corrupt, "general.architecture"},
      {"general.architecture", "mamba", unsupported, "\"mamba\"; supported: bert, gemma2, gemma3,"},
      {"llama.block_count", std::nullopt, corrupt, "llama.block_count is missing"},
      {"llama.block_count", 0u, corrupt, "llama.block_count is 0, expected 1 to"},
      {"llama.block_count", 4000000000u, corrupt, "llama.block_count is 4000000000"},
      {"llama.block_count", 1.5f, corrupt, "llama.block_count"},
      {"llama.embedding_length", std::nullopt, corrupt, "llama.embedding_length is missing"},
      {"llama.embedding_length", 4294967295u, corrupt, "llama.embedding_length is 4294967295"},
      {"llama.embedding_length", "64", corrupt, "llama.embedding_length"},
      {"llama.feed_forward_length", std::nullopt, corrupt, "feed_forward_length is missing"},
      {"llama.feed_forward_length", std::vector<int32_t>{96, 128}, unsupported,
       "llama.feed_forward_length differs from layer to layer"},
      {"llama.feed_forward_length", std::vector<int32_t>{}, corrupt, "feed_forward_length"},
      {"llama.context_length", std::nullopt, corrupt, "llama.context_length is missing"},
      {"llama.attention.head_count", std::nullopt, corrupt, "head_count is missing"},
      {"llama.attention.head_count", 0u, corrupt, "head_count is 0"},
      {"llama.attention.head_count", 64u, corrupt, "head_count is 64, too many"},
      {"llama.attention.head_count_kv", 3u, corrupt, "head_count_kv is 3, expected a divisor of"},
      {"llama.attention.head_count_kv", 8u, corrupt, "head_count_kv is 8, expected a divisor of"},
      {"llama.attention.layer_norm_rms_epsilon", std::nullopt, corrupt, "epsilon is missing"},
      {"llama.attention.layer_norm_rms_epsilon", -1.0f, corrupt, "epsilon is -1"},
      {"llama.attention.layer_norm_rms_epsilon", nan, corrupt, "epsilon is nan"},
      {"llama.attention.causal", false, unsupported, "llama.attention.causal is false"},
      {"llama.rope.freq_base", 0.0f, corrupt, "rope.freq_base is 0"},
      {"llama.rope.dimension_count", 15u, corrupt, "dimension_count is 15, expected an even"},
      {"llama.rope.dimension_count", 18u, corrupt, "dimension_count is 18, expected 2 to 16"},
      {"llama.rope.scaling.type", "ntk", unsupported, "rope.scaling.type is \"ntk\"; supported"},
      {"llama.rope.scaling.factor", -2.0f, corrupt, "rope.scaling.factor is -2"},
      {"llama.vocab_size", 41u, corrupt, "vocab_size is 41, the token embedding has 40 rows"},
      {"llama.expert_count", 8u, corrupt, "llama.expert_used_count is 0 or missing"},
  };
  for (const BadKey& bad : bad_keys) {
    SCOPED_TRACE(fmt::format("{} {}", bad.key, bad.expected));
    TinyFile file;
    if (bad.value) file.metadata[bad.key] = *bad.value;
    else file.metadata.erase(bad.key);
    const Result<Model> model = file.open();
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().code, bad.code);
    EXPECT_NE(model.error().what.find(bad.expected), std::string::npos) << model.error().what;
    EXPECT_FALSE(model.error().advice.empty());
  }
}

TEST(Config, TheTokenListMustFitTheEmbedding) {
  TinyFile file;
  file.tokens.assign(40, "t");
  EXPECT_TRUE(file.open());
  file.tokens.push_back("one more");
  const Result<Model> model = file.open();
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().what,
            "tokenizer.ggml.tokens has 41 tokens, the token embedding 40 rows");
}

TEST(Config, OneValuePerLayerIsThatValueWhereAllAreEqual) {
  TinyFile file;
  file.metadata["llama.feed_forward_length"] = std::vector<int32_t>{96, 96};
  file.metadata["llama.attention.head_count"] = std::vector<int32_t>{4, 4};
  const Result<Model> model = file.open();
  ASSERT_TRUE(model) << model.error().what;
  EXPECT_EQ(model->config().ffn_dim, 96);
  EXPECT_EQ(model->config().n_heads, 4);
}

ModelConfig config_with(const std::map<std::string, TinyFile::Value>& keys) {
  TinyFile file;
  for (const auto& [key, value] : keys) file.metadata["llama." + key] = value;
  const Result<Model> model = file.open();
  EXPECT_TRUE(model) << model.error().what;
  return model->config();
}

TEST(RopeConfig, LinearScalingUnderEitherName) {
  EXPECT_EQ(config_with({{"rope.scale_linear", 4.0f}}).rope.frequency_scale, 0.25);
  EXPECT_EQ(config_with({{"rope.scaling.factor", 4.0f}}).rope.frequency_scale, 0.25);
  EXPECT_EQ(config_with({{"rope.scaling.factor", 4.0f}, {"rope.scale_linear", 2.0f}})
                .rope.frequency_scale,
            0.25);
  const ModelConfig c =
      config_with({{"rope.scaling.type", "linear"}, {"rope.scaling.factor", 8.0f}});
  EXPECT_EQ(c.rope_scaling, RopeScaling::linear);
  EXPECT_EQ(c.rope.frequency_scale, 0.125);
  EXPECT_EQ(c.rope.magnitude, 1.0);
}

TEST(RopeConfig, NoneAndAFactorOfZeroStretchNothing) {
  EXPECT_EQ(config_with({{"rope.scaling.type", "none"}, {"rope.scaling.factor", 4.0f}})
                .rope.frequency_scale,
            1.0);
  const ModelConfig c = config_with({{"rope.scaling.factor", 0.0f}});
  EXPECT_EQ(c.rope.frequency_scale, 1.0);
  EXPECT_EQ(c.rope_scaling, RopeScaling::none);
}

TEST(RopeConfig, YarnMagnitude) {
  const std::map<std::string, TinyFile::Value> yarn = {{"rope.scaling.type", "yarn"},
                                                       {"rope.scaling.factor", 4.0f}};
  const auto with = [&](std::map<std::string, TinyFile::Value> keys) {
    keys.insert(yarn.begin(), yarn.end());
    return config_with(keys).rope;
  };
  const double growth = 1.0 + 0.1 * std::log(4.0);
  EXPECT_DOUBLE_EQ(with({}).magnitude, growth);
  EXPECT_DOUBLE_EQ(with({{"rope.scaling.yarn_attn_factor", 1.5f}}).magnitude, 1.5);
  EXPECT_DOUBLE_EQ(with({{"rope.scaling.attn_factor", 0.5f}}).magnitude, growth * 0.5);
  EXPECT_DOUBLE_EQ(with({{"rope.scaling.yarn_log_multiplier", 0.5f}}).magnitude,
                   growth / (1.0 + 0.05 * std::log(4.0)));
  EXPECT_DOUBLE_EQ(with({{"rope.scaling.factor", 0.5f}}).magnitude, 1.0);  // a shorter context
  EXPECT_EQ(with({}).yarn_mix, 1.0);
  EXPECT_EQ(with({{"rope.scaling.yarn_ext_factor", 0.5f}}).yarn_mix, 0.5);
  EXPECT_EQ(with({}).yarn_original_context_tokens, 256);
  EXPECT_EQ(with({{"rope.scaling.original_context_length", 64u}}).yarn_original_context_tokens, 64);
}

}  // namespace
}  // namespace hwtv::model
