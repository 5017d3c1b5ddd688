#include "app/score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/prompt_rows.h"

namespace hwtv::app {
namespace {

double log_normalizer(std::span<const float> row) {
  const double top = static_cast<double>(*std::max_element(row.begin(), row.end()));
  double sum = 0;
  for (const float logit : row) sum += std::exp(static_cast<double>(logit) - top);
  return top + std::log(sum);
}

size_t best(std::span<const float> row) {
  return static_cast<size_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

// KL(base || row) in nats.
double divergence(std::span<const float> base, std::span<const float> row) {
  const double base_log = log_normalizer(base), row_log = log_normalizer(row);
  double sum = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    const double log_p = static_cast<double>(base[i]) - base_log;
    sum += std::exp(log_p) * (log_p - (static_cast<double>(row[i]) - row_log));
  }
  return sum;
}

}  // namespace

double Mean::standard_error() const {
  const double n = static_cast<double>(n_);
  return n > 1 ? std::sqrt(std::max(0.0, squares_ / n - value() * value()) / (n - 1)) : 0;
}

double Score::perplexity() const { return std::exp(surprise.value()); }

double Score::base_perplexity() const { return std::exp(base_surprise.value()); }

double Score::agreement() const {
  return static_cast<double>(n_agreed) / static_cast<double>(kl.n());
}

Result<void> score_window(Session& session, Session* base, const std::vector<int32_t>& tokens,
                          Score& score) {
  const int64_t first = static_cast<int64_t>(tokens.size()) / 2;
  const int64_t last = static_cast<int64_t>(tokens.size()) - 1;  // predicts nothing
  const auto next = [&](int64_t position) {
    return static_cast<size_t>(tokens[static_cast<size_t>(position) + 1]);
  };
  std::vector<float> base_rows;
  if (base)
    HWTV_TRY_VOID(
        for_each_prompt_row(*base, tokens, first, [&](int64_t p, std::span<const float> row) {
          if (p == last) return;
          base_rows.insert(base_rows.end(), row.begin(), row.end());
          score.base_surprise.add(log_normalizer(row) - static_cast<double>(row[next(p)]));
        }));
  HWTV_TRY_VOID(
      for_each_prompt_row(session, tokens, first, [&](int64_t p, std::span<const float> row) {
        if (p == last) return;
        score.surprise.add(log_normalizer(row) - static_cast<double>(row[next(p)]));
        if (!base) return;
        const auto base_row = std::span<const float>(base_rows).subspan(
            static_cast<size_t>(p - first) * row.size(), row.size());
        score.kl.add(divergence(base_row, row));
        score.n_agreed += best(base_row) == best(row);
      }));
  ++score.n_windows;
  return {};
}

Result<void> check_same_vocabulary(const Session& a, const Session& b) {
  const int64_t n = a.model().config().vocab_size, m = b.model().config().vocab_size;
  if (n == m) return {};
  return fail(ErrorCode::invalid_request,
              fmt::format("the model has a vocabulary of {}, the base one of {}", n, m),
              "compare models of one family with the same tokenizer");
}

}  // namespace hwtv::app
