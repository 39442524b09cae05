// BadSectors: a file system on top of another one, in which one sector of one file cannot be read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "testing/partial_file.h"

namespace cambium::testing {

inline constexpr std::uint64_t kSectorBytes = 4096;

// `base` is a simulated file system. The read queues of `base` know only the files of `base`, so they must not get the
// file with the bad sector.
class BadSectors final : public FileSystem {
 public:
  BadSectors(std::shared_ptr<FileSystem> base, std::string path, std::uint64_t sector)
      : base_(std::move(base)), path_(std::move(path)), sector_(sector) {}

  Status Open(const std::string& path, OpenMode mode, const FileOptions& options, std::unique_ptr<File>* file) override {
    const Status opened = base_->Open(path, mode, options, file);
    if (opened.ok() && path == path_) *file = std::make_unique<BadFile>(std::move(*file), sector_);
    return opened;
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

 private:
  class BadFile final : public PartialFile {
   public:
    BadFile(std::unique_ptr<File> base, std::uint64_t sector)
        : PartialFile(base->path()), base_(std::move(base)), sector_(sector) {}
    Status Read(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const override {
      const std::uint64_t bad = sector_ * kSectorBytes;
      if (offset < bad + kSectorBytes && bad < offset + n) return Status::IOError(path() + ": Input/output error");
      return base_->Read(offset, n, out, read);
    }
    Status GetInfo(FileInfo* info) const override { return base_->GetInfo(info); }
    Status Advise(std::uint64_t, std::uint64_t, AccessHint) const override { return Status::OK(); }

   private:
    const std::unique_ptr<File> base_;
    const std::uint64_t sector_;
  };

  const std::shared_ptr<FileSystem> base_;
  const std::string path_;
  const std::uint64_t sector_;
};

}  // namespace cambium::testing
