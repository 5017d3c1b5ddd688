#include "engine/draft_model.h"

#include <algorithm>
#include <span>
#include <utility>

namespace hwtv::engine {
namespace {

// After a step whose guesses all came true the last of them and the token that followed are new.
constexpr int64_t kGuessTokens = 2;
// Fewer tokens make no guess that is worth its time, and take longer each than many.
constexpr int64_t kLeastRead = 16;
constexpr int64_t kMeasuredGuesses = 4;
constexpr double kWeight = 0.25;  // of the latest time in a mean

void take_in(double& mean, double latest) {
  mean = mean == 0 ? latest : mean + kWeight * (latest - mean);
}

}  // namespace

DraftModel::Totals DraftModel::Totals::since(const Totals& before) const {
  return {n_steps - before.n_steps, steps_s - before.steps_s, n_read_tokens - before.n_read_tokens,
          read_s - before.read_s};
}

class DraftModel::OfSequence final : public Proposer {
 public:
  explicit OfSequence(DraftModel& draft)
      : draft_(draft), cache_(std::exchange(draft.left_, Cache())) {}

  ~OfSequence() override {
    if (!cache_.id) return;
    if (draft_.left_.id) draft_.engine_.drop(*draft_.left_.id);
    draft_.left_ = std::move(cache_);
  }

  // Decides where reading begins: at the first token where that can be afforded.  Later ones make
  // worse guesses, yet enough to see whether the draft is worth reading more.
  std::optional<Evidence> look(std::span<const int32_t> tokens, double budget_s) override {
    const int64_t n = std::ssize(tokens), n_most = most_read(n);
    const int64_t n_affordable = affordable(n_most, budget_s);
    const int64_t n_known = n - cache_.begin;
    const bool goes_on = n_known >= 1 && n_known < capacity() &&
                         n_missing(tokens) <= std::max(kGuessTokens, n_affordable);
    const bool rather_anew = cache_.begin > 0 && (n_affordable == n || n_affordable >= 2 * n_known);
    begin_ = cache_.begin;
    if (goes_on && !rather_anew) return kDraftEvidence;
    if (n_affordable < std::min(kLeastRead, n_most) || n_affordable < 1) return std::nullopt;
    begin_ = n - n_affordable;
    return kDraftEvidence;
  }

  Result<void> propose(std::span<const int32_t> tokens, int64_t n_tokens,
                       std::vector<int32_t>& out) override {
    const std::span<const int32_t> text = tokens.subspan(static_cast<size_t>(begin_));
    SequenceRequest request;
    request.prompt.assign(text.begin(), text.end());
    request.n_tokens_max = std::min(n_tokens, capacity() - std::ssize(text));
    request.keep = true;
    if (begin_ == cache_.begin)
      request.continues = cache_.id;
    else if (cache_.id)
      draft_.engine_.drop(*cache_.id);
    cache_ = {std::nullopt, begin_, request.prompt};
    HWTV_TRY(cache_.id, draft_.engine_.add(std::move(request)));
    const size_t n_before = out.size();
    HWTV_TRY_VOID(draft_.run(std::ssize(text) - draft_.engine_.n_reused_tokens(*cache_.id), out));
    cache_.tokens.insert(cache_.tokens.end(), out.begin() + static_cast<ptrdiff_t>(n_before),
                         out.end());
    return {};
  }

  bool is_free() const override { return false; }
  double guess_s() const override { return draft_.guess_s_; }

 private:
  int64_t capacity() const { return draft_.engine_.config().context_tokens_max; }

  // Of a text of n tokens; where not all of it fits, half of the room is left for what follows.
  int64_t most_read(int64_t n) const { return n < capacity() ? n : capacity() / 2; }

  int64_t affordable(int64_t n_most, double budget_s) const {
    const double n_most_s = static_cast<double>(n_most) * draft_.read_token_s_;
    return n_most_s <= budget_s ? n_most : static_cast<int64_t>(budget_s / draft_.read_token_s_);
  }

  // Tokens from cache_.begin on that must be read before the first guess.
  int64_t n_missing(std::span<const int32_t> tokens) const {
    const std::span<const int32_t> text = tokens.subspan(static_cast<size_t>(cache_.begin));
    const auto read =
        std::mismatch(text.begin(), text.end(), cache_.tokens.begin(), cache_.tokens.end());
    return std::max<int64_t>(1, text.end() - read.first);
  }

  DraftModel& draft_;
  Cache cache_;
  int64_t begin_ = 0;  // where the text begins that the next guess rests on
};

Result<std::unique_ptr<DraftModel>> DraftModel::create(Engine& engine, Clock& clock) {
  std::unique_ptr<DraftModel> draft(new DraftModel(engine, clock));
  HWTV_TRY_VOID(draft->measure());
  return draft;
}

// Twice: the first run touches memory that nobody has touched.
Result<void> DraftModel::measure() {
  std::vector<int32_t> guesses;
  for (int round = 0; round < 2; ++round) {
    guess_s_ = read_token_s_ = 0;
    SequenceRequest request;
    request.n_tokens_max = std::min(kMeasuredGuesses, engine_.config().context_tokens_max - 1);
    request.prompt.assign(
        static_cast<size_t>(
            std::min(kLeastRead, engine_.config().context_tokens_max - request.n_tokens_max)),
        0);
    const int64_t n_read = std::ssize(request.prompt);
    HWTV_TRY_VOID(engine_.add(std::move(request)));
    HWTV_TRY_VOID(run(n_read, guesses));
  }
  totals_ = {};
  return {};
}

// Runs the engine to the end of its answer; its first step reads n_read tokens.
Result<void> DraftModel::run(int64_t n_read, std::vector<int32_t>& guesses) {
  double start_s = clock_.now_s();
  while (!engine_.idle()) {
    HWTV_TRY(const auto events, engine_.step());
    for (const TokenEvent& event : events) {
      if (event.token) guesses.push_back(*event.token);
      const double end_s = clock_.now_s();
      learn(n_read, end_s - start_s);
      n_read = 1;
      start_s = end_s;
    }
  }
  return {};
}

// A step that read n_tokens and made a guess.
void DraftModel::learn(int64_t n_tokens, double seconds) {
  if (n_tokens <= kGuessTokens) {
    totals_.n_steps += 1;
    totals_.steps_s += seconds;
    take_in(guess_s_, seconds);
    return;
  }
  totals_.n_read_tokens += n_tokens;
  totals_.read_s += seconds;
  // A few tokens take what one takes, and say nothing of many.
  if (n_tokens >= kLeastRead) take_in(read_token_s_, seconds / static_cast<double>(n_tokens));
}

EngineConfig DraftModel::config_for(const EngineConfig& target, int64_t trained_tokens) {
  EngineConfig config = target;
  config.context_tokens_max = std::min(target.context_tokens_max, trained_tokens);
  config.n_tokens_max = std::min(target.n_tokens_max, config.context_tokens_max);
  config.n_seqs_max = 1;
  config.n_outputs_max = 1;
  // A cache for each sequence of the target, in whole kv_blocks.
  const int64_t n_blocks =
      (config.context_tokens_max + config.kv_block_tokens - 1) / config.kv_block_tokens;
  config.kv_pool_tokens = target.n_seqs_max * n_blocks * config.kv_block_tokens;
  config.speculation = SpeculationMode::off;
  config.make_proposer = {};
  config.profile = false;
  return config;
}

std::unique_ptr<Proposer> DraftModel::make_proposer() {
  return std::make_unique<OfSequence>(*this);
}

}  // namespace hwtv::engine
