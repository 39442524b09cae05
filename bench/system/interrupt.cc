#include "system/interrupt.h"

#include <signal.h>
#include <unistd.h>

namespace cambium::bench {
namespace {

std::atomic<bool> interrupted{false};
std::atomic<bool> exit_at_second{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler uses them");

void OnSignal(int number) {
  if (number == SIGINT && interrupted.load() && exit_at_second.load()) _exit(128 + SIGINT);
  interrupted.store(true);
}

}  // namespace

std::atomic<bool>& Interrupted() { return interrupted; }

void CatchInterrupts(SecondInterrupt second) {
  exit_at_second.store(second == SecondInterrupt::kExit);
  struct sigaction action {};
  action.sa_handler = OnSignal;  // without SA_RESTART: a read that waits returns, so that its caller looks at the flag
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGPIPE, &action, nullptr);
}

}  // namespace cambium::bench
