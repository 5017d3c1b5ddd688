// A draft model changes no event of any sequence, is used where it pays, and costs little
// elsewhere.
#include "engine/draft_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/lookup_first.h"
#include "tests/engine/fake_backend.h"
#include "tests/engine/requests.h"
#include "tests/engine/tiny_model.h"

namespace hwtv::engine {
namespace {

SequenceRequest greedy(std::vector<int32_t> prompt, int64_t n_tokens) {
  SequenceRequest made;
  made.prompt = std::move(prompt);
  made.n_tokens_max = n_tokens;
  return made;
}

std::vector<int32_t> text_of(const SequenceRequest& request, const Seen& seen) {
  std::vector<int32_t> text = request.prompt;
  text.insert(text.end(), seen.tokens.begin(), seen.tokens.end());
  return text;
}

class DraftModelTest : public ::testing::Test {
 protected:
  std::unique_ptr<Engine> make(const EngineConfig& config) {
    auto made = Engine::create(backend_, model_, config, clock_, recorder_);
    EXPECT_TRUE(made) << made.error().what;
    return std::move(*made);
  }

  // An engine that guesses with a draft of its own.  Its text goes before what it refers to.
  std::unique_ptr<Engine> make_drafting(EngineConfig config, int64_t draft_context = 4096,
                                        bool lookup_first = false) {
    auto made =
        Engine::create(draft_backend_, model_, DraftModel::config_for(config, draft_context),
                       clock_, draft_recorder_);
    EXPECT_TRUE(made) << made.error().what;
    draft_engine_ = std::move(*made);
    auto draft = DraftModel::create(*draft_engine_, clock_);
    EXPECT_TRUE(draft);
    draft_ = std::move(*draft);
    config.make_proposer = [this, lookup_first](int64_t capacity) -> std::unique_ptr<Proposer> {
      if (!lookup_first) return draft_->make_proposer();
      return std::make_unique<LookupFirst>(capacity, draft_->make_proposer());
    };
    return make(config);
  }

  // The target's step takes 1 s and 10 ms for each token, the draft's as much as is given.
  void take_time(double draft_step_s, double draft_token_s) {
    backend_.clock = draft_backend_.clock = &clock_;
    backend_.step_s = 1, backend_.token_s = 0.01;
    draft_backend_.step_s = draft_step_s, draft_backend_.token_s = draft_token_s;
  }

  // How much sooner the answer is there with the draft.
  double speedup(const SequenceRequest& request) {
    EngineConfig config{.context_tokens_max = 1500, .n_tokens_max = 64};
    double start_s = clock_.now_s();
    const std::vector<Seen> expected = run(*make(config), {request});
    const double plain_s = clock_.now_s() - start_s;
    config.speculation = SpeculationMode::automatic;
    const auto engine = make_drafting(config);
    start_s = clock_.now_s();
    EXPECT_EQ(run(*engine, {request}), expected);
    return plain_s / (clock_.now_s() - start_s);
  }

  FakeBackend backend_, draft_backend_;
  model::Model model_ = tiny_model();
  FakeClock clock_;
  observe::Recorder recorder_, draft_recorder_;
  std::unique_ptr<Engine> draft_engine_;
  std::unique_ptr<DraftModel> draft_;
};

TEST_F(DraftModelTest, EveryEventIsTheSameWhateverTheDraftSays) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    std::vector<SequenceRequest> requests;
    for (int i = 0; i < 10; ++i) requests.push_back(random_request(random));
    EngineConfig config{.n_seqs_max = 1 + static_cast<int64_t>(random() % 5),
                        .context_tokens_max = 92,
                        .n_tokens_max = 8 + static_cast<int64_t>(random() % 60),
                        .kv_block_tokens = 1 + static_cast<int64_t>(random() % 8)};
    const std::vector<Seen> expected = run(*make(config), watched(requests));
    config.speculation = round % 2 ? SpeculationMode::always : SpeculationMode::automatic;
    config.n_proposed_max = 1 + static_cast<int64_t>(random() % 9);
    draft_backend_.other_every = random() % 4;
    const int64_t draft_context = round % 3 == 0 ? 1 + random() % 40 : 4096;
    const auto engine = make_drafting(config, draft_context, random() % 2);
    const std::vector<Seen> seen = run(*engine, watched(requests));
    for (size_t i = 0; i < seen.size(); ++i)
      ASSERT_EQ(seen[i], expected[i]) << "round " << round << ", sequence " << i;
    for (const kv::KvBlockPool& pool : draft_engine_->pools()) pool.check_integrity();
  }
  const auto totals = recorder_.totals();
  EXPECT_GT(totals.decode.n_accepted_tokens, 300);
  EXPECT_GT(totals.decode.n_proposed_tokens, totals.decode.n_accepted_tokens + 500);
}

