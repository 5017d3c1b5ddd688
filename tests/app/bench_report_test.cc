#include "app/bench_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace hwtv::app {
namespace {

// 2 threads at 100 GB/s and 1000 Gop/s.
BenchReport report() {
  BenchReport report;
  report.model = "a \"b\", c.gguf";
  report.kv_type = "F16";
  report.n_threads = 2;
  report.load_s = {0.5, 0.3, 0.4};
  BenchResult prefill;
  prefill.test = {BenchTest::Kind::prefill, 512, 0, 1};
  prefill.seconds = {1.0, 2.0, 1.25};
  prefill.n_tokens = 512;
  prefill.work.int8_ops = 250e9;
  prefill.compute_limit_ops_per_s = 1000e9;
  BenchResult batch;
  batch.test = {BenchTest::Kind::batch, 32, 10, 4};
  batch.seconds = {0.5, 0.4};
  batch.n_tokens = 40;
  batch.work.flops = 90e9;
  batch.step_bytes = 1.8e9;
  batch.compute_limit_ops_per_s = 1000e9;
  batch.read_limit_bytes_per_s = 100e9;
  batch.read_level = "DRAM";
  batch.joules_per_token = 1.5;
  BenchResult skipped;
  skipped.test = {BenchTest::Kind::decode, 8192, 64, 1};
  skipped.skipped = "the model was trained for 2,048 tokens";
  report.results = {prefill, skipped, batch};
  return report;
}

TEST(BenchReport, SharesAreOfTheNearerLimit) {
  const BenchReport made = report();
  EXPECT_DOUBLE_EQ(made.results[0].tokens_per_s(), 512 / 1.25);
  EXPECT_DOUBLE_EQ(made.results[0].spread(), 1.0 / 1.25);
  EXPECT_DOUBLE_EQ(made.results[0].compute_share(), 0.2);
  EXPECT_TRUE(made.results[0].bound_by_compute());
  EXPECT_DOUBLE_EQ(made.results[2].compute_share(), 0.2);
  EXPECT_DOUBLE_EQ(made.results[2].bandwidth_share(), 0.4);
  EXPECT_FALSE(made.results[2].bound_by_compute());
  EXPECT_DOUBLE_EQ(made.results[2].share(), 0.4);
}

TEST(BenchReport, MarkdownHasARowForEachTest) {
  const std::string text = bench_markdown(report());
  EXPECT_NE(text.find("| load | 400 ms | 50.0 % | 3 |"), std::string::npos) << text;
  EXPECT_NE(text.find("| prefill 512 | 410 | 80.0 % | 3 | 20.0 % | 1000 Gop/s int8 | not "
                      "observable here |\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("| decode 64 at 8192 | skipped: the model was trained for 2,048 tokens |"),
            std::string::npos);
  EXPECT_NE(text.find("| 40.0 % | 100.0 GB/s from DRAM | 1.5 |"), std::string::npos) << text;
}

TEST(BenchReport, EveryCsvRowHasAsManyCellsAsItsHead) {
  const std::string text = bench_csv(report());
  std::vector<int> n_cells;
  bool quoted = false;
  int n = 1;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) ++n;
    if (c == '\n') n_cells.push_back(std::exchange(n, 1));
  }
  EXPECT_EQ(n_cells, std::vector<int>(4, 16)) << text;
  EXPECT_NE(text.find("\"a \"\"b\"\", c.gguf\","), std::string::npos);
}

TEST(BenchReport, JsonIsLaidOutLikeAnAccount) {
  const auto json = nlohmann::json::parse(bench_json(report()));
  EXPECT_DOUBLE_EQ(json["prefill"]["tokens_per_s"].get<double>(), 512 / 1.25);
  EXPECT_FALSE(json.contains("decode"));  // the only one was skipped
  EXPECT_DOUBLE_EQ(json["load_s"].get<double>(), 0.4);
  ASSERT_EQ(json["bench"].size(), 3u);
  EXPECT_TRUE(json["bench"][0]["joules_per_token"].is_null());
  EXPECT_EQ(json["bench"][1]["skipped"], "the model was trained for 2,048 tokens");
  EXPECT_EQ(json["bench"][2]["bound_by"], "bandwidth");
}

}  // namespace
}  // namespace hwtv::app
