#include "io/posix_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "io/posix_descriptor.h"
#include "io/posix_error.h"
#include "io/posix_file.h"
#include "io/posix_lock.h"
#include "io/thread_read_queue.h"
#include "io/thread_syncs.h"
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

PosixPlace PosixFileSystem::PlaceOf(const std::string& path) const { return Find(path, /*is_name=*/false); }
PosixPlace PosixFileSystem::PlaceOfName(const std::string& path) const { return Find(path, /*is_name=*/true); }

PosixPlace PosixFileSystem::Find(const std::string& path, bool is_name) const {
  // A system call would see the path only up to the zero byte, which may be another file. It finds nothing by an empty
  // path.
  static const std::string kNowhere;
  if (path.find('\0') != std::string::npos) return PosixPlace(kNowhere);
  Opened<PosixDirectory> found = FindOpened(opened_, path, is_name);
  return found.directory == nullptr ? PosixPlace(path) : PosixPlace(std::move(found));
}

Status PosixFileSystem::Open(const std::string& path, OpenMode mode, const FileOptions& options,
                             std::unique_ptr<File>* file) {
  return PosixFile::Open(path, PlaceOf(path), mode, options, file);
}

Status PosixFileSystem::GetInfo(const std::string& path, FileInfo* info) {
  const PosixPlace place = PlaceOf(path);
  struct stat facts;
  if (::fstatat(place.directory(), place.name, &facts, 0) != 0) return PosixError("stat", path, errno);
  *info = FileInfoOf(facts);
  return Status::OK();
}

