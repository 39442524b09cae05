// PooledFileSystem: the file system that a database uses. Its files share the descriptors of a FilePool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cambium/file_system.h"
#include "io/file_pool.h"

namespace cambium {

// Calls that open no file go to the base as they are.
class PooledFileSystem final : public FileSystem {
 public:
  PooledFileSystem(std::shared_ptr<FileSystem> base, std::size_t max_open)
      : base_(std::move(base)), pool_(std::make_shared<FilePool>(base_, max_open)) {}

  Status Open(const std::string& path, OpenMode mode, const FileOptions& options, std::unique_ptr<File>* file) override;
  Status GetInfo(const std::string& path, FileInfo* info) override { return base_->GetInfo(path, info); }
  Status List(const std::string& directory, std::vector<std::string>* names) override {
    return base_->List(directory, names);
  }
  Status CreateDirectory(const std::string& path) override { return base_->CreateDirectory(path); }
  Status RemoveDirectory(const std::string& path) override { return base_->RemoveDirectory(path); }
  Status Unlink(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status RenameToNew(const std::string& from, const std::string& to) override;
  Status Link(const std::string& from, const std::string& to) override { return base_->Link(from, to); }
  Status SyncDirectory(const std::string& path) override { return base_->SyncDirectory(path); }
  Status OpenDirectory(const std::string& directory, std::shared_ptr<FileSystem>* opened) override {
    return base_->OpenDirectory(directory, opened);
  }
  Status Lock(const std::string& directory, LockMode mode, std::uint64_t wait_micros,
              std::unique_ptr<FileLock>* lock) override {
    return base_->Lock(directory, mode, wait_micros, lock);
  }
  Status FreeSpace(const std::string& path, std::uint64_t* bytes) override { return base_->FreeSpace(path, bytes); }
  // `files` may be of this file system or of its base.
  void SyncTogether(std::span<File* const> files, std::span<Status> results) override {
    base_->SyncTogether(files, results);
  }
  std::unique_ptr<ReadQueue> NewReadQueue(std::size_t depth, bool use_io_uring) override;

  [[nodiscard]] std::size_t open_count() const { return pool_->open_count(); }

 private:
  const std::shared_ptr<FileSystem> base_;
  const std::shared_ptr<FilePool> pool_;
};

// Returns a file system whose files share descriptors as DBOptions::max_open_files says.
[[nodiscard]] std::shared_ptr<FileSystem> PoolFiles(const std::shared_ptr<FileSystem>& base, int max_open_files);

}  // namespace cambium
