#include "app/pooling.h"

#include <fmt/format.h>

#include <cmath>

#include "base/check.h"

namespace hwtv::app {

using model::Pooling;

std::string_view pooling_name(Pooling pooling) {
  switch (pooling) {
    case Pooling::none:
      return "none";
    case Pooling::mean:
      return "mean";
    case Pooling::cls:
      return "cls";
    case Pooling::last:
      return "last";
    case Pooling::rank:
      return "rank";
  }
  return "";
}

Result<Pooling> choose_pooling(std::string_view flag, const model::ModelConfig& config) {
  for (const Pooling pooling : {Pooling::mean, Pooling::last, Pooling::cls})
    if (flag == pooling_name(pooling)) return pooling;
  if (!flag.empty())
    return fail(ErrorCode::invalid_request, fmt::format("--pooling {} is not known", flag),
                "use mean, last or cls");
  const Pooling own = config.pooling.value_or(Pooling::none);
  if (own == Pooling::rank) return Pooling::cls;
  if (own != Pooling::none) return own;
  return config.causal ? Pooling::last : Pooling::mean;
}

void Pool::add(int64_t position, std::span<const float> row) {
  if (pooling_ == Pooling::cls && position > 0) return;
  if (pooling_ == Pooling::last || sum_.empty()) sum_.assign(row.size(), 0);
  n_rows_ = pooling_ == Pooling::last ? 1 : n_rows_ + 1;
  for (size_t i = 0; i < row.size(); ++i) sum_[i] += static_cast<double>(row[i]);
}

std::vector<float> Pool::embedding(bool normalized) const {
  CHECK(n_rows_ > 0);
  double squares = 0;
  for (const double x : sum_) squares += x * x;
  const double length = std::sqrt(squares);
  const double divisor = normalized && length > 0 ? length : static_cast<double>(n_rows_);
  std::vector<float> out;
  out.reserve(sum_.size());
  for (const double x : sum_) out.push_back(static_cast<float>(x / divisor));
  return out;
}

double cosine(std::span<const float> a, std::span<const float> b) {
  CHECK(a.size() == b.size());
  double product = 0, a_squares = 0, b_squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    product += x * y;
    a_squares += x * x;
    b_squares += y * y;
  }
  const double lengths = std::sqrt(a_squares * b_squares);
  return lengths > 0 ? product / lengths : 0;
}

}  // namespace hwtv::app
