#include "io/event_descriptor.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "io/posix_error.h"

namespace cambium {

// A write fails only if the sum is at its maximum: then the descriptor is readable already.
void AddToEventFd(int fd) noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(RetryOnSignal([&] { return ::write(fd, &one, sizeof(one)); }));
}

Status EventDescriptor::Make() {
  if (fd_.valid()) return Status::OK();
  PosixDescriptor made(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made.valid()) return PosixError("create", "eventfd", errno);
  fd_ = std::move(made);
  return Status::OK();
}

void EventDescriptor::Clear() const noexcept {
  if (!fd_.valid()) return;
  std::uint64_t sum = 0;
  static_cast<void>(RetryOnSignal([&] { return ::read(fd_.get(), &sum, sizeof(sum)); }));
}

}  // namespace cambium
