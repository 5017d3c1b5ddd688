#include "engine/engine.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/engine/fake_backend.h"
#include "tests/engine/tiny_model.h"

namespace hwtv::engine {
namespace {

class EngineTest : public ::testing::Test {
 protected:
  std::unique_ptr<Engine> make(const EngineConfig& config) {
    auto made = Engine::create(backend_, model_, config, clock_, recorder_);
    EXPECT_TRUE(made) << made.error().what;
    return std::move(*made);
  }

  // Runs everything to its end and gives each sequence's answer.
  static std::map<SequenceId, std::vector<int32_t>> run(Engine& engine) {
    std::map<SequenceId, std::vector<int32_t>> answers;
    while (!engine.idle()) {
      const auto events = engine.step();
      EXPECT_TRUE(events);
      for (const TokenEvent& event : *events) {
        auto& answer = answers[event.id];
        if (event.token) answer.push_back(*event.token);
      }
      for (const kv::KvBlockPool& pool : engine.pools()) pool.check_integrity();
    }
    return answers;
  }

  static SequenceRequest request(int seed, int n_prompt, int n_answer) {
    std::mt19937 random(static_cast<uint32_t>(seed));
    SequenceRequest made;
    for (int i = 0; i < n_prompt; ++i) made.prompt.push_back(static_cast<int32_t>(random() % 64));
    made.n_tokens_max = n_answer;
    made.sampling.temperature = seed % 2 ? 1.0 : 0.0;
    made.sampling.seed = static_cast<uint64_t>(seed);
    return made;
  }

  std::vector<int32_t> alone(const SequenceRequest& wanted) {
    auto engine = make({.context_tokens_max = 400, .n_tokens_max = 400});
    const SequenceId id = *engine->add(wanted);
    return run(*engine)[id];
  }

  FakeBackend backend_;
  model::Model model_ = tiny_model(3);
  FakeClock clock_;
  observe::Recorder recorder_;
};

TEST_F(EngineTest, ChunksAndMatesDoNotChangeAnAnswer) {
  std::vector<std::vector<int32_t>> expected;
  for (int i = 0; i < 12; ++i) expected.push_back(alone(request(i, 1 + 17 * i, 30)));
  for (const int64_t chunk : {1, 7, 64, 400}) {
    auto engine = make({.n_seqs_max = 5, .context_tokens_max = 400, .n_tokens_max = chunk});
    std::vector<SequenceId> ids;
    for (int i = 0; i < 12; ++i) ids.push_back(*engine->add(request(i, 1 + 17 * i, 30)));
    auto answers = run(*engine);
    for (size_t i = 0; i < ids.size(); ++i)
      EXPECT_EQ(answers[ids[i]], expected[i]) << "chunk " << chunk;
  }
}

TEST_F(EngineTest, EachSequenceHasItsOwnAdapters) {
  const std::vector<std::vector<int32_t>> named = {{}, {0}, {1}, {2}, {0, 2}, {2, 0}};
  std::vector<std::vector<int32_t>> expected;
  const auto with = [&](const std::vector<int32_t>& adapters) {
    SequenceRequest made = request(1, 20, 30);  // sampled, all with one seed
    made.adapters = adapters;
    return made;
  };
  for (const auto& adapters : named) expected.push_back(alone(with(adapters)));
  for (size_t i = 1; i < expected.size(); ++i) EXPECT_NE(expected[i], expected[i - 1]);
  for (const int64_t chunk : {7, 400}) {
    auto engine = make({.n_seqs_max = 6, .context_tokens_max = 400, .n_tokens_max = chunk});
    std::vector<SequenceId> ids;
    for (const auto& adapters : named) ids.push_back(*engine->add(with(adapters)));
    auto answers = run(*engine);
    for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(answers[ids[i]], expected[i]) << chunk;
  }
}

TEST_F(EngineTest, AKeptSequenceServesItsOwnAdaptersOnly) {
  auto engine = make({.n_seqs_max = 2, .context_tokens_max = 400, .n_tokens_max = 64});
  SequenceRequest first = request(4, 100, 1);
  first.keep = true;
  first.adapters = {1};
  SequenceRequest second = first;
  second.prompt.push_back(5);
  for (const std::vector<int32_t>& adapters : {std::vector<int32_t>{0}, {}, {1}}) {
    first.continues.reset();
    second.continues = *engine->add(first);
    run(*engine);
    second.adapters = adapters;
    const SequenceId next = *engine->add(second);
    EXPECT_EQ(engine->n_reused_tokens(next), adapters == first.adapters ? 100 : 0);
    SequenceRequest anew = second;
    anew.continues.reset();
    EXPECT_EQ(run(*engine)[next], alone(anew));
  }
}

TEST_F(EngineTest, AdaptersThatAreNotThereAreRefused) {
  auto engine = make({.context_tokens_max = 100});
  SequenceRequest wrong = request(1, 3, 5);
  wrong.adapters = {1, 3};
  const auto beyond = engine->add(wrong);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().what, "the request names adapter 3, the model was opened with 3");
  EXPECT_EQ(beyond.error().advice, "use 0 to 2, or none");
  wrong.adapters = {2, 2};
  const auto twice = engine->add(wrong);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().what, "the request names adapter 2 twice");
}

