// PosixPlace: where a system call like openat() looks a path up.
#pragma once

#include <fcntl.h>

#include <memory>
#include <string>
#include <utility>

#include "io/opened_prefix.h"
#include "io/posix_descriptor.h"
#include "io/posix_error.h"
#include "util/mutex.h"

namespace cambium {

// A directory that is open, and the path that led to it. Any thread.
class PosixDirectory {
 public:
  PosixDirectory(std::string path, PosixDescriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int fd() const { return descriptor_.get(); }
  // Syncs the directory by its own descriptor. The kernel reports a failure once, so all later calls return it too.
  [[nodiscard]] Status Sync() const {
    const MutexLock lock(mutex_);
    if (failed_.ok() && ::fsync(fd()) != 0) failed_ = PosixError("sync directory", path_, errno);
    return failed_;
  }

 private:
  mutable Mutex mutex_;  // held during the call
  mutable Status failed_ CAMBIUM_GUARDED_BY(mutex_);
  const std::string path_;
  const PosixDescriptor descriptor_;
};

// Valid as long as the path that it was made from.
struct PosixPlace {
  // `path` from the working directory, or from the root.
  explicit PosixPlace(const std::string& path) : name(path.c_str()) {}
  // `path` from `opened`, if it is below it.
  PosixPlace(std::shared_ptr<const PosixDirectory> from, const std::string& path) : PosixPlace(path) {
    const char* const below = from != nullptr ? PathBelow(from->path(), path) : nullptr;
    if (below == nullptr) return;
    opened = std::move(from);
    name = below;
  }
  explicit PosixPlace(Opened<PosixDirectory> found) : opened(std::move(found.directory)), name(found.rest) {}

  [[nodiscard]] int directory() const { return opened != nullptr ? opened->fd() : AT_FDCWD; }
  // Whether this is the opened directory itself.
  [[nodiscard]] bool IsOpened() const { return opened != nullptr && name[0] == '.' && name[1] == '\0'; }

  std::shared_ptr<const PosixDirectory> opened;  // null: none
  const char* name;                              // a path from directory()
};

}  // namespace cambium
