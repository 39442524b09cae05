#include "util/background_thread.h"

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <utility>

namespace cambium {
namespace {

// Blocks signals in this thread for the lifetime of the object. A new thread inherits the mask of the thread that
// starts it.
class SignalBlocker {
 public:
  SignalBlocker() {
    sigset_t all;
    sigfillset(&all);
    // The signal that a fault raises must reach the host's crash reporter: if it is blocked, the kernel kills the
    // process silently.
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalBlocker() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalBlocker(const SignalBlocker&) = delete;
  SignalBlocker& operator=(const SignalBlocker&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

std::thread StartBackgroundThread(const char* name, std::function<void()> body) {
  const SignalBlocker blocker;
  try {
    return std::thread([name, body = std::move(body)] {
      pthread_setname_np(pthread_self(), name);
      body();
    });
  } catch (const std::system_error&) {
    return {};
  }
}

}  // namespace cambium
