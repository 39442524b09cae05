// EventDescriptor: a descriptor that a program can poll, and that the library makes readable.
#pragma once

#include "cambium/status.h"
#include "io/posix_descriptor.h"

namespace cambium {

// Adds 1 to an eventfd. Any thread.
void AddToEventFd(int fd) noexcept;

// Any thread may call Signal and Clear; one thread calls Make.
class EventDescriptor {
 public:
  // Creates the descriptor, unless there is one.
  Status Make();
  [[nodiscard]] int get() const { return fd_.get(); }  // -1: not made
  // Makes the descriptor readable, if there is one.
  void Signal() const noexcept {
    if (fd_.valid()) AddToEventFd(fd_.get());
  }
  // Makes the descriptor not readable, until the next Signal.
  void Clear() const noexcept;

 private:
  PosixDescriptor fd_;
};

}  // namespace cambium
