// Whether the kernel lets this process have an io_uring, asked without the library, so that a test may be skipped for want
// of one, and not because the library does not find it.
#pragma once

#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace cambium::testing {

[[nodiscard]] inline bool KernelRefusesIoUring() {
  io_uring_params params{};
  const long ring = ::syscall(SYS_io_uring_setup, 1, &params);
  if (ring < 0) return errno == ENOSYS || errno == EPERM || errno == EACCES || errno == ENOMEM;  // or no memory may be locked
  ::close(static_cast<int>(ring));
  return false;
}

inline constexpr const char* kNoIoUring =
    "SKIPPED: the kernel refuses io_uring to this process (ENOSYS, or seccomp or a sysctl forbids it); threads read instead, "
    "and what they do is tested by itself";

}  // namespace cambium::testing
