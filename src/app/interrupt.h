// Ctrl-C while an answer is computed: the first one asks for its end, the second ends the program.
#pragma once
#include <csignal>

namespace hwtv::app {

class Interrupt {
 public:
  Interrupt();   // from here on SIGINT is noted
  ~Interrupt();  // and back to what it was
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  bool requested() const;

 private:
  struct sigaction before_;
};

}  // namespace hwtv::app