TEST_F(DraftModelTest, AModelThatDraftsForItselfIsAlwaysRight) {
  const auto engine = make_drafting({.context_tokens_max = 200,
                                     .n_tokens_max = 64,
                                     .speculation = SpeculationMode::always,
                                     .n_proposed_max = 4});
  run(*engine, {greedy({1, 2, 3, 4, 5, 6, 7}, 101)});
  const observe::StepTotals decode = recorder_.totals().decode;
  EXPECT_EQ(decode.n_tokens, 100);
  EXPECT_EQ(decode.n_steps, 20);
  EXPECT_EQ(decode.n_proposed_tokens, 80);
  EXPECT_EQ(decode.n_accepted_tokens, 80);
  // The prompt and the first token are read once, and nothing twice from then on.
  EXPECT_EQ(draft_->totals().n_read_tokens, 8);
  EXPECT_EQ(draft_->totals().n_steps, 79);
}

TEST_F(DraftModelTest, TheNextTurnReadsWhatIsNewOnly) {
  const EngineConfig config{.context_tokens_max = 300,
                            .n_tokens_max = 64,
                            .kv_block_tokens = 4,
                            .speculation = SpeculationMode::always,
                            .n_proposed_max = 5};
  draft_backend_.other_every = 7;
  SequenceRequest first = greedy({5, 4, 3, 2, 1}, 60);
  first.keep = true;
  const auto engine = make_drafting(config);
  const std::vector<Seen> answer = run(*engine, {first});
  SequenceRequest second = greedy(text_of(first, answer[0]), 30);
  for (int32_t token = 0; token < 10; ++token) second.prompt.push_back(token);
  EngineConfig plain = config;
  plain.speculation = SpeculationMode::off;
  const std::vector<Seen> expected = run(*make(plain), {second});
  second.continues = 1;
  const DraftModel::Totals before = draft_->totals();
  EXPECT_EQ(run(*engine, {second}), expected);
  // Ten tokens of the question, the answer's first, and its end that nobody had to guess from.
  EXPECT_LE(draft_->totals().since(before).n_read_tokens, 10 + 1 + 5);
  EXPECT_GE(draft_->totals().since(before).n_read_tokens, 10 + 1);
}

TEST_F(DraftModelTest, ASequenceThatIsCancelledLeavesNothingBehind) {
  const EngineConfig config{.n_seqs_max = 2,
                            .context_tokens_max = 100,
                            .n_tokens_max = 64,
                            .kv_block_tokens = 4,
                            .speculation = SpeculationMode::always,
                            .n_proposed_max = 3};
  EngineConfig plain = config;
  plain.speculation = SpeculationMode::off;
  const SequenceRequest other = greedy({9, 8, 7}, 50);
  const std::vector<Seen> expected = run(*make(plain), {other});
  auto engine = make_drafting(config);
  const SequenceId id = *engine->add(greedy({1, 2, 3}, 90));
  const SequenceId watched_id = *engine->add(other);
  std::vector<int32_t> tokens;
  for (int step = 0; !engine->idle(); ++step) {
    if (step == 4) engine->cancel(id);
    const auto events = engine->step();
    ASSERT_TRUE(events);
    for (const TokenEvent& event : *events)
      if (event.id == watched_id && event.token) tokens.push_back(*event.token);
  }
  EXPECT_EQ(tokens, expected[0].tokens);
  EXPECT_EQ(run(*engine, {other}), expected);
  engine.reset();
  // One cache stays, for a next turn; without what was kept, none.
  draft_engine_->cancel(0);
  EXPECT_GT(draft_engine_->pools()[0].n_held(), 0);
  EXPECT_LE(draft_engine_->pools()[0].n_held(), 100 / 4);
}

