// MemoryGroup: a control group for processes whose memory, page cache included, is to be limited.
//
// A page of a file is charged to the group that read it first, and stays so while it is cached. So a group limits what
// is read only of files that were not in the cache before.
#pragma once

#include <cstdint>
#include <string>

#include "cambium/status.h"

namespace cambium::bench {

// Where this process may make groups that limit memory.
struct MemoryGroupPlace {
  enum class Version : unsigned char { kV1, kV2 };
  Version version = Version::kV1;
  std::string directory;  // of the group above
};

// Asks proc/self/mountinfo and proc/self/cgroup below `root`, and the directories that they name. With version 1 the
// place is the group of this process; with version 2 the nearest one, upwards from it, that hands the memory controller
// down: a group with processes in it cannot. NotSupported, with the reasons, if none can be written.
Status FindMemoryGroupPlace(const std::string& root, MemoryGroupPlace* place);

// Moves no one and changes nothing beside the group itself.
class MemoryGroup {
 public:
  MemoryGroup() = default;
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;
  // Removes the group, which must be empty. Says so on stderr if that fails.
  ~MemoryGroup();

  // Once. Where there is swap, the group gets none.
  Status Make(const MemoryGroupPlace& place, const std::string& name, std::uint64_t bytes_max);
  // Puts the calling process in; it stays until it ends.
  [[nodiscard]] Status Enter() const;
  [[nodiscard]] const std::string& directory() const { return directory_; }

 private:
  std::string directory_;  // empty: there is none
};

}  // namespace cambium::bench
