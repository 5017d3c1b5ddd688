// What a step costs by its rows, learnt from the steps that ran: rows between two known numbers
// cost what a straight line says.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hwtv::engine {

class StepCosts {
 public:
  // Requires: n_rows_max >= 1.
  explicit StepCosts(int64_t n_rows_max);

  // A step of n_rows tokens, each with an output row.  More than n_rows_max are ignored.
  void observe(int64_t n_rows, double seconds);
  // A step that read a prompt: a first idea of the cost of many rows, until such steps were seen.
  void observe_prefill(int64_t n_tokens, double seconds);

  // Whether a step of so many rows was seen.
  bool knows(int64_t n_rows) const { return seconds_[static_cast<size_t>(n_rows)] > 0; }

  // The most rows whose cost is no mere guess; 0: nothing is known yet.
  int64_t n_rows_known() const;

  // 0: nothing is known yet.
  double seconds(int64_t n_rows) const;

 private:
  struct Point {
    double n_rows = 0;
    double seconds = 0;
  };

  Point below(int64_t n_rows) const;
  Point above(int64_t n_rows) const;
  double rise_below(const Point& point) const;

  std::vector<double>
      seconds_;  // (n_rows_max + 1) a mean that leans to the shorter steps; 0: not seen yet
  Point prefill_;
};

}  // namespace hwtv::engine
