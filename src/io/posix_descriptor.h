// PosixDescriptor: a file descriptor that is closed when nobody needs it any more.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace cambium {

// Owns what open() gave. close() is never retried: on Linux the descriptor is gone even when it says EINTR, and its
// number may be another file's by then. What close() reports is no promise either way; SyncData is where errors count.
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

// open() and its like, for calls that a signal may interrupt before they did anything.
template <typename Call>
auto RetryOnSignal(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace cambium
