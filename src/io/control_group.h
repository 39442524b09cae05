// Control groups, as the kernel lists them in /proc/self/mountinfo and /proc/self/cgroup. Text only: nothing here reads
// a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cambium {

// With version 1, each controller may have a hierarchy of its own; version 2 has one hierarchy for all.
enum class ControlGroupVersion : unsigned char { kV1, kV2 };

// A group in a mounted hierarchy.
struct ControlGroup {
  std::string mount_point;
  std::string below;  // the group's path below the mount point: "" for the root of the mount, else "/a/b"
};

// Why the group of this process was not found.
enum class ControlGroupLack : unsigned char { kNone, kNotMounted, kNotShown };

// Finds the group of this process in the hierarchy that has the memory controller, given the text of the two files.
// False if there is none: *lack says why; with kNotShown, group->mount_point is that of the first mount.
[[nodiscard]] bool FindOwnMemoryGroup(std::string_view mountinfo, std::string_view cgroup, ControlGroupVersion version,
                                      ControlGroup* group, ControlGroupLack* lack);
// Sets *below to the path of the parent group; false if it is the root of the mount.
bool GoToParentGroup(std::string* below);

// Helpers for lists such as "cpu,memory".
[[nodiscard]] std::vector<std::string> SplitWords(std::string_view text, char separator);
[[nodiscard]] bool HasWord(const std::vector<std::string>& words, std::string_view word);

}  // namespace cambium
