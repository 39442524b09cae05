// PosixDescriptor: owns a file descriptor and closes it.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace cambium {

// Owns a descriptor that open() returned. It never retries close(): on Linux the descriptor is gone even after EINTR,
// and its number may already belong to another file. It ignores the result of close(), which proves nothing about the
// data; SyncData reports the errors that count.
class PosixDescriptor {
 public:
  PosixDescriptor() = default;
  explicit PosixDescriptor(int fd) : fd_(fd) {}
  PosixDescriptor(PosixDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  PosixDescriptor& operator=(PosixDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~PosixDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// Repeats a call like open() that fails with EINTR if a signal interrupts it before it did anything.
template <typename Call>
auto RetryOnSignal(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace cambium
