// How the next token is chosen from the logits.  Every default is "off": greedy, without a penalty.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "base/error.h"

namespace hwtv::engine {

// Applied in this order: logit bias, penalties, temperature, then the filters top-k, typical,
// top-p, min-p, each over what the one before has left.
struct SamplingParams {
  double temperature = 0.0;  // 0: the most likely token
  int32_t top_k = 0;         // keep the k most likely; 0: all
  double top_p = 1.0;        // keep the fewest tokens whose probabilities sum to p  [Holtzman 2019]
  double min_p = 0.0;        // drop tokens below p times the most likely one      [Nguyen 2024]
  double typical_p = 1.0;    // keep the tokens nearest to the entropy, to mass p  [Meister 2022]
  double repetition_penalty = 1.0;  // divides (multiplies) positive (negative) logits of tokens in
                                    // the prompt or the answer                   [Keskar 2019]
  double presence_penalty = 0.0;    // subtracted once for a token in the answer
  double frequency_penalty = 0.0;   // subtracted for each time it is in the answer
  std::vector<std::pair<int32_t, float>> logit_bias = {};  // token, added to its logit
  uint64_t seed = 0;  // the n-th choice depends on the seed, n and the logits only
};

// Errors: invalid_request, naming the parameter, its value and its range.
Result<void> check_sampling_params(const SamplingParams& params, int64_t vocab_size);

}  // namespace hwtv::engine
