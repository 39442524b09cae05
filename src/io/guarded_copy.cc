#include "io/guarded_copy.h"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#if defined(__x86_64__)

// A single instruction loads, so the handler recognizes our faults by the instruction's address alone. The function has
// no frame and pushes nothing, so the handler can resume at the failure label directly.
asm(R"(
    .text
    .p2align 4
    .globl cambium_guarded_copy
    .hidden cambium_guarded_copy
    .type cambium_guarded_copy, @function
cambium_guarded_copy:
    .cfi_startproc
    endbr64
    movq %rdx, %rcx
    movl $1, %eax
    .globl cambium_guarded_copy_load
    .hidden cambium_guarded_copy_load
cambium_guarded_copy_load:
    rep movsb
    ret
    .globl cambium_guarded_copy_failed
    .hidden cambium_guarded_copy_failed
cambium_guarded_copy_failed:
    xorl %eax, %eax
    ret
    .cfi_endproc
    .size cambium_guarded_copy, . - cambium_guarded_copy
)");

extern "C" {
bool cambium_guarded_copy(char* out, const char* from, std::size_t n) noexcept;
extern const char cambium_guarded_copy_load[];
extern const char cambium_guarded_copy_failed[];
}

namespace cambium {
namespace {

struct sigaction before_us;  // written once, before our handler is installed
std::atomic<bool> installed{false};

// Ends the process by the default action, with a core dump that shows where. Restores the default action; then the
// faulting instruction faults again. A signal that was sent with kill() is raised again here.
void Die(const siginfo_t& info) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGBUS, &action, nullptr);
  if (info.si_code <= 0) ::raise(SIGBUS);
}

void OnSigbus(int signal, siginfo_t* info, void* context) {
  greg_t& at = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  if (info->si_code > 0 && at == reinterpret_cast<greg_t>(cambium_guarded_copy_load)) {
    at = reinterpret_cast<greg_t>(cambium_guarded_copy_failed);
    return;
  }
  if ((before_us.sa_flags & SA_SIGINFO) != 0) {
    before_us.sa_sigaction(signal, info, context);
  } else if (before_us.sa_handler == SIG_IGN) {
    if (info->si_code > 0) Die(*info);  // the kernel does not let a process ignore a fault
  } else if (before_us.sa_handler == SIG_DFL) {
    Die(*info);
  } else {
    before_us.sa_handler(signal);
  }
}

bool SignalReachesUs() {
  struct sigaction now;
  sigset_t blocked;
  return ::sigaction(SIGBUS, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == OnSigbus &&
         ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked) == 0 && ::sigismember(&blocked, SIGBUS) == 0;
}

}  // namespace

bool InstallCopyGuard() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (::sigaction(SIGBUS, nullptr, &before_us) != 0) return;
    struct sigaction ours = {};
    ours.sa_sigaction = OnSigbus;
    // The handler runs on the thread's alternate signal stack, if there is one. Threads of some runtimes need this,
    // because their own stacks have only a few KiB.
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    ours.sa_mask = before_us.sa_mask;  // the earlier handler, which ours calls, expects these signals to be blocked
    installed.store(::sigaction(SIGBUS, &ours, nullptr) == 0, std::memory_order_release);
  });
  return installed.load(std::memory_order_acquire);
}

bool CopyGuardHolds() {
  struct Known {
    unsigned checks_left = 0;
    bool holds = false;
  };
  static thread_local constinit Known known;
  if (known.checks_left == 0) {
    if (!installed.load(std::memory_order_acquire)) return false;
    known = {kGuardChecks, SignalReachesUs()};
  }
  --known.checks_left;
  return known.holds;
}

bool GuardedCopy(char* out, const char* from, std::size_t n) { return cambium_guarded_copy(out, from, n); }

}  // namespace cambium

#else

namespace cambium {

bool InstallCopyGuard() { return false; }
bool CopyGuardHolds() { return false; }
bool GuardedCopy(char*, const char*, std::size_t) { return false; }

}  // namespace cambium

#endif
