// AmpleFileSystem: a file system whose calls get all memory that they ask for, even within a ScarceMemory.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cambium/file_system.h"
#include "testing/scarce_memory.h"

namespace cambium::testing {

class AmpleFile final : public File {
 public:
  explicit AmpleFile(std::unique_ptr<File> base) : base_(std::move(base)) {}
  ~AmpleFile() override {
    const AmpleMemory ample;
    base_.reset();
  }
  AmpleFile(const AmpleFile&) = delete;
  AmpleFile& operator=(const AmpleFile&) = delete;

  Status Read(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const override {
    const AmpleMemory ample;
    return base_->Read(offset, n, out, read);
  }
  Status ReadVectored(std::uint64_t offset, std::span<const std::span<char>> out, std::size_t* read) const override {
    const AmpleMemory ample;
    return base_->ReadVectored(offset, out, read);
  }
  Status Write(std::uint64_t offset, Slice data) override {
    const AmpleMemory ample;
    return base_->Write(offset, data);
  }
  Status WriteVectored(std::uint64_t offset, std::span<const Slice> data) override {
    const AmpleMemory ample;
    return base_->WriteVectored(offset, data);
  }
  Status SyncData() override {
    const AmpleMemory ample;
    return base_->SyncData();
  }
  Status Sync() override {
    const AmpleMemory ample;
    return base_->Sync();
  }
  Status Truncate(std::uint64_t size) override {
    const AmpleMemory ample;
    return base_->Truncate(size);
  }
  Status Allocate(std::uint64_t offset, std::uint64_t length, bool grow) override {
    const AmpleMemory ample;
    return base_->Allocate(offset, length, grow);
  }
  [[nodiscard]] bool CanGrowAhead() const override { return base_->CanGrowAhead(); }
  Status PunchHole(std::uint64_t offset, std::uint64_t length) override {
    const AmpleMemory ample;
    return base_->PunchHole(offset, length);
  }
  Status GetInfo(FileInfo* info) const override {
    const AmpleMemory ample;
    return base_->GetInfo(info);
  }
  Status Map(std::uint64_t offset, std::size_t length, std::unique_ptr<MappedRegion>* region) const override {
    const AmpleMemory ample;
    return base_->Map(offset, length, region);
  }
  Status Residency(std::uint64_t offset, std::uint64_t length, std::uint64_t* resident_bytes) const override {
    const AmpleMemory ample;
    return base_->Residency(offset, length, resident_bytes);
  }
  Status Advise(std::uint64_t offset, std::uint64_t length, AccessHint hint) const override {
    const AmpleMemory ample;
    return base_->Advise(offset, length, hint);
  }
  [[nodiscard]] bool IsDirect() const override { return base_->IsDirect(); }
  [[nodiscard]] const std::string& path() const override { return base_->path(); }

 private:
  std::unique_ptr<File> base_;
};

class AmpleFileSystem final : public FileSystem {
 public:
  explicit AmpleFileSystem(std::shared_ptr<FileSystem> base) : base_(std::move(base)) {}

  Status Open(const std::string& path, OpenMode mode, const FileOptions& options,
              std::unique_ptr<File>* file) override {
    const AmpleMemory ample;
    Status opened = base_->Open(path, mode, options, file);
    if (opened.ok()) *file = std::make_unique<AmpleFile>(std::move(*file));
    return opened;
  }
  Status GetInfo(const std::string& path, FileInfo* info) override {
    const AmpleMemory ample;
    return base_->GetInfo(path, info);
  }
  Status List(const std::string& directory, std::vector<std::string>* names) override {
    const AmpleMemory ample;
    return base_->List(directory, names);
  }
  Status CreateDirectory(const std::string& path) override {
    const AmpleMemory ample;
    return base_->CreateDirectory(path);
  }
  Status RemoveDirectory(const std::string& path) override {
    const AmpleMemory ample;
    return base_->RemoveDirectory(path);
  }
  Status Unlink(const std::string& path) override {
    const AmpleMemory ample;
    return base_->Unlink(path);
  }
  Status Rename(const std::string& from, const std::string& to) override {
    const AmpleMemory ample;
    return base_->Rename(from, to);
  }
  Status Link(const std::string& from, const std::string& to) override {
    const AmpleMemory ample;
    return base_->Link(from, to);
  }
  Status SyncDirectory(const std::string& path) override {
    const AmpleMemory ample;
    return base_->SyncDirectory(path);
  }
  Status Lock(const std::string& directory, LockMode mode, std::uint64_t wait_micros,
              std::unique_ptr<FileLock>* lock) override {
    const AmpleMemory ample;
    return base_->Lock(directory, mode, wait_micros, lock);
  }
  Status FreeSpace(const std::string& path, std::uint64_t* bytes) override {
    const AmpleMemory ample;
    return base_->FreeSpace(path, bytes);
  }
  // The queue calls Read of the files, which get all memory.
  std::unique_ptr<ReadQueue> NewReadQueue(std::size_t depth, bool use_io_uring) override {
    return base_->NewReadQueue(depth, use_io_uring);
  }

 private:
  const std::shared_ptr<FileSystem> base_;
};

}  // namespace cambium::testing
