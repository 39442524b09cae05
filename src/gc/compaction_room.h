// The space that writes leave for compactions on a nearly full disk, if the index of a family is not small. Pure
// functions of numbers; SpaceKeeper measures, and DiskKeeper lets writes leave the space.
#pragma once

#include <cstdint>

#include "index/index.h"

namespace cambium {

// The default size of a memtable. A step of a large LSM may take more, because it takes all of the upper levels.
inline constexpr std::uint64_t kCompactionRoomMost = 64u << 20;

// The space that compactions of a family need: `of_step` until a step frees as much as it has written, `waiting`
// between the steps.
struct CompactionRoom {
  std::uint64_t of_step = 0;
  std::uint64_t waiting = 0;
};

// Returns the space that compactions need. In an LSM, a step takes everything above the last level and one file of the
// last level. In a tree, a step of a sweep takes its own size. Until the step begins, runs and dead pages wait. Dead
// pages may take a tenth of the tree: with that many, copying the live pages of their files frees more than it takes.
[[nodiscard]] CompactionRoom RoomForCompactions(const LayersShape& shape);

struct SharedCompactionRoom {
  std::uint64_t bytes = 0;    // at most kCompactionRoomMost
  std::uint64_t at_once = 1;  // compactions that may run at once and share the space
};

// Whether the compactions of a family with these bytes of values in the log, and in its index, need such space. If nearly
// all bytes are in the log, log GC frees space, and the reserve has the room to rewrite the whole index.
[[nodiscard]] bool NeedsRoomOfItsOwn(std::uint64_t value_bytes, std::uint64_t index_bytes);

// Sums up the rooms of all families. `waiting` adds up. Each job runs a step of one family at a time, so the largest
// `of_step` counts once for each job. Allocates nothing, because the sum is made under the commit lock.
class SumOfRooms {
 public:
  void Add(const CompactionRoom& room);
  [[nodiscard]] SharedCompactionRoom For(std::uint64_t jobs) const;

 private:
  std::uint64_t largest_ = 0;
  std::uint64_t waiting_ = 0;
  std::uint64_t count_ = 0;  // of families whose compactions need space
};

}  // namespace cambium
