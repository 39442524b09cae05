// Child: a process that runs this test program again in another role, and sends messages.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "process/workload.h"

namespace cambium::testing {

inline constexpr int kMessageDescriptor = 3;

// One thread. The destructor kills a child that still runs.
class Child {
 public:
  // `prefix`: the command line of a program that runs ours, such as strace. The child leads its own process group.
  Child(const std::string& role, const Plan& plan, const std::vector<std::string>& prefix = {})
      : Child(role, plan.ToText(), prefix) {}
  // `argument`: passed to the role as the last word of the command line.
  Child(const std::string& role, const std::string& argument, const std::vector<std::string>& prefix = {});
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Passes messages to `stop` until it returns true. Returns false if the pipe ends or the time is over first.
  bool Listen(std::uint64_t micros_max, const std::function<bool(const Message&)>& stop);
  // Sends SIGKILL to the child and all processes that it has started, then passes on the rest of its messages.
  void Kill(const std::function<void(const Message&)>& see);
  // Waits for the end of the child. Returns its exit code, or 1000 + the signal that killed it.
  int Wait();

 private:
  void Reap();

  pid_t pid_ = -1;
  int in_ = -1;
  int status_ = 0;
  std::string buffer_;
};

// Runs a role of this program. main() calls it instead of the tests if it gets --role.
int RunRole(const std::string& role, const Plan& plan);

}  // namespace cambium::testing
