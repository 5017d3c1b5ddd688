// What `hwtv pull` tells on stderr while it works: one line that moves on a terminal, otherwise a
// line every few seconds; and Ctrl-C for it.
#pragma once
#include <string>

#include "app/interrupt.h"
#include "base/clock.h"
#include "store/waiter.h"

namespace hwtv::app {

class PullProgress final : public store::Waiter {
 public:
  explicit PullProgress(bool quiet);
  ~PullProgress() override;  // the moving line is gone

  bool cancelled() override { return interrupt_.requested(); }
  Result<void> wait(double seconds) override;
  void note(const std::string& line) override;
  void fetched(const std::string& name, int64_t done_bytes, int64_t total_bytes) override;
  void checked(const std::string& name, int64_t done_bytes, int64_t total_bytes) override;
  double elapsed_s() { return clock_.now_s() - begin_s_; }

 private:
  void show(const std::string& text);
  // Begins a new count of the rate where another file or another work begins.
  void follow(const std::string& what, int64_t done_bytes);
  void wipe();

  const bool quiet_, moving_;
  Interrupt interrupt_;
  SteadyClock clock_;
  const double begin_s_;
  double next_s_;
  std::string followed_;  // what the rate is of
  double followed_since_s_ = 0;
  int64_t followed_from_bytes_ = 0;
  bool shown_ = false;
};

}  // namespace hwtv::app