Status PosixFileSystem::List(const std::string& directory, std::vector<std::string>* names) {
  names->clear();
  const PosixPlace place = PlaceOf(directory);
  // The stream moves the offset of its descriptor, so it needs one of its own.
  const int descriptor =
      RetryOnSignal([&] { return ::openat(place.directory(), place.name, O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (descriptor < 0) return PosixError("list", directory, errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(descriptor), &::closedir);
  if (stream == nullptr) {
    const int error = errno;
    ::close(descriptor);
    return PosixError("list", directory, error);
  }
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
  constexpr mode_t kOwnerOnly = 0700;
  const PosixPlace place = PlaceOfName(path);
  if (::mkdirat(place.directory(), place.name, kOwnerOnly) == 0) return Status::OK();
  const int error = errno;
  struct stat facts;
  const bool exists = error == EEXIST && ::fstatat(place.directory(), place.name, &facts, 0) == 0;
  return exists && S_ISDIR(facts.st_mode) ? Status::OK() : PosixError("create directory", path, error);
}

Status PosixFileSystem::RemoveDirectory(const std::string& path) {
  const PosixPlace place = PlaceOfName(path);
  if (const PosixPlace open = PlaceOf(path); open.IsOpened()) {
    struct stat opened;
    struct stat named;
    if (::fstat(open.directory(), &opened) != 0) return PosixError("remove directory", path, errno);
    if (::fstatat(place.directory(), place.name, &named, 0) != 0) return PosixError("remove directory", path, errno);
    if (opened.st_dev != named.st_dev || opened.st_ino != named.st_ino) {
      return Status::IOError("remove directory " + path + ": another directory has this name now");
    }
  }
  return Answer(::unlinkat(place.directory(), place.name, AT_REMOVEDIR), "remove directory", path);
}

Status PosixFileSystem::Unlink(const std::string& path) {
  const PosixPlace place = PlaceOfName(path);
  return Answer(::unlinkat(place.directory(), place.name, 0), "unlink", path);
}

Status PosixFileSystem::Rename(const std::string& from, const std::string& to) {
  const PosixPlace source = PlaceOfName(from);
  const PosixPlace target = PlaceOfName(to);
  return Answer(::renameat(source.directory(), source.name, target.directory(), target.name), "rename",
                from + " to " + to);
}

Status PosixFileSystem::RenameToNew(const std::string& from, const std::string& to) {
  const PosixPlace source = PlaceOfName(from);
  const PosixPlace target = PlaceOfName(to);
  if (::renameat2(source.directory(), source.name, target.directory(), target.name, RENAME_NOREPLACE) == 0) {
    return Status::OK();
  }
  const bool cannot_tell = errno == EINVAL || errno == ENOSYS;  // file systems with plain rename() only
  return cannot_tell ? FileSystem::RenameToNew(from, to) : PosixError("rename", from + " to " + to, errno);
}

Status PosixFileSystem::Link(const std::string& from, const std::string& to) {
  const PosixPlace source = PlaceOf(from);
  const PosixPlace target = PlaceOfName(to);
  if (::linkat(source.directory(), source.name, target.directory(), target.name, AT_SYMLINK_FOLLOW) == 0) {
    return Status::OK();
  }
  const bool never = errno == EXDEV || errno == EPERM || errno == EMLINK;
  const Status status = PosixError("link", from + " to " + to, errno);
  return never ? Status::NotSupported(status.message()) : status;
}

// Uses a new descriptor, even if OpenDirectory already holds one: the kernel reports a failure once per descriptor, and
// two threads can sync at once. If none is free, uses the one that OpenDirectory holds.
Status PosixFileSystem::SyncDirectory(const std::string& path) {
  const PosixPlace place = PlaceOf(path);
  const PosixDescriptor descriptor(
      RetryOnSignal([&] { return ::openat(place.directory(), place.name, O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!descriptor.valid() && (errno == EMFILE || errno == ENFILE)) {
    if (place.IsOpened()) return place.opened->Sync();
    return Status::Busy("sync directory " + path + ": " + std::generic_category().message(errno) +
                        "; nothing was tried");
  }
  if (!descriptor.valid()) return PosixError("sync directory", path, errno);
  return Answer(::fsync(descriptor.get()), "sync directory", path);
}

Status PosixFileSystem::OpenDirectory(const std::string& directory, std::shared_ptr<FileSystem>* opened) {
  const PosixPlace place = PlaceOf(directory);
  PosixDescriptor descriptor(
      RetryOnSignal([&] { return ::openat(place.directory(), place.name, O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!descriptor.valid()) return PosixError("open directory", directory, errno);
  Directories all = opened_;
  all.push_back(std::make_shared<const PosixDirectory>(directory, std::move(descriptor)));
  *opened = std::make_shared<PosixFileSystem>(std::move(all));
  return Status::OK();
}

Status PosixFileSystem::Lock(const std::string& directory, LockMode mode, std::uint64_t wait_micros,
                             std::unique_ptr<FileLock>* lock) {
  return LockDirectory(directory, PlaceOf(directory), mode, wait_micros, lock);
}

Status PosixFileSystem::FreeSpace(const std::string& path, std::uint64_t* bytes) {
  const PosixPlace place = PlaceOf(path);
  PosixDescriptor found;
  if (place.opened != nullptr && !place.IsOpened()) {
    found = PosixDescriptor(RetryOnSignal([&] { return ::openat(place.directory(), place.name, O_PATH | O_CLOEXEC); }));
    if (!found.valid()) return PosixError("statvfs", path, errno);
  }
  const auto ask = [&](struct statvfs* facts) {
    if (place.opened == nullptr) return ::statvfs(place.name, facts);
    return ::fstatvfs(found.valid() ? found.get() : place.directory(), facts);
  };
  struct statvfs facts;
  if (RetryOnSignal([&] { return ask(&facts); }) != 0) return PosixError("statvfs", path, errno);
  *bytes = static_cast<std::uint64_t>(facts.f_bavail) * facts.f_frsize;
  return Status::OK();
}

void PosixFileSystem::SyncTogether(std::span<File* const> files, std::span<Status> results) {
  SyncInThreads(files, results);
}

std::unique_ptr<ReadQueue> PosixFileSystem::NewReadQueue(std::size_t depth, bool use_io_uring) {
  if (use_io_uring && IoUringWorks()) return NewUringReadQueue(depth);
  return NewThreadReadQueue(depth);
}

}  // namespace cambium
