// MemoryGroup: a control group that limits the memory of processes, page cache included.
//
// A page of a file is charged to the group that reads it first, for as long as it is cached. So a group limits only the
// reads of files that were not in the cache before.
#pragma once

#include <cstdint>
#include <string>

#include "cambium/status.h"
#include "io/control_group.h"

namespace cambium::bench {

// A group in which this process may create groups that limit memory.
struct MemoryGroupPlace {
  using Version = ControlGroupVersion;
  Version version = Version::kV1;
  std::string directory;  // of the parent group
};

// Finds the place from proc/self/mountinfo and proc/self/cgroup below `root`, and the directories that they name. With
// version 1 the place is the group of this process. With version 2 it is the nearest ancestor that delegates the memory
// controller to its children, because a group that has processes cannot delegate it. NotSupported, with the reasons, if
// no such group is writable.
Status FindMemoryGroupPlace(const std::string& root, MemoryGroupPlace* place);

// Changes nothing but its own group, and moves no process but the one that calls Enter().
class MemoryGroup {
 public:
  MemoryGroup() = default;
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;
  // Removes the group, which must be empty. Reports a failure on stderr.
  ~MemoryGroup();

  // Creates the group, without swap. Called once.
  Status Make(const MemoryGroupPlace& place, const std::string& name, std::uint64_t bytes_max);
  // Moves the calling process into the group until it ends.
  [[nodiscard]] Status Enter() const;
  [[nodiscard]] const std::string& directory() const { return directory_; }

 private:
  std::string directory_;  // empty: not created
};

}  // namespace cambium::bench
