#include "interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace cambium::tool {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

volatile sig_atomic_t came = 0;
std::array<struct sigaction, kSignals.size()> before;

void OnSignal(int number) { came = number; }

}  // namespace

Interrupts::Interrupts() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  // Without SA_RESTART: a read that waits for a terminal or a pipe returns, and its caller looks at the flag.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    // A signal that the caller ignores stays ignored, as under nohup.
    if (before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
  signal(SIGPIPE, SIG_IGN);
}

Interrupts::~Interrupts() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before[i], nullptr);
}

bool Interrupts::HasCome() { return came != 0; }

void Interrupts::ThrowIfCome() {
  if (HasCome()) throw Interrupted();
}

void Interrupts::ThrowIfEnded(const Status& done, const std::string& left) {
  if (HasCome() && !done.ok()) throw Interrupted{left};
}

void Interrupts::Die() {
  signal(came, SIG_DFL);
  raise(came);
  std::_Exit(128 + came);  // the signal is blocked
}

}  // namespace cambium::tool
