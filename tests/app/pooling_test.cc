#include "app/pooling.h"

#include <gtest/gtest.h>

namespace hwtv::app {
namespace {

using model::Pooling;
using Row = std::vector<float>;

Row pooled(Pooling pooling, bool normalized) {
  Pool pool(pooling);
  int64_t position = 0;
  for (const Row& row : {Row{1, 2}, Row{3, 0}, Row{5, 7}}) pool.add(position++, row);
  return pool.embedding(normalized);
}

TEST(Pooling, TakesTheTokensItIsNamedAfter) {
  EXPECT_EQ(pooled(Pooling::mean, false), (Row{3, 3}));
  EXPECT_EQ(pooled(Pooling::cls, false), (Row{1, 2}));
  EXPECT_EQ(pooled(Pooling::last, false), (Row{5, 7}));
}

TEST(Pooling, NormalizedIsOfLengthOne) {
  const Row mean = pooled(Pooling::mean, true);
  EXPECT_FLOAT_EQ(mean[0], 0.70710678f);
  EXPECT_FLOAT_EQ(mean[1], 0.70710678f);
  Pool zeros(Pooling::mean);
  zeros.add(0, Row{0, 0});
  EXPECT_EQ(zeros.embedding(true), (Row{0, 0}));
}

TEST(Pooling, TheFileChoosesElseWhatTheTokensSee) {
  model::ModelConfig config;
  EXPECT_EQ(*choose_pooling("", config), Pooling::last);
  config.causal = false;
  EXPECT_EQ(*choose_pooling("", config), Pooling::mean);
  config.pooling = Pooling::none;
  EXPECT_EQ(*choose_pooling("", config), Pooling::mean);
  config.pooling = Pooling::cls;
  EXPECT_EQ(*choose_pooling("", config), Pooling::cls);
  EXPECT_EQ(*choose_pooling("last", config), Pooling::last);
  EXPECT_EQ(choose_pooling("first", config).error().code, ErrorCode::invalid_request);
}

TEST(Pooling, CosineIsOfTheAngleAlone) {
  EXPECT_DOUBLE_EQ(cosine(Row{1, 0}, Row{5, 0}), 1);
  EXPECT_DOUBLE_EQ(cosine(Row{2, 0}, Row{0, 3}), 0);
  EXPECT_DOUBLE_EQ(cosine(Row{1, 1}, Row{-4, -4}), -1);
  EXPECT_DOUBLE_EQ(cosine(Row{0, 0}, Row{1, 2}), 0);
}

}  // namespace
}  // namespace hwtv::app
