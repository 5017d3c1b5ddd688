// Chooses a sequence's next token from its logits.  One Sampler per sequence; it keeps the counts
// that the penalties need and allocates only when it is made.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "engine/sampling_params.h"
#include "engine/token_mask.h"

namespace hwtv::engine {

struct TokenLogprob {
  int32_t token;
  float logprob;  // natural logarithm of the model's own probability, before any parameter
};

class Sampler {
 public:
  // Requires: check_sampling_params has accepted `params`.
  Sampler(SamplingParams params, int64_t vocab_size, std::span<const int32_t> prompt);

  // The n-th call gives the n-th token.  logits (vocab_size) are left as they are.  mask may be
  // null. Ties go to the lowest id; NaN counts as -infinity.
  int32_t sample(std::span<const float> logits, TokenMask* mask);

  // Fills `out` with the most likely tokens, best first, and gives the logprob of `chosen`.
  float logprobs(std::span<const float> logits, int32_t chosen, std::span<TokenLogprob> out);

 private:
  struct Candidate {
    int32_t token;
    float logit;
    double probability;
  };

  bool changes_logits(const TokenMask* mask) const;
  void adjust(TokenMask* mask);
  void penalize();
  int32_t draw();
  void collect_candidates();
  void normalize();
  void keep_typical();
  void keep_top_p();
  void keep_min_p();
  void remember(int32_t token);

  const SamplingParams params_;
  uint64_t n_sampled_ = 0;
  std::vector<float> logits_;          // (vocab_size) scratch
  std::vector<bool> in_prompt_;        // (vocab_size)
  std::vector<int32_t> n_in_answer_;   // (vocab_size)
  std::vector<Candidate> candidates_;  // scratch
};

}  // namespace hwtv::engine
