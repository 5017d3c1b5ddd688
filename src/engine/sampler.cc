#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace hwtv::engine {
namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();

// A number in [0, 1) from the seed and a counter alone (splitmix64), so that the n-th choice of a
// sequence is the same whatever else the machine has sampled.
double uniform(uint64_t seed, uint64_t n) {
  uint64_t z = seed * 0xd1342543de82ef95ull + (n + 1) * 0x9e3779b97f4a7c15ull;
  for (int round = 0; round < 2; ++round) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
  }
  return static_cast<double>(z >> 11) * 0x1.0p-53;
}

// Not std::max_element: a NaN must never win.
int32_t arg_max(std::span<const float> logits) {
  size_t best = 0;
  float best_logit = kForbidden;
  for (size_t i = 0; i < logits.size(); ++i)
    if (logits[i] > best_logit) best = i, best_logit = logits[i];
  return static_cast<int32_t>(best);
}

}  // namespace

Sampler::Sampler(SamplingParams params, int64_t vocab_size, std::span<const int32_t> prompt)
    : params_(std::move(params)) {
  const size_t n = static_cast<size_t>(vocab_size);
  logits_.resize(n);
  n_in_answer_.resize(n);
  in_prompt_.resize(n);
  candidates_.reserve(n);
  for (const int32_t token : prompt) in_prompt_.at(static_cast<size_t>(token)) = true;
}

bool Sampler::changes_logits(const TokenMask* mask) const {
  return mask || !params_.logit_bias.empty() || params_.repetition_penalty != 1 ||
         params_.presence_penalty != 0 || params_.frequency_penalty != 0;
}

int32_t Sampler::sample(std::span<const float> logits, TokenMask* mask) {
  CHECK(logits.size() == logits_.size());
  int32_t token;
  if (params_.temperature == 0 && !changes_logits(mask)) {
    token = arg_max(logits);
  } else {
    for (size_t i = 0; i < logits.size(); ++i)
      logits_[i] = std::isnan(logits[i]) ? kForbidden : logits[i];
    adjust(mask);
    token = params_.temperature == 0 ? arg_max(logits_) : draw();
  }
  remember(token);
  if (mask) mask->accept(token);
  return token;
}

void Sampler::remember(int32_t token) {
  ++n_sampled_;
  ++n_in_answer_[static_cast<size_t>(token)];
}

void Sampler::adjust(TokenMask* mask) {
  for (const auto& [token, bias] : params_.logit_bias) logits_[static_cast<size_t>(token)] += bias;
  penalize();
  if (mask) mask->apply(logits_);
}

void Sampler::penalize() {
  const float repetition = static_cast<float>(params_.repetition_penalty);
  const float presence = static_cast<float>(params_.presence_penalty);
  const float frequency = static_cast<float>(params_.frequency_penalty);
  if (repetition == 1 && presence == 0 && frequency == 0) return;
  for (size_t i = 0; i < logits_.size(); ++i) {
    const int32_t n_times = n_in_answer_[i];
    if (n_times == 0 && !in_prompt_[i]) continue;
    logits_[i] = logits_[i] > 0 ? logits_[i] / repetition : logits_[i] * repetition;
    if (n_times > 0) logits_[i] -= presence + frequency * static_cast<float>(n_times);
  }
}

int32_t Sampler::draw() {
  collect_candidates();
  if (params_.typical_p < 1) keep_typical();
  if (params_.top_p < 1) keep_top_p();
  if (params_.min_p > 0) keep_min_p();
  const double target = uniform(params_.seed, n_sampled_);
  double sum = 0;
  for (const Candidate& candidate : candidates_) {
    sum += candidate.probability;
    if (target < sum) return candidate.token;
  }
  return candidates_.back().token;  // the sum may stay a rounding error below 1
}

// Candidates best first, their probabilities after temperature and top-k.
void Sampler::collect_candidates() {
  candidates_.clear();
  for (size_t i = 0; i < logits_.size(); ++i)
    if (logits_[i] != kForbidden) candidates_.push_back({static_cast<int32_t>(i), logits_[i], 0});
  if (candidates_.empty()) candidates_.push_back({0, 0, 0});
  const auto better = [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  };
  const size_t k = static_cast<size_t>(params_.top_k);
  if (k > 0 && k < candidates_.size()) {
    std::nth_element(candidates_.begin(), candidates_.begin() + static_cast<ptrdiff_t>(k) - 1,
                     candidates_.end(), better);
    candidates_.resize(k);
  }
  std::sort(candidates_.begin(), candidates_.end(), better);
  const double top = static_cast<double>(candidates_.front().logit);
  for (Candidate& candidate : candidates_)
    candidate.probability =
        std::isinf(top)
            ? (std::isinf(candidate.logit) ? 1.0 : 0.0)
            : std::exp((static_cast<double>(candidate.logit) - top) / params_.temperature);
  normalize();
}

void Sampler::normalize() {
  double sum = 0;
  for (const Candidate& candidate : candidates_) sum += candidate.probability;
  for (Candidate& candidate : candidates_) candidate.probability /= sum;
}

// Keeps the tokens whose surprise is nearest to the expected one, until they hold typical_p.
void Sampler::keep_typical() {
  double entropy = 0;
  for (const Candidate& c : candidates_)
    if (c.probability > 0) entropy -= c.probability * std::log(c.probability);
  const auto distance = [&](const Candidate& c) {
    return c.probability > 0 ? std::fabs(-std::log(c.probability) - entropy)
                             : std::numeric_limits<double>::infinity();
  };
  std::sort(candidates_.begin(), candidates_.end(), [&](const Candidate& a, const Candidate& b) {
    const double da = distance(a), db = distance(b);
    return da != db ? da < db : a.token < b.token;
  });
  double sum = 0;
  size_t n_kept = 0;
  while (n_kept < candidates_.size() && sum < params_.typical_p)
    sum += candidates_[n_kept++].probability;
  candidates_.resize(std::max<size_t>(n_kept, 1));
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.probability != b.probability ? a.probability > b.probability : a.token < b.token;
  });
  normalize();
}

void Sampler::keep_top_p() {
  double sum = 0;
  size_t n_kept = 0;
  while (n_kept < candidates_.size() && sum < params_.top_p)
    sum += candidates_[n_kept++].probability;
  candidates_.resize(std::max<size_t>(n_kept, 1));
  normalize();
}

void Sampler::keep_min_p() {
  const double least = candidates_.front().probability * params_.min_p;
  size_t n_kept = 1;
  while (n_kept < candidates_.size() && candidates_[n_kept].probability >= least) ++n_kept;
  candidates_.resize(n_kept);
  normalize();
}

float Sampler::logprobs(std::span<const float> logits, int32_t chosen,
                        std::span<TokenLogprob> out) {
  double top = -std::numeric_limits<double>::infinity();
  for (const float logit : logits) top = std::max(top, static_cast<double>(logit));
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - top);
  const double normalizer = top + std::log(sum);
  candidates_.clear();
  for (size_t i = 0; i < logits.size(); ++i)
    candidates_.push_back({static_cast<int32_t>(i), logits[i], 0});
  const size_t n = std::min(out.size(), candidates_.size());
  std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<ptrdiff_t>(n),
                    candidates_.end(), [](const Candidate& a, const Candidate& b) {
                      return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
                    });
  for (size_t i = 0; i < n; ++i)
    out[i] = {candidates_[i].token,
              static_cast<float>(static_cast<double>(candidates_[i].logit) - normalizer)};
  return static_cast<float>(static_cast<double>(logits[static_cast<size_t>(chosen)]) - normalizer);
}

}  // namespace hwtv::engine
