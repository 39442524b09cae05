#include "process/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <stdexcept>

namespace cambium::testing {
namespace {

std::uint64_t NowMicros() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

}  // namespace

Child::Child(const std::string& role, const std::string& argument, const std::vector<std::string>& prefix) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  char self[4096] = {};
  if (::readlink("/proc/self/exe", self, sizeof(self) - 1) <= 0) throw std::runtime_error("no /proc/self/exe");
  std::vector<std::string> words = prefix;
  words.insert(words.end(), {self, "--role", role, argument});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::setpgid(0, 0);
    if (ends[1] == kMessageDescriptor) {
      ::fcntl(kMessageDescriptor, F_SETFD, 0);
    } else {
      ::dup2(ends[1], kMessageDescriptor);
    }
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  if (pid_ < 0) throw std::runtime_error("no process");
  ::setpgid(pid_, pid_);  // the child does it too; either may be first
  in_ = ends[0];
}

Child::~Child() {
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);
    Reap();
  }
  ::close(in_);
}

void Child::Reap() {
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

bool Child::Listen(std::uint64_t micros_max, const std::function<bool(const Message&)>& stop) {
  const std::uint64_t deadline = NowMicros() + micros_max;
  for (bool last = false;;) {
    while (buffer_.size() >= sizeof(Message)) {
      Message message;
      std::memcpy(&message, buffer_.data(), sizeof(message));
      buffer_.erase(0, sizeof(message));
      if (stop(message)) return true;
    }
    if (last) return false;
    const std::uint64_t now = NowMicros();
    last = now >= deadline;  // still reads what is in the pipe
    const std::uint64_t left = last ? 0 : deadline - now;
    pollfd ready{in_, POLLIN, 0};
    const timespec wait{static_cast<time_t>(left / 1'000'000), static_cast<long>(left % 1'000'000) * 1000};
    if (::ppoll(&ready, 1, &wait, nullptr) <= 0) continue;
    char bytes[1 << 14];
    const ssize_t n = ::read(in_, bytes, sizeof(bytes));
    if (n <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(n));
  }
}

void Child::Kill(const std::function<void(const Message&)>& see) {
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);
    Reap();
  }
  static_cast<void>(Listen(10'000'000, [&](const Message& message) {
    see(message);
    return false;
  }));
}

int Child::Wait() {
  if (pid_ > 0) Reap();
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : 1000 + WTERMSIG(status_);
}

}  // namespace cambium::testing
