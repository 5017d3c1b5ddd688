#include "transform/importance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gguf/file.h"
#include "gguf/writer.h"
#include "tests/gguf/temporary_folder.h"

namespace hwtv::transform {
namespace {

TEST(ColumnSums, MeansOfSquares) {
  ColumnSums sums;
  sums.add(std::vector<float>{1, 2, 0});
  sums.add(std::vector<float>{3, -2, 0});
  EXPECT_EQ(sums.means(), (std::vector<float>{5, 4, 0}));
}

// Two experts, one of which no token has visited.
TEST(ColumnSums, AMatrixWithoutRowsCountsAsOne) {
  ColumnSums sums{.squares = {2, 4, 0, 0}, .n_rows = {2, 0}};
  EXPECT_EQ(sums.means(), (std::vector<float>{1, 2, 1, 1}));
}

TEST(Importance, ReadsWhatItWrites) {
  const gguf::TemporaryFolder folder;
  Importance importance;
  importance.weights["blk.0.ffn_up.weight"].add(std::vector<float>{1, 2});
  importance.weights["blk.0.ffn_down_exps.weight"] = {.squares = {2, 4, 0, 0}, .n_rows = {2, 0}};
  importance.datasets = {"a.txt", "b.txt"};
  importance.n_chunks = 7;
  importance.chunk_tokens = 512;
  ASSERT_TRUE(write_importance(folder / "i.gguf", importance));
  const auto read = read_importance(folder / "i.gguf");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->datasets, importance.datasets);
  EXPECT_EQ(read->n_chunks, 7);
  EXPECT_EQ(read->chunk_tokens, 512);
  ASSERT_EQ(read->weights.size(), 2u);
  EXPECT_EQ(read->weights.find("blk.0.ffn_up.weight")->second.squares,
            (std::vector<double>{1, 4}));
  EXPECT_EQ(read->weights.find("blk.0.ffn_down_exps.weight")->second.n_rows,
            (std::vector<int64_t>{2, 0}));
  // The names that llama.cpp's tools look for.
  const gguf::File file = std::move(*gguf::File::open(folder / "i.gguf"));
  EXPECT_EQ(**file.get<std::string_view>("general.type"), "imatrix");
  EXPECT_EQ(file.find_tensor("blk.0.ffn_down_exps.weight.in_sum2")->shape,
            (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(file.find_tensor("blk.0.ffn_down_exps.weight.counts")->shape,
            (std::vector<int64_t>{1, 2}));
}

TEST(Importance, RefusesWhatIsNone) {
  const gguf::TemporaryFolder folder;
  const auto refusal = [&](const std::vector<float>& sums, bool with_counts) {
    gguf::Writer writer;
    const std::vector<float> counts = {1, 1};
    const auto n = static_cast<int64_t>(sums.size());
    if (n > 0) {
      EXPECT_TRUE(
          writer.add_tensor("w.in_sum2", DType::F32, {n}, std::as_bytes(std::span(sums))));
    }
    if (with_counts) {
      EXPECT_TRUE(
          writer.add_tensor("w.counts", DType::F32, {1, 2}, std::as_bytes(std::span(counts))));
    }
    EXPECT_TRUE(writer.write(folder / "bad.gguf"));
    const auto read = read_importance(folder / "bad.gguf");
    EXPECT_FALSE(read);
    return read ? std::string() : read.error().what;
  };
  const auto says = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(says(refusal({}, true), "no importance data"));
  EXPECT_TRUE(says(refusal({1, 2}, false), "sums and no counts"));
  EXPECT_TRUE(says(refusal({1, 2, 3}, true), "3 sums for 2 counts"));
  EXPECT_TRUE(says(refusal({1, NAN}, true), "element 1"));
  EXPECT_TRUE(says(refusal({1, -1}, true), "element 1"));
}

}  // namespace
}  // namespace hwtv::transform
