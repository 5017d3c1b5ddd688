// Speculation changes no event of any sequence: whatever is guessed, however much of it is right.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/engine.h"
#include "tests/engine/fake_backend.h"
#include "tests/engine/requests.h"
#include "tests/engine/tiny_model.h"

namespace hwtv::engine {
namespace {

// Knows how the texts go on and is wrong at random.
class Oracle final : public Proposer {
 public:
  Oracle(const std::vector<std::vector<int32_t>>& texts, double rate, uint32_t seed)
      : texts_(texts), is_free_(seed % 2 == 1), is_right_(rate), random_(seed) {}

  std::optional<Evidence> look(std::span<const int32_t> tokens, double) override {
    text_ = nullptr;
    for (const auto& text : texts_)
      if (text.size() > tokens.size() && std::equal(tokens.begin(), tokens.end(), text.begin()))
        text_ = &text;
    if (!text_ || random_() % 8 == 0) return std::nullopt;
    return static_cast<Evidence>(random_() % kEvidenceLevels);
  }

  Result<void> propose(std::span<const int32_t> tokens, int64_t n_tokens,
                       std::vector<int32_t>& out) override {
    for (size_t i = tokens.size(); n_tokens > 0 && i < text_->size(); ++i, --n_tokens)
      out.push_back(is_right_(random_) ? (*text_)[i] : static_cast<int32_t>(random_() % 64));
    return {};
  }

  bool is_free() const override { return is_free_; }

 private:
  const std::vector<std::vector<int32_t>>& texts_;
  const std::vector<int32_t>* text_ = nullptr;
  const bool is_free_;
  std::bernoulli_distribution is_right_;
  std::mt19937 random_;
};

class SpeculatingEngineTest : public ::testing::Test {
 protected:
  std::unique_ptr<Engine> make(const EngineConfig& config) {
    auto made = Engine::create(backend_, model_, config, clock_, recorder_);
    EXPECT_TRUE(made) << made.error().what;
    return std::move(*made);
  }

  static std::vector<std::vector<int32_t>> texts_of(const std::vector<SequenceRequest>& requests,
                                                    const std::vector<Seen>& seen) {
    std::vector<std::vector<int32_t>> texts;
    for (size_t i = 0; i < requests.size(); ++i) {
      texts.push_back(requests[i].prompt);
      texts.back().insert(texts.back().end(), seen[i].tokens.begin(), seen[i].tokens.end());
      texts.back().push_back(1);  // a guess beyond the end
    }
    return texts;
  }

