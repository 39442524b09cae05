// Copying from memory whose pages may be gone, such as a mapped file, without dying of it.
//
// A load from a mapped page that cannot be had raises SIGBUS in the thread that made it. One handler per process takes
// the signal; if it was raised by the one instruction of GuardedCopy that loads, execution goes on behind it with the
// answer "no". Every other SIGBUS goes where it would have gone without us.
//
//   GuardedCopy ── rep movsb ──▶ page there: copied, true
//                     └─ SIGBUS ─▶ handler: is that our instruction? ─ yes ─▶ go on at `return false`
//                                                                      no ─▶ whoever had the signal before us
//
// This holds as long as the signal reaches us. Two things of the host can prevent it: a handler installed after ours
// that does not hand on what is not its own, and a thread that blocks SIGBUS, in which the kernel kills the process
// instead of asking anybody. So each thread looks, now and then, whether it is so, and must then copy in another way.
#pragma once

#include <cstddef>

namespace cambium {

// Installs the handler, at the first call in a process; it stays for ever, and whoever calls asks for that. False where
// no such copy exists: on processors other than x86-64.
[[nodiscard]] bool InstallCopyGuard();

// Whether GuardedCopy may be called by this thread now. Asks the system at the first call of a thread and at every
// kGuardChecks-th one (two system calls), and else says what it said before. False before InstallCopyGuard.
inline constexpr unsigned kGuardChecks = 256;
[[nodiscard]] bool CopyGuardHolds();

// Copies n bytes, or as many as can be had: false if a page of `from` could not be; what `out` holds then is
// unspecified. The ranges do not overlap. Only while CopyGuardHolds().
[[nodiscard]] bool GuardedCopy(char* out, const char* from, std::size_t n);

}  // namespace cambium
