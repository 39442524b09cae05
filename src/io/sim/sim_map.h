// SimMappedRegion: a mapped range of a simulated file. It is a copy, and later writes to the file change it too.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include "cambium/file_system.h"
#include "io/sim/sim_inode.h"

namespace cambium {

class SimFileSystem;

// Created and changed under the file system's lock, but read without it, like a real mapping: a caller must not read
// bytes that are being written. Keeps an unlinked file alive.
class SimMappedRegion final : public MappedRegion {
 public:
  // The range may reach beyond the end of the file, as with mmap. data() shows zeros there; CopyOut returns an error.
  SimMappedRegion(SimFileSystem* file_system, SimInodeId inode, std::string path, std::uint64_t offset,
                  std::size_t length);
  ~SimMappedRegion() override;
  SimMappedRegion(const SimMappedRegion&) = delete;
  SimMappedRegion& operator=(const SimMappedRegion&) = delete;

  [[nodiscard]] const char* data() const override { return bytes_.get(); }
  [[nodiscard]] std::size_t size() const override { return size_; }
  Status CopyOut(std::size_t offset, std::size_t n, char* out) const override;

  [[nodiscard]] SimInodeId inode() const { return inode_; }
  // Updates the copy after a change of [offset, offset + length) of the file.
  void Refresh(const SimContent& content, std::uint64_t offset, std::uint64_t length);

 private:
  SimFileSystem* const file_system_;
  const SimInodeId inode_;
  const std::string path_;
  const std::uint64_t offset_;
  const std::size_t size_;
  // The bytes come from calloc: its pages of zeros take no memory and no time until they are written. A mapping is
  // often much longer than its file.
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };
  const std::unique_ptr<char, Free> bytes_;
};

}  // namespace cambium
