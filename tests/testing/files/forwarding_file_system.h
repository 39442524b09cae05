// ForwardingFileSystem: a FileSystem that passes its calls to another one, as a base for test file systems that change
// some of them. Functions for which FileSystem has a default are not forwarded: they run the default, which calls the
// forwarded functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cambium/file_system.h"

namespace cambium::testing {

class ForwardingFileSystem : public FileSystem {
 public:
  explicit ForwardingFileSystem(std::shared_ptr<FileSystem> base) : base_(std::move(base)) {}

  Status Open(const std::string& path, OpenMode mode, const FileOptions& options,
              std::unique_ptr<File>* file) override {
    return base_->Open(path, mode, options, file);
  }
  Status GetInfo(const std::string& path, FileInfo* info) override { return base_->GetInfo(path, info); }
  Status List(const std::string& path, std::vector<std::string>* names) override { return base_->List(path, names); }
  Status CreateDirectory(const std::string& path) override { return base_->CreateDirectory(path); }
  Status RemoveDirectory(const std::string& path) override { return base_->RemoveDirectory(path); }
  Status Unlink(const std::string& path) override { return base_->Unlink(path); }
  Status Rename(const std::string& from, const std::string& to) override { return base_->Rename(from, to); }
  Status Link(const std::string& from, const std::string& to) override { return base_->Link(from, to); }
  Status SyncDirectory(const std::string& path) override { return base_->SyncDirectory(path); }
  Status Lock(const std::string& path, LockMode mode, std::uint64_t wait, std::unique_ptr<FileLock>* lock) override {
    return base_->Lock(path, mode, wait, lock);
  }
  Status FreeSpace(const std::string& path, std::uint64_t* bytes) override { return base_->FreeSpace(path, bytes); }
  std::unique_ptr<ReadQueue> NewReadQueue(std::size_t depth, bool use_io_uring) override {
    return base_->NewReadQueue(depth, use_io_uring);
  }

 protected:
  [[nodiscard]] FileSystem& base() { return *base_; }

 private:
  const std::shared_ptr<FileSystem> base_;
};

}  // namespace cambium::testing
