// Models with recurrent states, through the engine: an answer is the same alone, in a batch, in
// chunks of every size, and after what was kept of another sequence.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/isa.h"
#include "engine/engine.h"
#include "tests/gguf/temporary_folder.h"
#include "tests/golden/golden_case.h"

namespace hwtv::golden {
namespace {

class States : public testing::TestWithParam<std::string> {
 protected:
  States() : case_(GoldenCase::read(fmt::format("tests/golden/cases/{}.json", GetParam()))) {
    const std::string path = folder_ / "model.gguf";
    case_.write_gguf(path);
    auto opened = model::Model::open(path);
    EXPECT_TRUE(opened) << opened.error().what;
    model_ = std::make_unique<model::Model>(std::move(*opened));
  }

  std::unique_ptr<engine::Engine> make(const engine::EngineConfig& config) {
    backends_.push_back(
        std::make_unique<cpu::CpuBackend>(team_, ledger_, *cpu::isas().front().kernels));
    auto made = engine::Engine::create(*backends_.back(), *model_, config, clock_, recorder_);
    EXPECT_TRUE(made) << made.error().what;
    return std::move(*made);
  }

  using Answers = std::map<engine::SequenceId, std::vector<int32_t>>;
  static Answers run(engine::Engine& engine) {
    Answers answers;
    while (!engine.idle()) {
      const auto events = engine.step();
      EXPECT_TRUE(events);
      for (const engine::TokenEvent& event : *events)
        if (event.token) answers[event.id].push_back(*event.token);
      for (const kv::KvBlockPool& pool : engine.pools()) pool.check_integrity();
    }
    return answers;
  }

  engine::SequenceRequest request(int64_t first, int64_t n_prompt, int64_t n_answer) const {
    engine::SequenceRequest made;
    made.prompt.assign(case_.prompt.begin() + first, case_.prompt.begin() + first + n_prompt);
    made.n_tokens_max = n_answer;
    return made;
  }

  std::vector<int32_t> alone(const engine::SequenceRequest& wanted) {
    auto engine = make({.context_tokens_max = 128, .n_tokens_max = 128});
    const engine::SequenceId id = *engine->add(wanted);
    return run(*engine)[id];
  }

  // The answer to `first`, kept, and then to `second`: alike, whatever is taken over.
  void expect_reuse(engine::SequenceRequest first, engine::SequenceRequest second,
                    int64_t n_reused) {
    const std::vector<int32_t> expected = alone(second);
    auto engine = make({.context_tokens_max = 128, .n_tokens_max = 16});
    first.keep = true;
    second.continues = *engine->add(first);
    run(*engine);
    const engine::SequenceId id = *engine->add(second);
    EXPECT_EQ(engine->n_reused_tokens(id), n_reused);
    EXPECT_EQ(run(*engine)[id], expected);
  }

  GoldenCase case_;
  gguf::TemporaryFolder folder_;
  std::unique_ptr<model::Model> model_;
  ThreadTeam team_{2};
  hw::Ledger ledger_{"test", int64_t{1} << 30};
  FakeClock clock_;
  observe::Recorder recorder_;
  std::vector<std::unique_ptr<cpu::CpuBackend>> backends_;
};

TEST_P(States, MatesAndChunksDoNotChangeAnAnswer) {
  const std::vector<engine::SequenceRequest> requests = {request(0, 30, 12), request(7, 1, 20),
                                                         request(20, 50, 5), request(60, 9, 16)};
  for (const int64_t n_tokens_max : {4, 7, 64}) {
    auto engine = make({.n_seqs_max = 3, .context_tokens_max = 128, .n_tokens_max = n_tokens_max});
    std::vector<engine::SequenceId> ids;
    for (const auto& one : requests) ids.push_back(*engine->add(one));
    Answers answers = run(*engine);
    for (size_t i = 0; i < ids.size(); ++i)
      EXPECT_EQ(answers[ids[i]], alone(requests[i])) << n_tokens_max << " " << i;
  }
}

TEST_P(States, WhatFollowsAnAnswerGoesOnFromItsState) {
  const engine::SequenceRequest first = request(0, 40, 10);
  engine::SequenceRequest second = first;
  const std::vector<int32_t> answer = alone(first);
  second.prompt.insert(second.prompt.end(), answer.begin(), answer.end());
  second.prompt.push_back(5);
  expect_reuse(first, second, 49);  // the answer's last token was never computed
}

TEST_P(States, AnotherAnswerGoesOnFromTheStateAfterThePrompt) {
  engine::SequenceRequest second = request(0, 50, 10);
  second.prompt[41] = (second.prompt[41] + 1) % 83;
  expect_reuse(request(0, 40, 10), second, 40);
}

TEST_P(States, WhatBranchesOffWithinThePromptIsComputedFromItsBeginning) {
  engine::SequenceRequest second = request(0, 50, 10);
  second.prompt[39] = (second.prompt[39] + 1) % 83;
  expect_reuse(request(0, 40, 10), second, 0);
  expect_reuse(request(0, 40, 10), request(0, 40, 10), 0);
}

TEST_P(States, LeaveNoRoomForGuesses) {
  auto engine = make({.context_tokens_max = 128,
                      .n_tokens_max = 64,
                      .speculation = engine::SpeculationMode::always});
  EXPECT_FALSE(engine->speculates());
}

INSTANTIATE_TEST_SUITE_P(Hybrids, States, testing::Values("qwen3next", "qwen35"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace hwtv::golden
