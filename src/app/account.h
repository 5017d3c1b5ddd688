// What a run cost, against what this machine can do: the lines under an answer, and the same as
// JSON.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/session.h"

namespace hwtv::app {

struct Phase {
  int64_t n_tokens = 0;
  double seconds = 0;
  double tokens_per_s() const { return seconds > 0 ? static_cast<double>(n_tokens) / seconds : 0; }
};

// What the draft model took of decode.
struct DraftShare {
  std::string model;  // the file's name
  engine::DraftModel::Totals totals;
  double step_bytes = 0;  // file and cache bytes read for one guess, mean

  double step_s() const;  // of one guess, mean; 0: there was none
};

// A LoRA adapter of the run.
struct AdapterShare {
  std::string name;  // the file's
  float scale = 1;
  int64_t n_bytes = 0;  // as the file stores it; part of the weights
};

struct Account {
  // Speed, against the limits measured in this run.
  Phase prefill, decode;
  double answer_s = 0;  // from the prompt to the last token
  double first_token_s = 0;
  double load_s = 0;
  int64_t n_answer = 0;
  int64_t n_reused = 0;  // prompt tokens that were already in the cache
  int64_t n_decode_steps = 0;
  int64_t n_proposed = 0, n_accepted = 0;  // guessed tokens that decode checked, that came true
  bool speculates = false;
  std::optional<DraftShare> draft;  // nullopt: no --draft
  std::vector<AdapterShare> adapters;
  int n_threads = 0;
  std::string kernels;       // the kernel of the largest matrices: "q4_1_avx512vnni"
  std::string compute_kind;  // "int8" or "f32": what the prefill's limit counts
  double prefill_ops = 0;    // operations of the prefill
  double prefill_limit_ops_per_s = 0;
  double decode_token_bytes = 0;        // file and cache bytes read for one token, mean
  double decode_kv_token_bytes = 0;     // of them, from the cache
  double decode_limit_bytes_per_s = 0;  // of a cyclic read of so many bytes by the same threads
  std::string memory_level;             // where those bytes come from
  double decode_token_ops = 0;          // operations of one token, mean
  bool kv_is_f16 = false;

  // Memory, in bytes.
  int64_t weights_bytes = 0, kv_used_bytes = 0, kv_bytes = 0, activations_bytes = 0;
  int64_t predicted_bytes = 0, predicted_runtime_bytes = 0;
  std::optional<int64_t> observed_bytes;  // nullopt: not observable here
  std::string observed_reason;            // why not

  // File and cache bytes of one decode step, which may give several tokens; 0: there was none.
  double decode_step_bytes() const;
  double decode_own_s() const;        // of decode, without the draft's part
  double decode_bytes_per_s() const;  // the model's own bytes in its own time; 0: unknown
  double prefill_share() const;       // of its compute limit; 0: unknown
  double decode_share() const;        // of its bandwidth limit, the model alone; 0: unknown
};

// One answer's own numbers; the rest comes from the session.
struct AnswerFacts {
  int64_t n_prompt = 0;
  int64_t n_reused = 0;
  int64_t n_answer = 0;
  double answer_s = 0;
  double first_token_s = 0;
  observe::Recorder::Totals before;         // the recorder's totals when the answer began
  engine::DraftModel::Totals draft_before;  // alike
};

// Reads what this process holds, then measures the machine's limits with the session's threads.
Account make_account(Session& session, const AnswerFacts& facts);

std::string account_text(const Account& account);
std::string account_json(const Account& account);  // an object

}  // namespace hwtv::app
