// CompactionPolicy: the sizes of files and levels that an LSM aims at.
#pragma once

#include <cstdint>

#include "cambium/options.h"

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

  [[nodiscard]] bool is_lazy() const { return style == kCompactionStyleLazyLevel; }
  [[nodiscard]] std::uint64_t TargetFileSize(std::uint32_t level) const;
  [[nodiscard]] double TargetLevelSize(std::uint32_t level) const;
};

// An output file ends before it overlaps too many bytes of the level that it will be merged with next: more than this
// many target file sizes.
inline constexpr std::uint64_t kGrandparentFiles = 10;

}  // namespace cambium
