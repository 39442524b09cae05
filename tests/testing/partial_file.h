// PartialFile: a File that can do nothing, for stand-ins that need a few of its functions.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "cambium/file_system.h"

namespace cambium::testing {

// Whoever derives from it overrides what is expected to be called. Everything else is NotSupported, so that a call that
// nobody expected is seen.
class PartialFile : public File {
 public:
  explicit PartialFile(std::string path) : path_(std::move(path)) {}

  Status Read(std::uint64_t, std::size_t, char*, std::size_t*) const override { return Unexpected(); }
  Status ReadVectored(std::uint64_t, std::span<const std::span<char>>, std::size_t*) const override {
    return Unexpected();
  }
  Status Write(std::uint64_t, Slice) override { return Unexpected(); }
  Status WriteVectored(std::uint64_t, std::span<const Slice>) override { return Unexpected(); }
  Status SyncData() override { return Unexpected(); }
  Status Sync() override { return Unexpected(); }
  Status Truncate(std::uint64_t) override { return Unexpected(); }
  Status Allocate(std::uint64_t, std::uint64_t, bool) override { return Unexpected(); }
  Status PunchHole(std::uint64_t, std::uint64_t) override { return Unexpected(); }
  Status GetInfo(FileInfo*) const override { return Unexpected(); }
  Status Map(std::uint64_t, std::size_t, std::unique_ptr<MappedRegion>*) const override { return Unexpected(); }
  Status Residency(std::uint64_t, std::uint64_t, std::uint64_t*) const override { return Unexpected(); }
  Status Advise(std::uint64_t, std::uint64_t, AccessHint) const override { return Unexpected(); }
  [[nodiscard]] const std::string& path() const override { return path_; }

 private:
  [[nodiscard]] Status Unexpected() const { return Status::NotSupported(path_ + ": a call that nobody expected"); }

  const std::string path_;
};

}  // namespace cambium::testing
