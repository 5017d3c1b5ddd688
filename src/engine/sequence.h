// One stream of tokens: what a request asks of the engine, and what the engine keeps of it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/acceptance.h"
#include "engine/proposer.h"
#include "engine/sampler.h"
#include "engine/stop_watch.h"
#include "engine/token_mask.h"
#include "kv/block_table.h"

namespace hwtv::engine {

using SequenceId = int64_t;

enum class FinishReason {
  stop,    // an end-of-generation token or a StopWatch
  length,  // n_tokens_max, or the context is full
  cancelled,
};
std::string_view finish_reason_name(FinishReason reason);

// Takes the output row of each prompt position, in order.  row (width) is valid during the call.
using RowSink = std::function<void(int64_t position, std::span<const float> row)>;

struct SequenceRequest {
  std::vector<int32_t> prompt;    // at least one token
  int64_t n_tokens_max = 0;       // of the answer; 0: only the prompt is computed
  std::vector<int32_t> adapters;  // of the model's, each once: what is added, in this order
  SamplingParams sampling;
  std::vector<int32_t> end_tokens;        // each ends the answer and is no part of it
  std::shared_ptr<StopWatch> stop_watch;  // may be null
  std::shared_ptr<TokenMask> token_mask;  // may be null
  int32_t n_logprobs = 0;                 // alternatives reported with each token
  bool with_logprobs = false;
  RowSink prompt_rows;           // empty: only the last row is computed
  int64_t prompt_rows_from = 0;  // the first position that prompt_rows is given
  bool keep = false;  // after the end its cache stays for a later `continues`, until drop()
  std::optional<SequenceId> continues;  // a kept sequence whose common prefix is not computed again
};

// One token of one sequence, or its end.  Valid until the next step() or add().
struct TokenEvent {
  SequenceId id = 0;
  std::optional<int32_t> token = {};        // nullopt: the sequence ended without one more
  std::optional<FinishReason> finish = {};  // set on the last event of a sequence
  float logprob = 0;                        // when asked for
  std::span<const TokenLogprob> top = {};   // n_logprobs of them
};

// The guesses at what follows a sequence's tokens.
struct Guesses {
  std::unique_ptr<Proposer> proposer;  // null: no speculation
  Acceptance acceptance;
  // Of the step in the making.
  std::vector<int32_t> tokens;
  Evidence evidence = 0;   // that they rest on
  int64_t n_proposed = 0;  // of them, the first ones that are to be checked
};

// The engine's own record of a sequence.
struct Sequence {
  SequenceId id = 0;
  SequenceRequest request;
  std::vector<int32_t> tokens;  // prompt and answer
  int64_t n_prompt = 0;
  int64_t n_cached = 0;                // tokens whose keys and values are in the cache
  int64_t n_reused = 0;                // of the prompt, taken over from a kept sequence
  std::vector<kv::BlockTable> tables;  // for each KvGroup
  // Of a sequence that will be kept: its states as they were after n_saved tokens, for each
  // KvGroup.
  std::vector<kv::BlockTable> saved_states;  // empty where the model has none
  int64_t n_saved = 0;
  std::unique_ptr<Sampler> sampler;
  Guesses guesses;
  std::vector<TokenLogprob> top_logprobs;  // (tokens of one step, n_logprobs) scratch
  bool finished = false;

  int64_t n_answer() const { return static_cast<int64_t>(tokens.size()) - n_prompt; }
  int64_t n_to_compute() const { return static_cast<int64_t>(tokens.size()) - n_cached; }
};

}  // namespace hwtv::engine
