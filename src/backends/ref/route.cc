#include <algorithm>
#include <cmath>

#include "backends/ref/kernels.h"

namespace hwtv::ref {
namespace {

// The largest logit that is not chosen yet, the first among equals.  chosen: share != 0
int64_t next_expert(const float* logits, const float* shares, int64_t n_experts) {
  int64_t best = -1;
  for (int64_t i = 0; i < n_experts; ++i)
    if (shares[i] == 0 && (best < 0 || logits[i] > logits[best])) best = i;
  return best;
}

// shares (n_experts)
void route(const ops::Route& op, int64_t n_experts, const float* logits, float* shares) {
  std::fill_n(shares, n_experts, 0.0f);
  for (int64_t i = 0; i < op.n_used; ++i) shares[next_expert(logits, shares, n_experts)] = 1;
  const auto top = static_cast<double>(*std::max_element(logits, logits + n_experts));
  const auto weight = [&](int64_t i) {
    const auto logit = static_cast<double>(logits[i]);
    return op.routing == ops::Routing::softmax ? std::exp(logit - top)
                                               : 1.0 / (1.0 + std::exp(-logit));
  };
  double all = 0, chosen = 0;
  for (int64_t i = 0; i < n_experts; ++i) {
    all += weight(i);
    if (shares[i] != 0) chosen += weight(i);
  }
  const double whole = op.normalized ? chosen : op.routing == ops::Routing::softmax ? all : 1.0;
  for (int64_t i = 0; i < n_experts; ++i)
    if (shares[i] != 0)
      shares[i] = static_cast<float>(weight(i) / whole * static_cast<double>(op.scale));
}

}  // namespace

void run(const ops::Route& op, const Step& step) {
  const int64_t n_experts = step.width(op.logits);
  for (int64_t row = 0; row < step.n_rows(op.logits); ++row)
    route(op, n_experts, step.value(op.logits) + row * n_experts,
          step.value(op.out) + row * n_experts);
}

}  // namespace hwtv::ref
