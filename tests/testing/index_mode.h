// Which index the databases of a test have: a B+-tree, or an LSM if the environment has CAMBIUM_INDEX=lsm. ctest runs
// tests that apply to both with each of them (BOTH_INDEXES in cmake/Cambium.cmake).
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

// Begins a test that applies to one index only. It is skipped in the run with the other index; ctest always makes both.
#define CAMBIUM_TREE_ONLY(why) \
  if (::cambium::testing::TestsUseLsm()) GTEST_SKIP() << "SKIPPED with an LSM, runs with a tree: " why
#define CAMBIUM_FOR_THE_LSM_ALONE(why) \
  if (!::cambium::testing::TestsUseLsm()) GTEST_SKIP() << "SKIPPED with a tree, runs with an LSM: " why

// Returns the suffix of the files that the first flush of an empty database makes.
[[nodiscard]] inline const char* IndexFileSuffix() { return TestsUseLsm() ? ".run" : ".idx"; }

// Sets levels so small that little work reaches all of them. The page size decides the compaction style and
// compression: if they were drawn at random, a seed would give other programs with an LSM than with a tree.
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
