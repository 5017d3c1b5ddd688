// Time as an interface, so that schedulers and spans can be tested with a clock that is set by hand.
#pragma once

namespace hwtv {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual double now_s() = 0;  // seconds since an arbitrary fixed point; never goes back
};

// CLOCK_MONOTONIC.
class SteadyClock final : public Clock {
 public:
  double now_s() override;
};

// Tests and simulations: time moves only when told to.
class FakeClock final : public Clock {
 public:
  double now_s() override { return now_s_; }
  void advance_s(double seconds) { now_s_ += seconds; }

 private:
  double now_s_ = 0;
};

}  // namespace hwtv
