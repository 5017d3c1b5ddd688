// How well a model predicts a text, alone and against another: what perplexity and prune tell.
#pragma once
#include <cstdint>
#include <vector>

#include "app/session.h"

namespace hwtv::app {

// Mean and standard error of a stream of numbers.
class Mean {
 public:
  void add(double x) {
    ++n_;
    sum_ += x;
    squares_ += x * x;
  }
  int64_t n() const { return n_; }
  double value() const { return sum_ / static_cast<double>(n_); }
  double standard_error() const;

 private:
  int64_t n_ = 0;
  double sum_ = 0, squares_ = 0;
};

struct Score {
  Mean surprise;         // -log p of the next token, nats
  Mean base_surprise;    // the same of the base
  Mean kl;               // against the base, nats
  int64_t n_agreed = 0;  // positions where both find the same token likeliest
  int64_t n_windows = 0;

  double perplexity() const;
  double base_perplexity() const;
  double agreement() const;  // share of positions
};

// Scores the second half of one window: position p predicts token p + 1.  `base`: null, or another
// model of the same vocabulary.  Requires: sessions opened with n_outputs > 1.
// Errors: those of for_each_prompt_row.
Result<void> score_window(Session& session, Session* base, const std::vector<int32_t>& tokens,
                          Score& score);

// Errors: invalid_request, with both sizes.
Result<void> check_same_vocabulary(const Session& a, const Session& b);

}  // namespace hwtv::app
