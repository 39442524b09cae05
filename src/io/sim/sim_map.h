// SimMappedRegion: a mapped range of a simulated file, as a copy that later writes to the file show up in.
#pragma once

#include <string>

#include "cambium/file_system.h"
#include "io/sim/sim_inode.h"

namespace cambium {

class SimFileSystem;

// Made and changed under the file system's lock; read without it, as a mapping is: what is being written must not be
// read. Keeps an unlinked file alive.
class SimMappedRegion final : public MappedRegion {
 public:
  // The range may reach behind the end of the file, as with mmap; it shows zeros there, and CopyOut an error.
  SimMappedRegion(SimFileSystem* file_system, SimInodeId inode, std::string path, std::uint64_t offset,
                  std::size_t length);
  ~SimMappedRegion() override;
  SimMappedRegion(const SimMappedRegion&) = delete;
  SimMappedRegion& operator=(const SimMappedRegion&) = delete;

  [[nodiscard]] const char* data() const override { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const override { return bytes_.size(); }
  Status CopyOut(std::size_t offset, std::size_t n, char* out) const override;

  [[nodiscard]] SimInodeId inode() const { return inode_; }
  // [offset, offset + length) of the file has changed.
  void Refresh(const SimContent& content, std::uint64_t offset, std::uint64_t length);

 private:
  SimFileSystem* const file_system_;
  const SimInodeId inode_;
  const std::string path_;
  const std::uint64_t offset_;
  std::string bytes_;
};

}  // namespace cambium
