#include <algorithm>
#include <cmath>

#include "backends/cpu/step.h"

namespace hwtv::cpu {
namespace {

// shares (n_experts).  A few hundred numbers: not worth a kernel of each instruction set, whose
// choices might differ in the last bit.
void route(const ops::Route& op, int64_t n_experts, const float* logits, float* shares) {
  std::fill_n(shares, n_experts, 0.0f);
  for (int64_t i = 0; i < op.n_used; ++i) {
    int64_t best = -1;
    for (int64_t expert = 0; expert < n_experts; ++expert)
      if (shares[expert] == 0 && (best < 0 || logits[expert] > logits[best])) best = expert;
    shares[best] = 1;
  }
  const float top = *std::max_element(logits, logits + n_experts);
  const bool is_softmax = op.routing == ops::Routing::softmax;
  const bool counts_all = is_softmax && !op.normalized;
  float sum = 0;  // of what the shares are divided by
  for (int64_t expert = 0; expert < n_experts; ++expert) {
    const bool is_chosen = shares[expert] != 0;
    if (!is_chosen && !counts_all) continue;
    const float logit = logits[expert];
    const float share = is_softmax ? std::exp(logit - top) : 1.0f / (1.0f + std::exp(-logit));
    sum += share;
    if (is_chosen) shares[expert] = share;
  }
  const float factor = op.normalized || is_softmax ? op.scale / sum : op.scale;
  // Only theirs: a factor that is no number would make experts of all.
  for (int64_t expert = 0; expert < n_experts; ++expert)
    if (shares[expert] != 0) shares[expert] *= factor;
}

}  // namespace

void run_rows(const ops::Route& op, RowRange rows, const Step& step) {
  const int64_t n_experts = step.width(op.logits);
  for (int64_t row = rows.begin; row < rows.end; ++row)
    route(op, n_experts, step.value(op.logits) + row * n_experts,
          step.value(op.out) + row * n_experts);
}

}  // namespace hwtv::cpu
