// MemoryFile: an in-memory File whose reads a test can count, block and fail.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "testing/files/partial_file.h"

namespace cambium::testing {

// Several threads may read at the same time, but not while another one writes.
class MemoryFile final : public PartialFile {
 public:
  explicit MemoryFile(std::string path, std::string bytes = {})
      : PartialFile(std::move(path)), contents(std::move(bytes)) {}

  Status Read(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const override {
    reads.fetch_add(1);
    if (on_read) on_read();
    *read = 0;
    if (fail_reads.load()) return Status::IOError(path() + ": injected read error");
    if (offset >= contents.size()) return Status::OK();
    *read = contents.copy(out, n, offset);
    return Status::OK();
  }
  Status Write(std::uint64_t offset, Slice data) override {
    ++writes;
    largest_write = std::max(largest_write, data.size());
    if (writes_before_failure == 0) return Status::NoSpace(path() + ": injected write error");
    if (writes_before_failure > 0) --writes_before_failure;
    if (contents.size() < offset + data.size()) contents.resize(offset + data.size());
    contents.replace(offset, data.size(), data.data(), data.size());
    return Status::OK();
  }
  Status GetInfo(FileInfo* info) const override {
    *info = {};
    info->size = contents.size();
    return Status::OK();
  }
  bool IsDirect() const override { return direct; }
  Status Map(std::uint64_t offset, std::size_t length, std::unique_ptr<MappedRegion>* region) const override {
    if (!can_map || offset != 0) return Status::NotSupported(path() + ": cannot be mapped");
    *region = std::make_unique<MemoryMap>(this, length);
    return Status::OK();
  }
  Status Residency(std::uint64_t, std::uint64_t length, std::uint64_t* resident_bytes) const override {
    *resident_bytes = length;
    return Status::OK();
  }

  std::string contents;
  mutable std::atomic<int> reads{0};
  std::atomic<bool> fail_reads{false};
  std::function<void()> on_read;   // called by each read, in its thread
  bool direct = false;             // what IsDirect returns; reads work at any offset anyway
  int writes = 0;
  int writes_before_failure = -1;  // -1: never
  std::size_t largest_write = 0;
  bool can_map = false;
  mutable std::atomic<int> copies{0};    // out of mappings
  std::atomic<bool> fail_copies{false};  // copies out of mappings fail, reads do not

 private:
  // A mapping from the file's first byte. Must not outlive the file.
  class MemoryMap final : public MappedRegion {
   public:
    MemoryMap(const MemoryFile* file, std::size_t length) : file_(file), length_(length) {}
    const char* data() const override { return file_->contents.data(); }
    std::size_t size() const override { return length_; }
    Status CopyOut(std::size_t offset, std::size_t n, char* out) const override {
      file_->copies.fetch_add(1);
      const std::size_t copied = offset < file_->contents.size() ? file_->contents.copy(out, n, offset) : 0;
      if (copied == n && !file_->fail_copies.load()) return Status::OK();
      return Status::IOError(file_->path() + ": a mapped page cannot be read");
    }

   private:
    const MemoryFile* const file_;
    const std::size_t length_;
  };
};

}  // namespace cambium::testing
