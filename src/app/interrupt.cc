#include "app/interrupt.h"

#include <unistd.h>

namespace hwtv::app {
namespace {

volatile std::sig_atomic_t g_requested = 0;  // signal handlers can reach nothing else

void note(int) {
  if (g_requested) ::_exit(130);
  g_requested = 1;
}

}  // namespace

Interrupt::Interrupt() {
  g_requested = 0;
  struct sigaction action {};
  action.sa_handler = note;
  ::sigaction(SIGINT, &action, &before_);
  if (before_.sa_handler == SIG_IGN) ::sigaction(SIGINT, &before_, nullptr);  // as under nohup
}

Interrupt::~Interrupt() { ::sigaction(SIGINT, &before_, nullptr); }

bool Interrupt::requested() const { return g_requested != 0; }

}  // namespace hwtv::app
