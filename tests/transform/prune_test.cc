#include "transform/prune.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "gguf/writer.h"
#include "tests/gguf/temporary_folder.h"

namespace hwtv::transform {
namespace {

LayerPlan plan_of(int64_t n_layers, int64_t period = 1) {
  return {.architecture = "llama", .n_layers = n_layers, .period = period};
}

using Layers = std::vector<int64_t>;

TEST(Prune, TakesTheLeastInfluentialLayers) {
  const std::vector<double> influences = {0.5, 0.1, 0.3, 0.05, 0.2};
  EXPECT_EQ(choose_layers(plan_of(5), influences, 1), (Layers{3}));
  EXPECT_EQ(choose_layers(plan_of(5), influences, 2), (Layers{1, 3}));
  EXPECT_EQ(choose_layers(plan_of(5), influences, 4), (Layers{1, 2, 3, 4}));
}

// What every choice that keeps the layers' places would lose, tried one by one.
double least_loss(const LayerPlan& plan, const std::vector<double>& influences, int64_t n_removed) {
  double least = 1e9;
  for (uint32_t set = 0; set < 1U << plan.n_layers; ++set) {
    if (std::popcount(set) != n_removed) continue;
    double loss = 0;
    int64_t place = 0;
    bool is_allowed = true;
    for (int64_t layer = 0; layer < plan.n_layers; ++layer) {
      if (set >> layer & 1)
        loss += influences[static_cast<size_t>(layer)];
      else
        is_allowed = is_allowed && layer % plan.period == place++ % plan.period;
    }
    if (is_allowed) least = std::min(least, loss);
  }
  return least;
}

TEST(Prune, KeepsEveryLayersRole) {
  std::mt19937 numbers(7);
  std::uniform_real_distribution<double> uniform(0.01, 1);
  for (const int64_t period : {2, 3, 6}) {
    for (int64_t n_removed = 1; n_removed < 11; ++n_removed) {
      const LayerPlan plan = plan_of(11, period);
      std::vector<double> influences(11);
      std::ranges::generate(influences, [&] { return uniform(numbers); });
      const Layers removed = choose_layers(plan, influences, n_removed);
      ASSERT_EQ(static_cast<int64_t>(removed.size()), n_removed);
      double loss = 0;
      for (const int64_t layer : removed) loss += influences[static_cast<size_t>(layer)];
      EXPECT_NEAR(loss, least_loss(plan, influences, n_removed), 1e-12);
      int64_t place = 0;
      for (int64_t layer = 0; layer < 11; ++layer)
        if (!std::ranges::binary_search(removed, layer)) {
          EXPECT_EQ(layer % period, place++ % period) << layer;
        }
    }
  }
}

TEST(Prune, InfluenceIsOneLessTheCosine) {
  InfluenceMeter meter(2);
  const std::vector<float> a = {1, 0, 0, 2}, b = {1, 1, 0, 5}, c = {-1, -1, 3, 0};
  for (int step = 0; step < 2; ++step) {
    meter.observe("blk.0.attn_norm.weight", a, 2);
    meter.observe("blk.0.ffn_norm.weight", c, 2);  // inside the layer
    meter.observe("blk.1.attn_norm.weight", b, 2);
    meter.observe("output_norm.weight", c, 2);
  }
  const std::vector<double> influences = meter.influences();
  EXPECT_EQ(meter.n_rows(), 4);
  EXPECT_NEAR(influences[0], 1 - (std::sqrt(0.5) + 1) / 2, 1e-9);
  EXPECT_NEAR(influences[1], 1 - (-1.0 + 0) / 2, 1e-9);
}

TEST(Prune, RenumbersTensorsAndLists) {
  const gguf::TemporaryFolder folder;
  const std::string in = folder / "in.gguf", out = folder / "out.gguf";
  gguf::Writer writer;
  writer.set("general.architecture", "llama");
  writer.set("llama.block_count", uint32_t{12});
  std::vector<int32_t> numbers(12);
  for (int i = 0; i < 12; ++i) numbers[static_cast<size_t>(i)] = 10 * i;
  writer.set_array("llama.attention.head_count_kv", numbers);
  writer.set_array("other.list", numbers);  // no layers' list
  std::vector<std::vector<float>> values;
  for (int i = 0; i < 12; ++i) values.push_back({static_cast<float>(i)});
  for (size_t i = 0; i < 12; ++i)
    ASSERT_TRUE(writer.add_tensor("blk." + std::to_string(i) + ".w", DType::F32, {1},
                                  std::as_bytes(std::span(values[i]))));
  ASSERT_TRUE(writer.add_tensor("output_norm.weight", DType::F32, {1},
                                std::as_bytes(std::span(values[3]))));
  ASSERT_TRUE(writer.write(in));
  const auto file = gguf::File::open(in);
  ASSERT_TRUE(file);
  const auto plan = read_layer_plan(*file);
  ASSERT_TRUE(plan);
  const PruneJob job{.file = *file, .plan = *plan, .removed = {1, 10}};
  EXPECT_EQ(pruned_bytes(job), 11 * 4);
  ASSERT_TRUE(prune_file(job, out));
  const auto pruned = gguf::File::open(out);
  ASSERT_TRUE(pruned) << pruned.error().what;
  EXPECT_EQ(pruned->require<int64_t>("llama.block_count"), 10);
  const std::vector<int64_t> kept = {0, 20, 30, 40, 50, 60, 70, 80, 90, 110};
  EXPECT_EQ(pruned->find("llama.attention.head_count_kv")->as_ints(), kept);
  EXPECT_EQ(pruned->find("other.list")->n_elements(), 12);
  EXPECT_EQ(pruned->tensors().size(), 11U);
  for (size_t i = 0; i < 10; ++i) {
    const gguf::TensorInfo* tensor = pruned->find_tensor("blk." + std::to_string(i) + ".w");
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(*reinterpret_cast<const float*>(tensor->data), static_cast<float>(kept[i] / 10));
  }
}

TEST(Prune, RefusesWhatItsNumberOfLayersDecides) {
  const gguf::TemporaryFolder folder;
  const std::string in = folder / "in.gguf";
  for (const uint32_t n_layers : {61U, 62U}) {
    gguf::Writer writer;
    writer.set("general.architecture", "gemma3");
    writer.set("gemma3.block_count", n_layers);
    ASSERT_TRUE(writer.write(in));
    const auto file = gguf::File::open(in);
    ASSERT_TRUE(file);
    const auto plan = read_layer_plan(*file);
    ASSERT_EQ(static_cast<bool>(plan), n_layers == 61);
    if (plan)
      EXPECT_EQ(plan->period, 6);
    else
      EXPECT_EQ(plan.error().code, ErrorCode::unsupported);
  }
}

}  // namespace
}  // namespace hwtv::transform
