// GuardedCopy copies from memory whose pages may be missing, such as a mapped file, and survives a missing page.
//
// A load from a mapped page that cannot be read raises SIGBUS in the loading thread. One handler per process takes the
// signal. If the single load instruction of GuardedCopy raised it, the handler makes GuardedCopy return false. It
// forwards every other SIGBUS to the handler, or default action, that was installed before.
//
//   GuardedCopy ── rep movsb ──▶ page present: copied, true
//                     └─ SIGBUS ─▶ handler: our instruction? ─ yes ─▶ resume at `return false`
//                                                              no ─▶ the handler before ours
//
// This works only while the signal reaches our handler. The host can prevent that in two ways. It can install a handler
// after ours that does not forward the signals of others. Or a thread can block SIGBUS; then the kernel kills the
// process without calling a handler. So each thread checks this now and then; if the guard does not hold, the caller
// must read the bytes in another way.
#pragma once

#include <cstddef>

namespace cambium {

// Installs the handler, in the first call in the process, for the rest of the process's life. Returns false where
// GuardedCopy is not implemented (processors other than x86-64) or the handler cannot be installed.
[[nodiscard]] bool InstallCopyGuard();

// Returns whether this thread may call GuardedCopy now. The first call of a thread and every kGuardChecks-th one ask
// the system (two system calls); the others return the last answer. False before InstallCopyGuard.
inline constexpr unsigned kGuardChecks = 256;
[[nodiscard]] bool CopyGuardHolds();

// Copies n bytes. Returns false if a page of `from` cannot be read; the contents of `out` are then unspecified. The
// ranges do not overlap. Call it only while CopyGuardHolds().
[[nodiscard]] bool GuardedCopy(char* out, const char* from, std::size_t n);

}  // namespace cambium
