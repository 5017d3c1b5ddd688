#include "engine/draft_model.h"

#include <algorithm>
#include <utility>

namespace hwtv::engine {
namespace {

constexpr Evidence kEvidence = 3;  // of every guess
constexpr double kWeight = 0.25;   // of the latest guesses in the mean of their time

}  // namespace

class DraftModel::OfSequence final : public Proposer {
 public:
  explicit OfSequence(DraftModel& draft)
      : draft_(draft), kept_(std::exchange(draft.left_, std::nullopt)) {}

  ~OfSequence() override {
    if (draft_.left_) draft_.engine_.drop(*draft_.left_);
    draft_.left_ = kept_;
  }

  std::optional<Evidence> look(std::span<const int32_t> tokens) override {
    const int64_t room =
        draft_.engine_.config().context_tokens_max - static_cast<int64_t>(tokens.size());
    return room > 0 ? std::optional(kEvidence) : std::nullopt;
  }

  Result<void> propose(std::span<const int32_t> tokens, int64_t n_tokens,
                       std::vector<int32_t>& out) override {
    const int64_t n = static_cast<int64_t>(tokens.size());
    const int64_t n_most = std::min(n_tokens, draft_.engine_.config().context_tokens_max - n);
    const double start_s = draft_.clock_.now_s();
    const size_t n_before = out.size();
    SequenceRequest request;
    request.prompt.assign(tokens.begin(), tokens.end());
    request.n_tokens_max = n_most;
    request.keep = true;
    request.continues = kept_;
    HWTV_TRY(kept_, draft_.engine_.add(std::move(request)));
    const int64_t n_missing = n - draft_.engine_.n_reused_tokens(*kept_);
    while (!draft_.engine_.idle()) {
      HWTV_TRY(const auto events, draft_.engine_.step());
      for (const TokenEvent& event : events)
        if (event.token) out.push_back(*event.token);
    }
    // The time of a prompt, or of what came by itself since the last guess, is no guess's.
    if (n_missing <= n_most + 1) learn(draft_.clock_.now_s() - start_s, out.size() - n_before);
    return {};
  }

  bool is_free() const override { return false; }
  double guess_s() const override { return draft_.guess_s_; }

 private:
  void learn(double seconds, size_t n_guesses) {
    const double latest = seconds / static_cast<double>(n_guesses);
    double& mean = draft_.guess_s_;
    mean = mean == 0 ? latest : mean + kWeight * (latest - mean);
  }

  DraftModel& draft_;
  std::optional<SequenceId> kept_;  // what the draft model has in its cache
};

EngineConfig DraftModel::config_for(const EngineConfig& target) {
  EngineConfig config = target;
  config.n_seqs_max = 1;
  config.n_outputs_max = 1;
  // A cache for each sequence of the target, one that ended, and whole kv_blocks.
  config.kv_pool_tokens = target.n_seqs_max * target.context_tokens_max;
  config.speculation = SpeculationMode::off;
  config.make_proposer = {};
  config.profile = false;
  return config;
}

std::unique_ptr<Proposer> DraftModel::make_proposer() {
  return std::make_unique<OfSequence>(*this);
}

}  // namespace hwtv::engine
