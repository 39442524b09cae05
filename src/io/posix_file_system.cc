#include "io/posix_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "io/posix_descriptor.h"
#include "io/posix_error.h"
#include "io/posix_file.h"
#include "io/posix_lock.h"
#include "io/thread_read_queue.h"
#include "io/uring_read_queue.h"

namespace cambium {
namespace {

Status Answer(int result, const char* operation, const std::string& path) {
  return result == 0 ? Status::OK() : PosixError(operation, path, errno);
}

}  // namespace

std::shared_ptr<FileSystem> FileSystem::Default() {
  static const auto* const file_system = new std::shared_ptr<FileSystem>(std::make_shared<PosixFileSystem>());
  return *file_system;
}

Status PosixFileSystem::Open(const std::string& path, OpenMode mode, const FileOptions& options,
                             std::unique_ptr<File>* file) {
  return PosixFile::Open(path, mode, options, file);
}

Status PosixFileSystem::GetInfo(const std::string& path, FileInfo* info) {
  struct stat facts;
  if (::stat(path.c_str(), &facts) != 0) return PosixError("stat", path, errno);
  *info = FileInfoOf(facts);
  return Status::OK();
}

Status PosixFileSystem::List(const std::string& directory, std::vector<std::string>* names) {
  names->clear();
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), &::closedir);
  if (stream == nullptr) return PosixError("list", directory, errno);
  for (;;) {
    errno = 0;  // the only way to tell the end from an error
    const dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names->emplace_back(name);
  }
  if (errno != 0) return PosixError("list", directory, errno);
  std::sort(names->begin(), names->end());
  return Status::OK();
}

Status PosixFileSystem::CreateDirectory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0) return Status::OK();
  const int error = errno;
  struct stat facts;
  if (error == EEXIST && ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) return Status::OK();
  return PosixError("create directory", path, error);
}

Status PosixFileSystem::RemoveDirectory(const std::string& path) {
  return Answer(::rmdir(path.c_str()), "remove directory", path);
}

Status PosixFileSystem::Unlink(const std::string& path) { return Answer(::unlink(path.c_str()), "unlink", path); }

Status PosixFileSystem::Rename(const std::string& from, const std::string& to) {
  return Answer(::rename(from.c_str(), to.c_str()), "rename", from + " to " + to);
}

Status PosixFileSystem::RenameToNew(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return Status::OK();
  const bool cannot_tell = errno == EINVAL || errno == ENOSYS;  // file systems with plain rename() only
  return cannot_tell ? FileSystem::RenameToNew(from, to) : PosixError("rename", from + " to " + to, errno);
}

Status PosixFileSystem::Link(const std::string& from, const std::string& to) {
  if (::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) == 0) return Status::OK();
  const bool never = errno == EXDEV || errno == EPERM || errno == EMLINK;
  const Status status = PosixError("link", from + " to " + to, errno);
  return never ? Status::NotSupported(status.message()) : status;
}

Status PosixFileSystem::SyncDirectory(const std::string& path) {
  const PosixDescriptor descriptor(
      RetryOnSignal([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!descriptor.valid() && (errno == EMFILE || errno == ENFILE)) {
    return Status::Busy("sync directory " + path + ": " + std::generic_category().message(errno) +
                        "; nothing was tried");
  }
  if (!descriptor.valid()) return PosixError("sync directory", path, errno);
  return Answer(::fsync(descriptor.get()), "sync directory", path);
}

Status PosixFileSystem::Lock(const std::string& directory, LockMode mode, std::uint64_t wait_micros,
                             std::unique_ptr<FileLock>* lock) {
  return LockDirectory(directory, mode, wait_micros, lock);
}

Status PosixFileSystem::FreeSpace(const std::string& path, std::uint64_t* bytes) {
  struct statvfs facts;
  if (RetryOnSignal([&] { return ::statvfs(path.c_str(), &facts); }) != 0) return PosixError("statvfs", path, errno);
  *bytes = static_cast<std::uint64_t>(facts.f_bavail) * facts.f_frsize;
  return Status::OK();
}

std::unique_ptr<ReadQueue> PosixFileSystem::NewReadQueue(std::size_t depth, bool use_io_uring) {
  if (use_io_uring && IoUringWorks()) return NewUringReadQueue(depth);
  return NewThreadReadQueue(depth);
}

}  // namespace cambium
