// LevelShape: how the levels of an LSM are arranged. Names, meanings and defaults are RocksDB's and db_bench's.
#pragma once

#include <cstdint>

#include "cambium/options.h"

namespace cambium::bench {

struct LevelShape {
  CompactionStyle compaction_style = kCompactionStyleLevel;  // of cambium only
  int level0_file_num_compaction_trigger = 4;
  int level0_slowdown_writes_trigger = 20;
  int level0_stop_writes_trigger = 36;
  std::uint64_t target_file_size_base = 64u << 20;
  int target_file_size_multiplier = 1;
  std::uint64_t max_bytes_for_level_base = 256u << 20;
  double max_bytes_for_level_multiplier = 10;
  int num_levels = 7;
  // For engines that separate values, whose SST files hold only keys and addresses; 0: as above.
  std::uint64_t keys_target_file_size_base = 0;
  std::uint64_t keys_max_bytes_for_level_base = 0;

  // The shape of a store that separates values.
  [[nodiscard]] LevelShape OfKeys() const {
    LevelShape shape = *this;
    if (keys_target_file_size_base != 0) shape.target_file_size_base = keys_target_file_size_base;
    if (keys_max_bytes_for_level_base != 0) shape.max_bytes_for_level_base = keys_max_bytes_for_level_base;
    return shape;
  }
};

}  // namespace cambium::bench
