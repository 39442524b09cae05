// BadSectors: a file system on top of another one, in which one sector of one file cannot be read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "testing/files/forwarding_file_system.h"
#include "testing/files/partial_file.h"

namespace cambium::testing {

inline constexpr std::uint64_t kSectorBytes = 4096;

// `base` is a simulated file system. The read queues of `base` know only the files of `base`, so they must not get the
// file with the bad sector.
class BadSectors final : public ForwardingFileSystem {
 public:
  BadSectors(std::shared_ptr<FileSystem> base, std::string path, std::uint64_t sector)
      : ForwardingFileSystem(std::move(base)), path_(std::move(path)), sector_(sector) {}

  Status Open(const std::string& path, OpenMode mode, const FileOptions& options,
              std::unique_ptr<File>* file) override {
    const Status opened = base().Open(path, mode, options, file);
    if (opened.ok() && path == path_) *file = std::make_unique<BadFile>(std::move(*file), sector_);
    return opened;
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

  const std::string path_;
  const std::uint64_t sector_;
};

}  // namespace cambium::testing
