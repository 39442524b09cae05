// Child: a process that runs this test program again in a role of its own, and tells us how it goes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "process/workload.h"

namespace cambium::testing {

inline constexpr int kMessageDescriptor = 3;

// One thread. A child that still lives dies with this object.
class Child {
 public:
  // `prefix`: a program that runs ours, as strace does. The child heads a process group of its own.
  Child(const std::string& role, const Plan& plan, const std::vector<std::string>& prefix = {});
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Hands on messages until `stop` says so (true), or until the pipe ends or the time is over (false).
  bool Listen(std::uint64_t micros_max, const std::function<bool(const Message&)>& stop);
  // SIGKILL to it and what it has started, then the rest of its messages.
  void Kill(const std::function<void(const Message&)>& see);
  // Waits for its end: the exit code, or 1000 + the signal that killed it. After `seconds_max` it is killed.
  int Wait();

 private:
  void Reap();

  pid_t pid_ = -1;
  int in_ = -1;
  int status_ = 0;
  std::string buffer_;
};

// The roles of this program: what main() does instead of running tests when it is called with --role.
int RunRole(const std::string& role, const Plan& plan);

}  // namespace cambium::testing