TEST_F(DraftModelTest, WhatHasJustEndedCanBeDropped) {
  const auto engine = make({.context_tokens_max = 100, .n_tokens_max = 64});
  SequenceRequest request = greedy({1, 2, 3}, 5);
  request.keep = true;
  run(*engine, {request});
  EXPECT_GT(engine->pools()[0].n_held(), 0);
  engine->drop(1);
  EXPECT_EQ(engine->pools()[0].n_held(), 0);
}

TEST_F(DraftModelTest, AShortContextSeesTheLatestTokens) {
  const auto engine = make_drafting({.context_tokens_max = 200,
                                     .n_tokens_max = 64,
                                     .speculation = SpeculationMode::always,
                                     .n_proposed_max = 4},
                                    24);
  EXPECT_EQ(draft_engine_->config().context_tokens_max, 24);
  run(*engine, {greedy({1, 2, 3, 4}, 150)});
  const observe::StepTotals decode = recorder_.totals().decode;
  // As long as it holds the whole text the guesses are right, and then they still are made.
  EXPECT_GE(decode.n_accepted_tokens, 14);
  EXPECT_GT(decode.n_proposed_tokens, 300);
  // Half of it is read again each time that it is full.
  EXPECT_LT(draft_->totals().n_read_tokens, 12 * 15);
}

TEST_F(DraftModelTest, IsUsedWhereItPays) {
  take_time(0.1, 0.001);
  EXPECT_GT(speedup(greedy({1, 2, 3, 4, 5}, 200)), 2.5);
  EXPECT_GT(draft_->totals().n_steps, 100);
}

TEST_F(DraftModelTest, IsLeftAloneWhereItCannotPay) {
  take_time(1, 0.01);
  EXPECT_NEAR(speedup(greedy({1, 2, 3, 4, 5}, 200)), 1, 1e-9);
  EXPECT_EQ(draft_->totals().n_steps, 0);
}

TEST_F(DraftModelTest, GuessesThatFailEndSoonAndAreTriedAgain) {
  for (const double draft_step_s : {0.02, 0.1, 0.3, 0.5}) {
    take_time(draft_step_s, 0.001);
    draft_backend_.other_every = 1;
    const double ratio = speedup(greedy({1, 2, 3, 4, 5}, 400));
    EXPECT_GT(ratio, 0.97) << draft_step_s;
    EXPECT_LT(ratio, 1) << draft_step_s;
  }
  EXPECT_GT(draft_->totals().n_steps + draft_->totals().n_read_tokens, 10);
}

TEST_F(DraftModelTest, OfALongPromptOnlyAsMuchIsReadAsCanBeLost) {
  std::vector<int32_t> prompt(1000);
  for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = static_cast<int32_t>(i * i % 61);
  take_time(0.1, 0.05);  // 50 steps for all of it
  EXPECT_GT(speedup(greedy(prompt, 300)), 0.97);
  EXPECT_GT(draft_->totals().n_read_tokens, 0);
  EXPECT_LT(draft_->totals().n_read_tokens, 300);
}

TEST_F(DraftModelTest, ALongMatchIsFree) {
  const auto engine = make_drafting(
      {.context_tokens_max = 200, .n_tokens_max = 64, .speculation = SpeculationMode::always}, 4096,
      true);
  SequenceRequest request = greedy({1, 2, 3}, 100);
  request.sampling.logit_bias = {{7, 1000.0f}};
  run(*engine, {request});
  const DraftModel::Totals totals = draft_->totals();
  EXPECT_GT(recorder_.totals().decode.n_accepted_tokens, 80);
  EXPECT_GT(totals.n_steps, 0);  // before anything came again
  EXPECT_LT(totals.n_steps, 70);
}

}  // namespace
}  // namespace hwtv::engine
