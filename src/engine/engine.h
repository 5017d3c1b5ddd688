// Runs sequences on one backend, several to a step: add() requests, call step() until idle().  All
// calls from one thread.  A sequence's text depends on its own request only: not on its batch
// mates, the chunk size or the number of threads.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "engine/scheduler.h"
#include "engine/sequence.h"
#include "engine/speculation.h"
#include "model/model.h"
#include "observe/recorder.h"
#include "ops/backend.h"

namespace hwtv::engine {

struct EngineConfig {
  int64_t n_seqs_max = 1;            // sequences that run together
  int64_t context_tokens_max = 512;  // of one sequence, prompt and answer
  int64_t n_tokens_max = 256;        // of one step: the size of a prefill chunk
  int64_t n_outputs_max = 1;         // at least n_seqs_max is used
  int64_t kv_block_tokens = 128;
  int64_t kv_pool_tokens = 0;  // 0: n_seqs_max * context_tokens_max
  DType k_dtype = DType::F16;
  DType v_dtype = DType::F16;
  SpeculationMode speculation = SpeculationMode::off;
  int64_t n_proposed_max = 15;         // guessed tokens of one step, of all its sequences together
  ProposerFactory make_proposer = {};  // empty: prompt lookup
  bool profile = false;                // time every op
};

// Whether tokens can be taken back from a sequence's cache: not from a recurrent state, which has
// no room for guesses then.
bool can_take_back(const ops::Program& program);

// The sizes that `config` asks of a backend for this program.  Pure: what a plan predicts from.
ops::Limits limits_for(const EngineConfig& config, const ops::Program& program);

class Engine {
 public:
  // Imports the weights and prepares the program.  Requires: context, backend, model and clock
  // outlive the engine.  `on_progress(done_bytes, all_bytes)` is called for each weight; may be
  // empty. Errors: unsupported, out_of_memory.
  using Progress = std::function<void(int64_t done_bytes, int64_t all_bytes)>;
  static Result<std::unique_ptr<Engine>> create(ops::Backend& backend, const model::Model& model,
                                                const EngineConfig& config, Clock& clock,
                                                observe::Recorder& recorder,
                                                const Progress& on_progress = {});
  ~Engine();

  // Queues a sequence.  It starts when the pool can hold its prompt and whole answer, and once
  // started it finishes: nothing started is ever refused or preempted.
  // Errors: invalid_request (an empty prompt, a token outside the vocabulary, an adapter that the
  // model has not or that is named twice, a parameter outside its range, more tokens than a context
  // holds: with both numbers and one that works).
  Result<SequenceId> add(SequenceRequest request);

  // Computes one step and gives one event per sequence that gained a token or ended.
  // Requires: !idle().  Errors: device_lost.
  Result<std::span<const TokenEvent>> step();

  bool idle() const;           // nothing is left to compute
  void cancel(SequenceId id);  // ends it now, without an event; a `keep` one is kept
  void drop(SequenceId id);    // gives back what a kept sequence holds

  int64_t n_reused_tokens(SequenceId id) const;  // of a sequence that is not forgotten; else 0
  bool speculates() const { return speculation_.is_on(); }  // and a step has room for guesses
  const ops::Executable& executable() const { return *executable_; }
  const ops::Limits& limits() const { return limits_; }
  const EngineConfig& config() const { return config_; }
  const std::vector<kv::KvBlockPool>& pools() const { return pools_; }
  int64_t kv_peak_tokens() const { return kv_peak_blocks_ * config_.kv_block_tokens; }

 private:
  Engine(ops::Backend& backend, const model::Model& model, EngineConfig config, Clock& clock,
         observe::Recorder& recorder);

  struct StepTimes {
    double start_s = 0;    // guesses are made
    double compute_s = 0;  // the backend begins
    double end_s = 0;      // its rows are there
  };

  Result<void> check_request(const SequenceRequest& request) const;
  Result<void> check_adapters(std::span<const int32_t> adapters) const;
  void take_over(Sequence& sequence, SequenceId kept);
  void save_states(Sequence& sequence);
  bool is_state(size_t group) const;
  void admit();
  bool fits(const Sequence& sequence) const;
  bool fits(const Sequence& sequence, size_t group) const;
  bool give_back_one();
  void speculate(Sequence& sequence, int64_t capacity_tokens) const;
  Result<void> propose();
  Result<void> propose(Sequence& sequence);
  static Demand demand_of(const Sequence& sequence);
  void build_input();
  void build_slice(const SlicePlan& slice);
  void record_step(const StepTimes& times, const ops::StepResult& result);
  void learn(const observe::StepRecord& record, double compute_s);
  void deliver(std::span<const float> rows);
  void deliver_prompt_rows(const Sequence& sequence, const SlicePlan& slice,
                           std::span<const float> rows) const;
  int64_t verify(Sequence& sequence, std::span<const float> rows);
  int32_t sample(Sequence& sequence, std::span<const float> row, size_t n_accepted);
  void finish(Sequence& sequence, FinishReason reason);
  void retire();

  ops::Backend& backend_;
  const model::Model& model_;
  const EngineConfig config_;
  const ops::Limits limits_;
  Clock& clock_;
  observe::Recorder& recorder_;
  Scheduler scheduler_;
  Speculation speculation_;
  std::unique_ptr<ops::Executable> executable_;
  int64_t vocab_size_ = 0;
  int64_t row_width_ = 0;  // of an output: the vocabulary, or an embedding
  std::vector<kv::KvBlockPool> pools_;  // for each KvGroup
  int64_t kv_peak_blocks_ = 0;          // of pools_[0]

  SequenceId next_id_ = 1;
  int64_t n_steps_ = 0;
  std::vector<std::unique_ptr<Sequence>> waiting_, running_, kept_;  // in the order of arrival

  // The step in the making; sized once.
  std::vector<Demand> demands_;
  std::vector<ops::SliceSize> slice_sizes_;  // of the step that is recorded
  BatchPlan plan_;
  std::vector<int32_t> tokens_, output_rows_;
  std::vector<ops::SliceInput> slices_;
  std::vector<TokenEvent> events_;
  int64_t n_proposed_ = 0, n_accepted_ = 0;
};

}  // namespace hwtv::engine