TEST_F(EngineTest, ThousandsOfRequestsThroughASmallPoolAllFinish) {
  auto engine = make({.n_seqs_max = 8,
                      .context_tokens_max = 128,
                      .n_tokens_max = 32,
                      .kv_block_tokens = 8,
                      .kv_pool_tokens = 256});
  std::mt19937 random(3);
  std::map<SequenceId, int> lengths;
  std::map<SequenceId, size_t> got;
  int n_added = 0;
  while (n_added < 3000 || !engine->idle()) {
    for (int burst = static_cast<int>(random() % 4); burst > 0 && n_added < 3000; --burst) {
      const int n_prompt = 1 + static_cast<int>(random() % 90);
      const int n_answer = 1 + static_cast<int>(random() % (128 - static_cast<uint32_t>(n_prompt)));
      lengths[*engine->add(request(n_added++, n_prompt, n_answer))] = n_answer;
    }
    if (engine->idle()) continue;
    const auto events = engine->step();
    ASSERT_TRUE(events);
    for (const TokenEvent& event : *events) ++got[event.id];
    engine->pools()[0].check_integrity();
  }
  EXPECT_EQ(got.size(), 3000u);
  for (const auto& [id, n] : lengths) EXPECT_EQ(got[id], static_cast<size_t>(n));
}

TEST_F(EngineTest, AKeptSequenceIsNotComputedAgain) {
  auto engine = make({.context_tokens_max = 400, .n_tokens_max = 64});
  SequenceRequest first = request(4, 100, 10);
  first.keep = true;
  const SequenceId id = *engine->add(first);
  const std::vector<int32_t> answer = run(*engine)[id];
  SequenceRequest second = first;
  second.prompt.insert(second.prompt.end(), answer.begin(), answer.end());
  second.prompt.push_back(5);
  const std::vector<int32_t> expected = alone(second);
  FakeExecutable* executable = nullptr;
  auto again = make({.n_seqs_max = 2, .context_tokens_max = 400, .n_tokens_max = 64});
  executable = backend_.executable;
  const SequenceId kept = *again->add(first);
  run(*again);
  const int64_t n_before = executable->n_tokens;
  second.continues = kept;
  ASSERT_TRUE(again->add(request(8, 40, 1)));  // takes whatever blocks are given back too early
  const SequenceId next = *again->add(second);
  EXPECT_EQ(again->n_reused_tokens(next), 109);  // all but the answer's last token was in the cache
  EXPECT_EQ(run(*again)[next], expected);
  EXPECT_EQ(executable->n_tokens - n_before, 40 + 2 + 9);
}

// What waiting sequences took over from kept ones lies in the pool too, and is given back before a
// sequence that was promised room finds none.
TEST_F(EngineTest, WhatWaitingSequencesHoldIsNotPromisedTwice) {
  auto engine = make({.n_seqs_max = 4,
                      .context_tokens_max = 60,
                      .n_tokens_max = 64,
                      .kv_block_tokens = 8,
                      .kv_pool_tokens = 96});
  std::vector<SequenceRequest> requests;
  for (int i = 0; i < 3; ++i) {
    requests.push_back(request(i, 20, 0));
    requests.back().keep = true;
    const SequenceId id = *engine->add(requests.back());
    run(*engine);
    requests.back().continues = id;
    requests.back().n_tokens_max = 30;
  }
  std::vector<SequenceId> ids;
  for (const SequenceRequest& request : requests) ids.push_back(*engine->add(request));
  auto answers = run(*engine);
  for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(answers[ids[i]], alone(requests[i]));
  engine->pools()[0].check_integrity();
}