  FakeBackend backend_;
  model::Model model_ = tiny_model();
  FakeClock clock_;
  observe::Recorder recorder_;
};

TEST_F(SpeculatingEngineTest, EveryEventIsTheSameWhateverIsGuessed) {
  std::mt19937 random(9);
  for (int round = 0; round < 60; ++round) {
    std::vector<SequenceRequest> requests;
    for (int i = 0; i < 12; ++i) requests.push_back(random_request(random));
    // Room for little more than what was promised, in small blocks.
    EngineConfig config{.n_seqs_max = 1 + static_cast<int64_t>(random() % 5),
                        .context_tokens_max = 92,
                        .n_tokens_max = 8 + static_cast<int64_t>(random() % 60),
                        .kv_block_tokens = 1 + static_cast<int64_t>(random() % 8),
                        .kv_pool_tokens = 100 + static_cast<int64_t>(random() % 200)};
    auto plain = make(config);
    const std::vector<Seen> expected = run(*plain, watched(requests));
    const auto texts = texts_of(requests, expected);
    config.speculation = SpeculationMode::always;
    config.n_proposed_max = 1 + static_cast<int64_t>(random() % 9);
    const double rate = static_cast<double>(random() % 5) / 4;
    config.make_proposer = [&](int64_t) {
      return std::make_unique<Oracle>(texts, rate, static_cast<uint32_t>(random()));
    };
    auto speculating = make(config);
    const std::vector<Seen> seen = run(*speculating, watched(requests));
    for (size_t i = 0; i < seen.size(); ++i)
      ASSERT_EQ(seen[i], expected[i]) << "round " << round << ", sequence " << i;
    speculating->cancel(0);  // what has ended is let go
    EXPECT_EQ(speculating->pools()[0].n_held(), 0);
  }
  const auto totals = recorder_.totals();
  EXPECT_GT(totals.decode.n_accepted_tokens, 1000);
  EXPECT_GT(totals.decode.n_proposed_tokens, totals.decode.n_accepted_tokens);
}

TEST_F(SpeculatingEngineTest, RightGuessesSaveSteps) {
  std::mt19937 random(2);
  SequenceRequest request = random_request(random);
  request.end_tokens.clear();
  request.n_tokens_max = 41;
  EngineConfig config{.context_tokens_max = 100, .n_tokens_max = 64};
  auto plain = make(config);
  const auto texts = texts_of({request}, run(*plain, {request}));
  const size_t n_answer = texts[0].size() - 1 - request.prompt.size();
  config.speculation = SpeculationMode::always;
  config.n_proposed_max = 7;
  config.make_proposer = [&](int64_t) { return std::make_unique<Oracle>(texts, 1.0, 1); };
  auto engine = make(config);
  observe::StepTotals before = recorder_.totals().decode;
  run(*engine, {request});
  const observe::StepTotals done = recorder_.totals().decode.since(before);
  EXPECT_EQ(done.n_tokens, static_cast<int64_t>(n_answer) - 1);
  EXPECT_LT(done.n_steps, done.n_tokens / 3);
  EXPECT_EQ(done.n_accepted_tokens, done.n_tokens - done.n_steps);
}

TEST_F(SpeculatingEngineTest, PromptLookupContinuesARepetition) {
  SequenceRequest request;
  request.prompt = {1, 2, 3};
  request.n_tokens_max = 60;
  request.sampling.logit_bias = {{7, 1000.0f}};
  auto engine = make({.context_tokens_max = 100, .speculation = SpeculationMode::always});
  const std::vector<Seen> seen = run(*engine, {request});
  EXPECT_EQ(seen[0].tokens, std::vector<int32_t>(60, 7));
  EXPECT_LT(recorder_.totals().decode.n_steps, 10);
}

TEST_F(SpeculatingEngineTest, AKeptSequenceIsContinuedFromItsOwnTokensOnly) {
  std::mt19937 random(4);
  SequenceRequest first = random_request(random);
  first.end_tokens.clear();
  first.n_tokens_max = 20;
  first.keep = true;
  const EngineConfig config{.context_tokens_max = 200, .n_tokens_max = 64, .kv_block_tokens = 4};
  auto plain = make(config);
  const std::vector<Seen> answer = run(*plain, {first});
  SequenceRequest second = first;
  second.prompt.insert(second.prompt.end(), answer[0].tokens.begin(), answer[0].tokens.end());
  second.prompt.push_back(5);
  const std::vector<Seen> expected = run(*plain, {second});
  EngineConfig speculates = config;
  speculates.speculation = SpeculationMode::always;
  // Every guess is wrong, so that wrong tokens were in the cache.
  const auto texts = texts_of({first, second}, {answer[0], expected[0]});
  speculates.make_proposer = [&](int64_t) { return std::make_unique<Oracle>(texts, 0.0, 1); };
  auto engine = make(speculates);
  second.continues = 1;
  ASSERT_EQ(run(*engine, {first}), answer);
  // Wrong tokens hold no kv_blocks: 20 that are cached, and those of the prompt.
  EXPECT_EQ(engine->pools()[0].n_held(), (static_cast<int64_t>(first.prompt.size()) + 18) / 4 + 1);
  EXPECT_EQ(run(*engine, {second}), expected);
}

// A pool of just the promised size, and guesses that reach far beyond the end of the answer.
TEST_F(SpeculatingEngineTest, WrongGuessesTakeNothingThatWasNotPromised) {
  SequenceRequest request;
  request.prompt = {1, 2, 3, 4, 5};
  request.n_tokens_max = 22;
  EngineConfig config{.context_tokens_max = 27, .n_tokens_max = 20, .kv_block_tokens = 3};
  auto plain = make(config);
  auto texts = texts_of({request}, run(*plain, {request}));
  texts[0].resize(100);
  config.speculation = SpeculationMode::always;
  config.make_proposer = [&](int64_t) { return std::make_unique<Oracle>(texts, 0.0, 1); };
  auto engine = make(config);
  const observe::StepTotals before = recorder_.totals().decode;
  ASSERT_TRUE(engine->add(request));
  for (int64_t n_cached = 5; !engine->idle(); ++n_cached) {
    const auto events = engine->step();
    ASSERT_TRUE(events);
    if (events->size() > 1) n_cached += static_cast<int64_t>(events->size()) - 1;
    EXPECT_EQ(engine->pools()[0].n_held(), (n_cached + 2) / 3);
  }
  const observe::StepTotals done = recorder_.totals().decode.since(before);
  EXPECT_GT(done.n_proposed_tokens, 50);
  EXPECT_EQ(done.n_tokens, 21);
}

TEST_F(SpeculatingEngineTest, OutputRowsAreLimitedAndPlannedFor) {
  const EngineConfig config{.n_seqs_max = 4,
                            .context_tokens_max = 100,
                            .n_tokens_max = 16,
                            .speculation = SpeculationMode::automatic,
                            .n_proposed_max = 50};
  EXPECT_EQ(limits_for(config, model_.program()).n_outputs_max, 16);
  EngineConfig off = config;
  off.speculation = SpeculationMode::off;
  EXPECT_EQ(limits_for(off, model_.program()).n_outputs_max, 4);
}

}  // namespace
}  // namespace hwtv::engine
