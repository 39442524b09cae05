// KernelRefusesIoUring: whether the kernel denies io_uring to this process. Asks without the library, so that a test is
// skipped only if there is no io_uring, and not if the library fails to use it.
#pragma once

#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace cambium::testing {

[[nodiscard]] inline bool KernelRefusesIoUring() {
  io_uring_params params{};
  const long ring = ::syscall(SYS_io_uring_setup, 1, &params);
  // ENOMEM: the limit of locked memory.
  if (ring < 0) return errno == ENOSYS || errno == EPERM || errno == EACCES || errno == ENOMEM;
  ::close(static_cast<int>(ring));
  return false;
}

inline constexpr const char* kNoIoUring =
    "SKIPPED: the kernel refuses io_uring to this process (ENOSYS, or seccomp or a sysctl forbids it); threads read "
    "instead, which other tests cover";

}  // namespace cambium::testing
