// PosixFileSystem: the operating system's files; FileSystem::Default() returns it.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "cambium/file_system.h"
#include "io/posix_place.h"

namespace cambium {

// Creates files with mode 0644, LOCK with 0600 and directories with 0700, minus the umask. Every descriptor is
// O_CLOEXEC. Follows symbolic links.
class PosixFileSystem final : public FileSystem {
 public:
  using Directories = std::vector<std::shared_ptr<const PosixDirectory>>;
  // Looks paths below `opened` up from these directories.
  explicit PosixFileSystem(Directories opened = {}) : opened_(std::move(opened)) {}

  Status Open(const std::string& path, OpenMode mode, const FileOptions& options, std::unique_ptr<File>* file) override;
  Status GetInfo(const std::string& path, FileInfo* info) override;
  Status List(const std::string& directory, std::vector<std::string>* names) override;  // in byte order
  Status CreateDirectory(const std::string& path) override;
  Status RemoveDirectory(const std::string& path) override;
  Status Unlink(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status RenameToNew(const std::string& from, const std::string& to) override;
  // Returns NotSupported across file systems, without support for hard links, and if the inode cannot take another
  // link.
  Status Link(const std::string& from, const std::string& to) override;
  Status SyncDirectory(const std::string& path) override;
  Status OpenDirectory(const std::string& directory, std::shared_ptr<FileSystem>* opened) override;
  Status Lock(const std::string& directory, LockMode mode, std::uint64_t wait_micros,
              std::unique_ptr<FileLock>* lock) override;
  // Returns the space that an ordinary user may fill, even if this process belongs to root: plans must not count on
  // blocks that are reserved for root.
  Status FreeSpace(const std::string& path, std::uint64_t* bytes) override;
  void SyncTogether(std::span<File* const> files, std::span<Status> results) override;
  std::unique_ptr<ReadQueue> NewReadQueue(std::size_t depth, bool use_io_uring) override;

 private:
  [[nodiscard]] PosixPlace PlaceOf(const std::string& path) const;
  // The place of a name to create, rename or remove.
  [[nodiscard]] PosixPlace PlaceOfName(const std::string& path) const;
  [[nodiscard]] PosixPlace Find(const std::string& path, bool is_name) const;

  const Directories opened_;
};

}  // namespace cambium
