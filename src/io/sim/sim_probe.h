// SimProbe: questions about a SimFileSystem that a program could not ask. They are not counted as calls, and no fault
// or hook sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cambium/status.h"
#include "io/sim/sim_op.h"

namespace cambium {

class SimFileSystem;

// Any thread. The file system outlives it.
class SimProbe {
 public:
  explicit SimProbe(const SimFileSystem* fs) : fs_(*fs) {}

  // ---- What a power cut leaves ----

  [[nodiscard]] bool IsDataDurable(const std::string& path, std::uint64_t size) const;  // bytes [0, size)
  [[nodiscard]] bool IsNameDurable(const std::string& path) const;  // including the directories above it
  // True if both are durable: no cut can lose or change the first `size` bytes or the name.
  [[nodiscard]] bool IsFullyDurable(const std::string& path, std::uint64_t size) const;
  [[nodiscard]] bool HasUnsyncedData(const std::string& path) const;
  // True if all unsynced changes are holes, or there are none: the bytes outside of the holes are durable.
  [[nodiscard]] bool HasOnlyHolesUnsynced(const std::string& path) const;
  [[nodiscard]] std::uint64_t DurableSize(const std::string& path) const;

  // ---- What is there ----

  [[nodiscard]] SimInodeId InodeOf(const std::string& path) const;  // 0: none
  [[nodiscard]] std::uint64_t allocated_bytes() const;
  [[nodiscard]] std::size_t open_files() const;
  struct NamedFile {
    std::string path;
    std::uint64_t size;
  };
  [[nodiscard]] std::vector<NamedFile> ListFiles() const;  // all regular files, by path
  // The bytes that a read would see. PathNotFound if there is no such file.
  Status ReadContents(const std::string& path, std::string* bytes) const;

 private:
  const SimFileSystem& fs_;
};

}  // namespace cambium
