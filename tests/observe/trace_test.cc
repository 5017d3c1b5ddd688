#include "observe/trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hwtv::observe {
namespace {

using Json = nlohmann::json;

TEST(Trace, StepsAndOpsWithTheirRates) {
  const std::vector<StepRecord> steps = {{.index = 3,
                                          .start_s = 1,
                                          .seconds = 0.01,
                                          .n_decode_tokens = 1,
                                          .n_seqs = 1,
                                          .work = {.read_bytes = 99e6, .int8_ops = 2e8}}};
  const std::vector<OpSpan> spans = {{.op = "mat_mul ffn_down.0",
                                      .kernel = "q4_1.\"avx512\"\n",
                                      .start_s = 1.001,
                                      .seconds = 0.002,
                                      .work = {.read_bytes = 10e6}}};
  const Json trace = Json::parse(trace_document("hwtv run \"a\\b\"", steps, spans));
  const Json& events = trace["traceEvents"];
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events[0]["args"]["name"], "hwtv run \"a\\b\"");
  const Json& step = events[3];
  EXPECT_EQ(step["ph"], "X");
  EXPECT_EQ(step["name"], "decode");
  EXPECT_EQ(step["args"]["step"], 3);
  EXPECT_DOUBLE_EQ(step["ts"], 1e6);
  EXPECT_DOUBLE_EQ(step["dur"], 1e4);
  EXPECT_DOUBLE_EQ(step["args"]["GB/s"], 9.9);
  const Json& op = events[4];
  EXPECT_EQ(op["args"]["kernel"], "q4_1.\"avx512\"\n");
  EXPECT_DOUBLE_EQ(op["args"]["GB/s"], 5);
  // An op lies within its step, on another track.
  EXPECT_NE(op["tid"], step["tid"]);
  EXPECT_LT(op["ts"].get<double>() + op["dur"].get<double>(),
            step["ts"].get<double>() + step["dur"].get<double>());
}

TEST(Trace, EmptyIsStillADocument) {
  EXPECT_EQ(Json::parse(trace_document("x", {}, {}))["traceEvents"].size(), 3u);
}

}  // namespace
}  // namespace hwtv::observe