TEST_F(EngineTest, EndTokensEndWithoutBeingPartOfTheAnswer) {
  const SequenceRequest plain = request(2, 5, 20);
  const std::vector<int32_t> answer = alone(plain);
  SequenceRequest ended = plain;
  ended.end_tokens = {answer[7]};
  const auto first = std::find(answer.begin(), answer.end(), answer[7]);
  EXPECT_EQ(alone(ended), std::vector<int32_t>(answer.begin(), first));
}

TEST_F(EngineTest, PromptRowsComeOnceEachInOrder) {
  for (const int64_t n_outputs : {1, 3, 64}) {
    auto engine = make({.context_tokens_max = 400, .n_tokens_max = 64, .n_outputs_max = n_outputs});
    SequenceRequest wanted = request(6, 50, 0);
    std::vector<int64_t> positions;
    wanted.prompt_rows = [&](int64_t position, std::span<const float> row) {
      positions.push_back(position);
      EXPECT_EQ(row.size(), 64u);
    };
    ASSERT_TRUE(engine->add(wanted));
    run(*engine);
    ASSERT_EQ(positions.size(), 50u);
    for (size_t i = 0; i < 50; ++i) EXPECT_EQ(positions[i], static_cast<int64_t>(i));
  }
}

TEST_F(EngineTest, PromptRowsMayBeginLate) {
  auto engine = make({.context_tokens_max = 400, .n_tokens_max = 16, .n_outputs_max = 5});
  SequenceRequest wanted = request(6, 50, 0);
  std::vector<int64_t> positions;
  wanted.prompt_rows_from = 30;
  wanted.prompt_rows = [&](int64_t position, std::span<const float>) {
    positions.push_back(position);
  };
  ASSERT_TRUE(engine->add(wanted));
  run(*engine);
  ASSERT_EQ(positions.size(), 20u);
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(positions[i], static_cast<int64_t>(30 + i));
}

TEST_F(EngineTest, CancellingGivesTheBlocksBack) {
  auto engine = make({.n_seqs_max = 2, .context_tokens_max = 400, .n_tokens_max = 64});
  const SequenceId first = *engine->add(request(1, 200, 50));
  ASSERT_TRUE(engine->step());
  EXPECT_GT(engine->pools()[0].n_held(), 0);
  engine->cancel(first);
  EXPECT_TRUE(engine->idle());
  EXPECT_EQ(engine->pools()[0].n_held(), 0);
}

TEST_F(EngineTest, ImpossibleRequestsAreRefusedWithBothNumbers) {
  auto engine = make({.context_tokens_max = 100});
  const auto long_one = engine->add(request(1, 80, 21));
  ASSERT_FALSE(long_one);
  EXPECT_EQ(long_one.error().what,
            "80 prompt tokens and 21 for the answer do not fit a context of 100");
  EXPECT_FALSE(engine->add(request(1, 0, 5)));
  SequenceRequest outside = request(1, 3, 5);
  outside.prompt[1] = 64;
  EXPECT_FALSE(engine->add(outside));
}

TEST_F(EngineTest, StepsAreRecordedWithTheirWork) {
  auto engine = make({.context_tokens_max = 100, .n_tokens_max = 64});
  ASSERT_TRUE(engine->add(request(1, 70, 4)));
  run(*engine);
  const auto totals = recorder_.totals();
  EXPECT_EQ(totals.prefill.n_tokens, 70);
  EXPECT_EQ(totals.prefill.n_steps, 2);
  EXPECT_EQ(totals.decode.n_tokens, 3);  // the first answer token comes out of the prefill
  EXPECT_GT(totals.decode.work.read_bytes, 0);
}

}  // namespace
}  // namespace hwtv::engine
