// HeapFile: a file in memory. Its memory is touched in advance, so figures include neither system calls nor page
// faults.
// HeapFiles: the files that a sweep or compaction creates.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "index/family_files.h"
#include "testing/files/partial_file.h"

namespace cambium::bench {

// Has what the log, runs and index segments need of a file. Several threads may read while none writes.
class HeapFile final : public testing::PartialFile {
 public:
  HeapFile(std::string path, std::size_t capacity) : PartialFile(std::move(path)), bytes_(capacity, '\1') {}

  Status Read(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const override {
    *read = offset >= size_ ? 0 : std::min<std::size_t>(n, size_ - offset);
    if (*read > 0) std::memcpy(out, bytes_.data() + offset, *read);
    return Status::OK();
  }
  Status Write(std::uint64_t offset, Slice data) override {
    if (offset > bytes_.size() || data.size() > bytes_.size() - offset) return Status::NoSpace(path() + " is full");
    std::memcpy(bytes_.data() + offset, data.data(), data.size());
    size_ = std::max<std::size_t>(size_, offset + data.size());
    return Status::OK();
  }
  Status WriteVectored(std::uint64_t offset, std::span<const Slice> data) override {
    for (const Slice piece : data) {
      CAMBIUM_RETURN_IF_ERROR(Write(offset, piece));
      offset += piece.size();
    }
    return Status::OK();
  }
  Status SyncData() override { return Status::OK(); }
  Status Allocate(std::uint64_t, std::uint64_t, bool) override { return Status::OK(); }
  Status GetInfo(FileInfo* info) const override {
    *info = {};
    info->size = size_;
    return Status::OK();
  }

  // Makes the file empty.
  void Clear() { size_ = 0; }

 private:
  std::vector<char> bytes_;
  std::size_t size_ = 0;
};

// Creates files for runs and index segments. Files without other owners are reused. One thread.
class HeapFiles {
 public:
  explicit HeapFiles(std::size_t file_bytes) : file_bytes_(file_bytes) {}

  Result<NewIndexFile> Create() {
    NewIndexFile made;
    made.header.number = next_number_++;
    made.header.file_id[0] = static_cast<unsigned char>(made.header.number);
    const auto idle = std::ranges::find_if(files_, [](const auto& file) { return file.use_count() == 1; });
    if (idle != files_.end()) {
      (*idle)->Clear();
      made.file = *idle;
      return made;
    }
    files_.push_back(std::make_shared<HeapFile>("heap file " + std::to_string(files_.size()), file_bytes_));
    made.file = files_.back();
    return made;
  }
  CreateIndexFile creator() {
    return [this] { return Create(); };
  }

 private:
  const std::size_t file_bytes_;
  std::vector<std::shared_ptr<HeapFile>> files_;
  std::uint64_t next_number_ = 1;
};

}  // namespace cambium::bench
