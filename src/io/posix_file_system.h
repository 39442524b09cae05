// PosixFileSystem: the operating system's files, as FileSystem::Default() hands them out.
#pragma once

#include "cambium/file_system.h"

namespace cambium {

// Files and directories are made with modes 0644 and 0755, less the umask; every descriptor is O_CLOEXEC. Symbolic links
// are followed.
class PosixFileSystem final : public FileSystem {
 public:
  Status Open(const std::string& path, OpenMode mode, const FileOptions& options, std::unique_ptr<File>* file) override;
  Status GetInfo(const std::string& path, FileInfo* info) override;
  Status List(const std::string& directory, std::vector<std::string>* names) override;  // in byte order
  Status CreateDirectory(const std::string& path) override;
  Status RemoveDirectory(const std::string& path) override;
  Status Unlink(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status RenameToNew(const std::string& from, const std::string& to) override;
  // NotSupported across file systems, where there are no hard links, and when the inode has no room for another.
  Status Link(const std::string& from, const std::string& to) override;
  Status SyncDirectory(const std::string& path) override;
  Status Lock(const std::string& directory, LockMode mode, std::uint64_t wait_micros,
              std::unique_ptr<FileLock>* lock) override;
  // What an ordinary user may fill, also for root: the blocks that are kept back for root are not to be planned with.
  Status FreeSpace(const std::string& path, std::uint64_t* bytes) override;
  std::unique_ptr<ReadQueue> NewReadQueue(std::size_t depth, bool use_io_uring) override;
};

}  // namespace cambium
