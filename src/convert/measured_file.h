// A MeasuredFile has a length, but is not on a disk. A dry run of a conversion writes to it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "cambium/file_system.h"

namespace cambium {

// It must be written from beginning to end, as index files are. Its writer reads it only until the next file is
// created; then Forget frees the bytes and keeps the length. One thread.
class MeasuredFile final : public File {
 public:
  explicit MeasuredFile(std::string path) : path_(std::move(path)) {}

  void Forget() {
    std::string().swap(bytes_);  // an assignment would keep the memory
    is_forgotten_ = true;
  }
  [[nodiscard]] std::uint64_t length() const { return length_; }

  Status Read(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const override {
    *read = 0;
    if (is_forgotten_) return No();
    if (offset >= length_) return Status::OK();
    *read = std::min<std::size_t>(n, static_cast<std::size_t>(length_ - offset));
    std::memcpy(out, bytes_.data() + offset, *read);
    return Status::OK();
  }
  Status ReadVectored(std::uint64_t, std::span<const std::span<char>>, std::size_t*) const override { return No(); }
  Status Write(std::uint64_t offset, Slice data) override {
    if (is_forgotten_ || offset != length_) return No();
    bytes_.append(data.data(), data.size());
    length_ += data.size();
    return Status::OK();
  }
  Status WriteVectored(std::uint64_t offset, std::span<const Slice> data) override {
    for (const Slice& piece : data) {
      if (Status s = Write(offset, piece); !s.ok()) return s;
      offset += piece.size();
    }
    return Status::OK();
  }
  Status SyncData() override { return Status::OK(); }
  Status Sync() override { return Status::OK(); }
  Status Truncate(std::uint64_t) override { return No(); }
  Status Allocate(std::uint64_t, std::uint64_t, bool) override { return No(); }
  Status PunchHole(std::uint64_t, std::uint64_t) override { return No(); }
  Status GetInfo(FileInfo* info) const override {
    *info = {};
    info->size = length_;
    return Status::OK();
  }
  Status Map(std::uint64_t, std::size_t, std::unique_ptr<MappedRegion>*) const override { return No(); }
  Status Residency(std::uint64_t, std::uint64_t, std::uint64_t*) const override { return No(); }
  Status Advise(std::uint64_t, std::uint64_t, AccessHint) const override { return Status::OK(); }
  [[nodiscard]] const std::string& path() const override { return path_; }

 private:
  [[nodiscard]] Status No() const { return Status::NotSupported(path_ + ": is measured only, for a dry run"); }

  const std::string path_;
  std::string bytes_;
  std::uint64_t length_ = 0;
  bool is_forgotten_ = false;
};

}  // namespace cambium
