#include "observe/recorder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace hwtv::observe {
namespace {

StepRecord step(int64_t index, int n_prefill, int n_decode) {
  return {.index = index,
          .start_s = static_cast<double>(index),
          .seconds = 0.5,
          .n_prefill_tokens = n_prefill,
          .n_decode_tokens = n_decode,
          .n_seqs = 1,
          .work = {.read_bytes = 100}};
}

TEST(Recorder, TheRingKeepsTheLatestAndTheTotalsKeepAll) {
  Recorder recorder(4);
  recorder.add_step(step(0, 31, 0));
  for (int i = 1; i < 10; ++i) recorder.add_step(step(i, 0, 2));
  recorder.add_step(step(10, 7, 1));
  const auto steps = recorder.steps();
  ASSERT_EQ(steps.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(steps[i].index, static_cast<int64_t>(7 + i));
  const Recorder::Totals totals = recorder.totals();
  EXPECT_EQ(totals.prefill.n_tokens, 31);
  EXPECT_EQ(totals.decode.n_tokens, 18);
  EXPECT_EQ(totals.decode.n_steps, 9);
  EXPECT_EQ(totals.decode.work.read_bytes, 900);
  EXPECT_DOUBLE_EQ(totals.decode.tokens_per_s(), 4);
  EXPECT_EQ(totals.mixed.n_tokens, 8);
  EXPECT_EQ(totals.n_steps_dropped, 7);
}

TEST(Recorder, FewerThanTheRingHolds) {
  Recorder recorder(4);
  EXPECT_TRUE(recorder.steps().empty());
  EXPECT_EQ(recorder.totals().decode.tokens_per_s(), 0);
  recorder.add_step(step(0, 1, 0));
  EXPECT_EQ(recorder.steps().size(), 1u);
  EXPECT_EQ(recorder.totals().n_steps_dropped, 0);
}

TEST(Recorder, SpansOnlyWhenProfiling) {
  Recorder off(4), on(4, 2);
  EXPECT_FALSE(off.profiles());
  EXPECT_TRUE(on.profiles());
  for (Recorder* recorder : {&off, &on})
    for (const char* op : {"a", "b", "c"}) recorder->add_span({.op = op, .kernel = "k"});
  EXPECT_TRUE(off.spans().empty());
  ASSERT_EQ(on.spans().size(), 2u);
  EXPECT_STREQ(on.spans()[0].op, "b");
  EXPECT_EQ(on.totals().n_spans_dropped, 1);
}

TEST(Recorder, ReadersSeeWholeSteps) {
  Recorder recorder(8, 8);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 20000; ++i) {
      recorder.add_step(step(i, 0, 1));
      recorder.add_span({.op = "op", .start_s = static_cast<double>(i), .seconds = 1});
    }
    done = true;
  });
  while (!done) {
    for (const StepRecord& seen : recorder.steps())
      ASSERT_EQ(seen.start_s, static_cast<double>(seen.index));
    const auto spans = recorder.spans();
    for (size_t i = 1; i < spans.size(); ++i) ASSERT_EQ(spans[i].start_s, spans[i - 1].start_s + 1);
  }
  writer.join();
  EXPECT_EQ(recorder.totals().decode.n_tokens, 20000);
}

}  // namespace
}  // namespace hwtv::observe
