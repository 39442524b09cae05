// CompactionPolicy: the sizes of files and levels that an LSM aims at.
#pragma once

#include <cstdint>
#include <limits>

#include "cambium/options.h"
#include "index/index_room.h"

namespace cambium {

// Names and meanings as in RocksDB. The code that takes the values from a user checks that they are legal.
struct CompactionPolicy {
  CompactionStyle style = kCompactionStyleLevel;
  std::uint64_t level0_file_num_compaction_trigger = 4;
  std::uint64_t target_file_size_base = 64u << 20;
  std::uint64_t target_file_size_multiplier = 1;
  std::uint64_t max_bytes_for_level_base = 256u << 20;
  double max_bytes_for_level_multiplier = 10;
  std::uint32_t num_levels = 7;  // including level 0. Files that are already deeper are left there.
  // The most that level 1 and each level above the last may have, even if the sizes above allow more.
  std::uint64_t upper_level_bytes_max = std::numeric_limits<std::uint64_t>::max();
  // The most that a new file may have.
  std::uint64_t file_bytes_max = std::numeric_limits<std::uint64_t>::max();

  [[nodiscard]] bool is_lazy() const { return style == kCompactionStyleLazyLevel; }
  [[nodiscard]] std::uint64_t TargetFileSize(std::uint32_t level) const;
  // From this size on, the last level becomes the next deeper one.
  [[nodiscard]] double TargetLevelSize(std::uint32_t level) const;
  // From this size on, a level above the last one is due for compaction.
  [[nodiscard]] double UpperLevelSize(std::uint32_t level) const;

  // Returns this policy for a database whose files have this room beyond the live bytes. The room must be enough for
  // the entries of the upper levels, which may hide older ones, and for the new files of a step, until the old files
  // can be deleted. If a level 1 of full size is too large for that, the upper levels are parts of the room and have
  // tiers, in either style. A step of level 0 then writes as much as its runs have, and all other steps are slices.
  // With fewer than three levels nothing changes: a step of level 0 always writes the last level.
  [[nodiscard]] CompactionPolicy Within(IndexRoom room) const;
};

// An output file ends before it overlaps too many bytes of the level that it will be merged with next: more than this
// many target file sizes.
inline constexpr std::uint64_t kGrandparentFiles = 10;

}  // namespace cambium
