#include "io/posix_sync.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include "io/posix_error.h"

namespace cambium {
namespace {

// False only where it is known that nothing has to be asked.
bool MayForget(int descriptor) {
  struct statfs of_system;
  if (::fstatfs(descriptor, &of_system) == 0 && of_system.f_type != EXT4_SUPER_MAGIC) return false;
  struct stat of_file;
  return ::fstat(descriptor, &of_file) != 0 || of_file.st_size > 0;  // of nothing, nothing can be lost
}

}  // namespace

Status PosixSync(int descriptor, SyncKind kind, const std::string& path) {
  const char* const name = kind == SyncKind::kData ? "fdatasync" : "fsync";
  if ((kind == SyncKind::kData ? ::fdatasync(descriptor) : ::fsync(descriptor)) != 0) {
    return PosixError(name, path, errno);
  }
  if (!MayForget(descriptor) || ::fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, 1) == 0) return Status::OK();
  // Other errors say only that it cannot be asked this way.
  if (errno != EROFS && errno != EIO) return Status::OK();
  return PosixError(std::string(name) + " (the journal of the file system is dead)", path, errno);
}

}  // namespace cambium
