// PartialFile: a File whose calls all fail, as a base for test files that implement only some.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "cambium/file_system.h"

namespace cambium::testing {

// A derived class overrides the calls that it expects. All others return NotSupported, so a test notices them.
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
  [[nodiscard]] Status Unexpected() const { return Status::NotSupported(path_ + ": unexpected call"); }

  const std::string path_;
};

}  // namespace cambium::testing
