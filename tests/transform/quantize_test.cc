#include "transform/quantize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/file.h"
#include "gguf/writer.h"
#include "tests/gguf/temporary_folder.h"

namespace hwtv::transform {
namespace {

constexpr int64_t kWidth = 256, kRows = 300;

class QuantizeTest : public testing::Test {
 protected:
  QuantizeTest() : weights_(static_cast<size_t>(kWidth * kRows)) {
    std::mt19937 generator(7);
    std::normal_distribution<float> normal(0, 0.02f);
    for (float& v : weights_) v = normal(generator);
  }

  gguf::File source() {
    gguf::Writer writer;
    writer.set("general.architecture", "llama");
    writer.set("general.name", "a model");
    writer.set("general.file_type", uint32_t{0});
    writer.set("split.count", uint16_t{1});
    EXPECT_TRUE(writer.add_tensor("output_norm.weight", DType::F32, {kWidth},
                                  std::as_bytes(std::span(weights_).first(kWidth))));
    EXPECT_TRUE(writer.add_tensor("blk.0.attn_q.weight", DType::F32, {kWidth, kRows},
                                  std::as_bytes(std::span(weights_))));
    EXPECT_TRUE(writer.write(folder_ / "in.gguf"));
    return std::move(*gguf::File::open(folder_ / "in.gguf"));
  }

  Result<RelativeErrors> run(const gguf::File& file, const std::string& out, int n_threads = 2,
                             const Importance* importance = nullptr,
                             std::function<bool()> is_cancelled = {}) {
    const MixInfo mix = *find_mix("Q4_K_S");
    ThreadTeam team(n_threads);
    return quantize_file({.file = file,
                          .mix = mix,
                          .choices = *choose_types(file, mix, {}),
                          .importance = importance,
                          .importance_path = "text.gguf",
                          .is_cancelled = std::move(is_cancelled)},
                         folder_ / out, team);
  }

  bool exists(const std::string& name) {
    return std::filesystem::exists(folder_ / name) ||
           std::distance(std::filesystem::directory_iterator(folder_.path()), {}) > 1;
  }

  gguf::TemporaryFolder folder_;
  std::vector<float> weights_;
};

TEST_F(QuantizeTest, WritesTypesMetadataAndErrors) {
  const gguf::File file = source();
  const auto errors = run(file, "out.gguf");
  ASSERT_TRUE(errors) << errors.error().what;
  EXPECT_FALSE((*errors)[0]);  // copied
  EXPECT_NEAR(*(*errors)[1], 0.07, 0.01);
  const gguf::File out = std::move(*gguf::File::open(folder_ / "out.gguf"));
  EXPECT_EQ(out.find_tensor("blk.0.attn_q.weight")->dtype, DType::Q4_K);
  EXPECT_EQ(std::memcmp(out.find_tensor("output_norm.weight")->data, weights_.data(), kWidth * 4), 0);
  EXPECT_EQ(**out.get<std::string_view>("general.name"), "a model");
  EXPECT_EQ(**out.get<int64_t>("general.file_type"), 14);
  EXPECT_EQ(**out.get<int64_t>("general.quantization_version"), 2);
  EXPECT_EQ(out.find("split.count"), nullptr);
}

TEST_F(QuantizeTest, TheSameBytesForAnyNumberOfThreads) {
  const gguf::File file = source();
  ASSERT_TRUE(run(file, "one.gguf", 1));
  ASSERT_TRUE(run(file, "five.gguf", 5));
  EXPECT_EQ(*read_file(folder_ / "one.gguf"), *read_file(folder_ / "five.gguf"));
}

TEST_F(QuantizeTest, AnElementThatIsNoNumberIsNamed) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(),
                          -std::numeric_limits<float>::infinity(), 1e6f}) {
    weights_[5 * kWidth + 17] = bad;
    weights_[200 * kWidth] = bad;
    const auto errors = run(source(), "out.gguf");
    ASSERT_FALSE(errors);
    EXPECT_EQ(errors.error().code, ErrorCode::corrupt_file);
    EXPECT_NE(errors.error().what.find("element 1297 of tensor 'blk.0.attn_q.weight' (row 5, "
                                       "column 17)"),
              std::string::npos)
        << errors.error().what;
    EXPECT_FALSE(exists("out.gguf"));
  }
}

TEST_F(QuantizeTest, StopsWhenAskedAndLeavesNothing) {
  int n_asked = 0;
  const auto errors = run(source(), "out.gguf", 2, nullptr, [&] { return ++n_asked > 1; });
  ASSERT_FALSE(errors);
  EXPECT_EQ(errors.error().code, ErrorCode::cancelled);
  EXPECT_FALSE(exists("out.gguf"));
}

TEST_F(QuantizeTest, ImportanceIsUsedToldAndChecked) {
  Importance importance;
  importance.datasets = {"book.txt"};
  importance.n_chunks = 3;
  ColumnSums& sums = importance.weights["blk.0.attn_q.weight"];
  std::vector<float> row(kWidth, 1.0f);
  row[3] = 50;
  sums.add(row);
  const gguf::File file = source();
  ASSERT_TRUE(run(file, "plain.gguf"));
  ASSERT_TRUE(run(file, "out.gguf", 2, &importance));
  const gguf::File plain = std::move(*gguf::File::open(folder_ / "plain.gguf"));
  const gguf::File out = std::move(*gguf::File::open(folder_ / "out.gguf"));
  const gguf::TensorInfo& a = *plain.find_tensor("blk.0.attn_q.weight");
  EXPECT_NE(std::memcmp(a.data, out.find_tensor(a.name)->data, static_cast<size_t>(a.n_bytes)), 0);
  EXPECT_EQ(**out.get<std::string_view>("quantize.imatrix.file"), "text.gguf");
  EXPECT_EQ(**out.get<std::string_view>("quantize.imatrix.dataset"), "book.txt");
  EXPECT_EQ(**out.get<int64_t>("quantize.imatrix.entries_count"), 1);
  EXPECT_EQ(**out.get<int64_t>("quantize.imatrix.chunks_count"), 3);

  importance.weights["blk.0.attn_q.weight"] = {};
  importance.weights["blk.0.attn_q.weight"].add(std::span(row).first(100));
  const auto errors = run(file, "wrong.gguf", 2, &importance);
  ASSERT_FALSE(errors);
  EXPECT_NE(errors.error().what.find("256 columns, its importance data 100"), std::string::npos);
}

TEST_F(QuantizeTest, SaysWhatAFullDiskLacks) {
  const auto errors = run(source(), "missing_folder/out.gguf");
  ASSERT_FALSE(errors);
  EXPECT_EQ(errors.error().code, ErrorCode::io);
  EXPECT_NE(errors.error().what.find("of 43.2 KiB"), std::string::npos) << errors.error().what;
}

}  // namespace
}  // namespace hwtv::transform
