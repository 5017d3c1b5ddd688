// Requests of every kind, and what a caller sees of their answers: the same, however they were
// computed.
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "engine/engine.h"

namespace hwtv::engine {

// What a caller sees of one sequence.
struct Seen {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;
  std::vector<int32_t> top;  // of all tokens, one after the other
  std::optional<FinishReason> finish;
  friend bool operator==(const Seen&, const Seen&) = default;
};

// Ends where the last three tokens have a certain sum: often in the middle of what was guessed.
class SumWatch final : public StopWatch {
 public:
  bool accept(int32_t token) override {
    last_ = {last_[1], last_[2], token};
    return (last_[0] + last_[1] + last_[2]) % 23 == 0;
  }

 private:
  std::array<int32_t, 3> last_ = {};
};

// Allows what differs from the last token by an odd number: wrong as soon as it is told of a token
// that did not come, or in another order.
class OddMask final : public TokenMask {
 public:
  void apply(std::span<float> logits) override {
    for (size_t i = 0; i < logits.size(); ++i)
      if ((static_cast<int32_t>(i) - last_) % 2 == 0) logits[i] = -INFINITY;
  }
  void accept(int32_t token) override { last_ = token; }

 private:
  int32_t last_ = 0;
};

inline SequenceRequest random_request(std::mt19937& random) {
  SequenceRequest made;
  for (uint32_t n = 1 + random() % 40; n > 0; --n)
    made.prompt.push_back(static_cast<int32_t>(random() % 64));
  made.n_tokens_max = static_cast<int64_t>(random() % 50);
  made.sampling.temperature = random() % 2 ? 1.0 : 0.0;
  made.sampling.seed = random();
  if (random() % 3 == 0) made.sampling.repetition_penalty = 1.3;
  if (random() % 3 == 0) made.sampling.frequency_penalty = 0.4;
  if (random() % 3 == 0) made.end_tokens = {static_cast<int32_t>(random() % 64)};
  if (random() % 2 == 0) {
    made.with_logprobs = true;
    made.n_logprobs = static_cast<int32_t>(random() % 4);
  }
  return made;
}

// Stop watches and masks have a state: each run has its own.
inline std::vector<SequenceRequest> watched(std::vector<SequenceRequest> requests) {
  for (size_t i = 0; i < requests.size(); ++i) {
    if (i % 3 == 0) requests[i].stop_watch = std::make_shared<SumWatch>();
    if (i % 4 == 0) requests[i].token_mask = std::make_shared<OddMask>();
  }
  return requests;
}

// Runs them all to their ends.
inline std::vector<Seen> run(Engine& engine, std::vector<SequenceRequest> requests) {
  std::map<SequenceId, Seen> seen;
  std::vector<SequenceId> ids;
  for (SequenceRequest& request : requests) ids.push_back(*engine.add(std::move(request)));
  while (!engine.idle()) {
    const auto events = engine.step();
    EXPECT_TRUE(events);
    for (const TokenEvent& event : *events) {
      Seen& one = seen[event.id];
      EXPECT_FALSE(one.finish) << "an event after the last one";
      if (event.token) one.tokens.push_back(*event.token);
      one.logprobs.push_back(event.logprob);
      for (const TokenLogprob& top : event.top) one.top.push_back(top.token);
      if (event.finish) one.finish = event.finish;
    }
    for (const kv::KvBlockPool& pool : engine.pools()) pool.check_integrity();
  }
  std::vector<Seen> all;
  for (const SequenceId id : ids) all.push_back(seen[id]);
  return all;
}

}  // namespace hwtv::engine
