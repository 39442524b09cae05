// OptimizeForRocksDBCompatibility sets the defaults of the installed RocksDB.
#include <gtest/gtest.h>
#include <rocksdb/options.h>
#include <rocksdb/version.h>

#include "options/options_check.h"
#include "cambium/options.h"

namespace cambium::testing {
namespace {

template <typename E>
int NumberOf(E value) {
  return static_cast<int>(value);
}

TEST(RocksDbDefaultsTest, MatchOptimizeForRocksDBCompatibility) {
  Options ours;
  EXPECT_EQ(ours.OptimizeForRocksDBCompatibility(), &ours);
  EXPECT_TRUE(CheckOptions(ours).ok());
  const ::rocksdb::Options theirs;
#define EXPECT_SAME(field) EXPECT_EQ(ours.field, theirs.field) << #field
  EXPECT_SAME(create_if_missing);
  EXPECT_SAME(create_missing_column_families);
  EXPECT_SAME(error_if_exists);
  EXPECT_EQ(NumberOf(ours.wal_recovery_mode), NumberOf(theirs.wal_recovery_mode));
  EXPECT_SAME(max_total_wal_size);
  EXPECT_SAME(allow_mmap_reads);
  EXPECT_SAME(max_open_files);
  EXPECT_SAME(max_background_jobs);
  EXPECT_SAME(write_buffer_size);
  EXPECT_SAME(max_write_buffer_number);
  EXPECT_SAME(enable_blob_files);
  EXPECT_SAME(min_blob_size);
  EXPECT_EQ(NumberOf(ours.blob_compression_type), NumberOf(theirs.blob_compression_type));
  EXPECT_SAME(blob_file_size);
  EXPECT_SAME(enable_blob_garbage_collection);
  EXPECT_SAME(blob_garbage_collection_age_cutoff);
  EXPECT_SAME(blob_garbage_collection_force_threshold);
  EXPECT_EQ(NumberOf(ours.compaction_style), NumberOf(theirs.compaction_style));
  EXPECT_SAME(level0_file_num_compaction_trigger);
  EXPECT_SAME(level0_slowdown_writes_trigger);
  EXPECT_SAME(level0_stop_writes_trigger);
  EXPECT_SAME(target_file_size_base);
  EXPECT_SAME(target_file_size_multiplier);
  EXPECT_SAME(max_bytes_for_level_base);
  EXPECT_SAME(max_bytes_for_level_multiplier);
  EXPECT_SAME(num_levels);
#undef EXPECT_SAME
#if ROCKSDB_MAJOR >= 11
  EXPECT_EQ(NumberOf(ours.compression), NumberOf(theirs.compression));
#else
  std::printf("SKIPPED compression: RocksDB %d has another default than 11\n", ROCKSDB_MAJOR);
#endif
}

}  // namespace
}  // namespace cambium::testing
