// A model made ready to run on this machine: opened, priced, refused if it cannot fit, loaded. What
// every command that computes starts from.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "app/command.h"
#include "app/draft.h"
#include "backends/ref/ref_backend.h"
#include "base/clock.h"
#include "base/error.h"
#include "engine/engine.h"
#include "hw/device_context.h"
#include "model/model.h"
#include "observe/recorder.h"
#include "plan/memory.h"
#include "text/tokenizer.h"

namespace hwtv::app {

struct SessionOptions {
  std::string model;
  std::string backend = "cpu";
  int64_t threads = 0;  // 0: what the machine suggests
  int64_t context = 0;  // 0: as trained, at most kDefaultContext
  int64_t chunk = 256;  // tokens of a prefill step
  std::string kv_type = "f16";
  int64_t n_seqs = 1;
  int64_t n_outputs = 1;          // output rows of a step
  ops::OutputKind output = ops::OutputKind::logits;
  bool no_pack = false;           // read quantized weights where the file has them
  int64_t kv_pool_tokens = 0;     // of all sequences together; 0: n_seqs contexts
  std::string speculate = "off";  // auto, off, lookup, draft
  int64_t draft_max = 15;         // guessed tokens of a step
  std::string draft;              // the draft model; empty: none
  bool profile = false;
  bool quiet = false;                 // no progress
  bool announce = false;              // say what will be held before anything is allocated
  ref::WeightObserver observer = {};  // of the ref backend
};
inline constexpr int64_t kDefaultContext = 4096;
inline constexpr int64_t kMostThreads = 1024;

// Errors: invalid_request for a --threads that cannot be; 0 stands for one for each core.
Result<void> check_threads(int64_t n_threads);
inline constexpr int64_t kMostDraftTokens = 64;

// The flags that every computing command shares; `options` outlives the table.
std::vector<Option> session_flags(SessionOptions& options);

class Session {
 public:
  // Prints progress to stderr when that is a terminal.  Errors: those of every part; out_of_memory
  // before anything is loaded, with the largest context that would fit.
  static Result<std::unique_ptr<Session>> open(const SessionOptions& options);
  ~Session();

  const SessionOptions& options() const { return options_; }
  const model::Model& model() const { return *model_; }
  const Draft* draft() const { return draft_.get(); }  // null: none
  const text::Tokenizer& tokenizer() const { return *tokenizer_; }
  hw::DeviceContext& device() { return *device_; }
  engine::Engine& engine() { return *engine_; }
  const engine::Engine& engine() const { return *engine_; }
  const observe::Recorder& recorder() const { return *recorder_; }
  const plan::MemoryPlan& predicted() const { return predicted_; }
  Clock& clock() { return clock_; }
  double load_s() const { return load_s_; }

 private:
  Session() = default;
  Result<void> open_model();
  Result<void> check_output() const;
  Result<void> check_memory();
  Result<void> load();
  engine::EngineConfig engine_config(int64_t context_tokens) const;
  int64_t lookup_bytes(int64_t context_tokens) const;
  plan::MemoryPlan price(int64_t context_tokens) const;
  plan::MemoryPlan price_model(int64_t context_tokens) const;
  Result<void> check_fit() const;

  SessionOptions options_;
  SteadyClock clock_;
  std::unique_ptr<hw::DeviceContext> device_;
  std::unique_ptr<model::Model> model_;
  std::unique_ptr<text::Tokenizer> tokenizer_;
  std::unique_ptr<observe::Recorder> recorder_;
  std::unique_ptr<ops::Backend> backend_;
  plan::MemoryPlan predicted_;
  DType kv_dtype_ = DType::F16;
  std::unique_ptr<Draft> draft_;
  std::unique_ptr<engine::Engine> engine_;  // last: it uses all of the above
  double load_s_ = 0;
};

}  // namespace hwtv::app
