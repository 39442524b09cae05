// Which index the databases of a test have: a B+-tree, or with CAMBIUM_INDEX=lsm in the environment an LSM. ctest runs
// what is the same for both with each of them (BOTH_INDEXES in cmake/Cambium.cmake).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "cambium/options.h"

namespace cambium::testing {

[[nodiscard]] inline bool TestsUseLsm() {
  const char* const index = std::getenv("CAMBIUM_INDEX");
  return index != nullptr && std::string_view(index) == "lsm";
}

// Begins a test of what only one index has. It runs in the program's other turn, which ctest makes in every run.
#define CAMBIUM_FOR_THE_TREE_ALONE(why) \
  if (::cambium::testing::TestsUseLsm()) GTEST_SKIP() << "SKIPPED with an LSM, runs with a tree: " why
#define CAMBIUM_FOR_THE_LSM_ALONE(why) \
  if (!::cambium::testing::TestsUseLsm()) GTEST_SKIP() << "SKIPPED with a tree, runs with an LSM: " why

// How files end that a flush of a database makes which holds nothing yet.
[[nodiscard]] inline const char* IndexFileSuffix() { return TestsUseLsm() ? ".run" : ".idx"; }

// With levels so small that little work meets all of them. Both styles of compaction, with and without compression, come
// up by way of page sizes, so that a program stays the same in both modes.
inline void UseIndexOfTest(ColumnFamilyOptions* options) {
  if (!TestsUseLsm()) return;
  options->index_type = IndexKind::kLsm;
  options->level0_file_num_compaction_trigger = 2;
  options->level0_slowdown_writes_trigger = 8;
  options->level0_stop_writes_trigger = 12;
  options->target_file_size_base = 16u << 10;
  options->max_bytes_for_level_base = 32u << 10;
  options->max_bytes_for_level_multiplier = 3;
  options->num_levels = 5;
  options->compaction_style = options->page_size == 1024 ? kCompactionStyleLazyLevel : kCompactionStyleLevel;
  if (options->page_size == 2048) options->compression = CompressionType::kLZ4Compression;
  if (options->page_size == 4096) options->compression = CompressionType::kZSTD;
}

}  // namespace cambium::testing
