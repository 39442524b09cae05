#include "system/kernel_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cambium::bench {
namespace {

constexpr const char* kDropCaches = "/proc/sys/vm/drop_caches";

Status SystemError(const std::string& what) {
  const std::string message = what + ": " + std::strerror(errno);
  return errno == ENOENT ? Status::NotFound(message) : Status::IOError(message);
}

}  // namespace

Status WriteKernelFile(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return SystemError("open " + path);
  const ssize_t written = write(fd, text.data(), text.size());
  Status status = written < 0 ? SystemError("write " + path) : Status();
  close(fd);
  return status;
}

Status CanDropPageCache() {
  return access(kDropCaches, W_OK) == 0 ? Status() : SystemError(std::string("cannot write ") + kDropCaches);
}

Status DropPageCache() {
  sync();
  return WriteKernelFile(kDropCaches, "3");
}

}  // namespace cambium::bench
