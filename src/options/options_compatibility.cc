// RocksDB's defaults, taken from its public headers: include/rocksdb/options.h and advanced_options.h.
#include "cambium/options.h"

namespace cambium {

Options* Options::OptimizeForRocksDBCompatibility() {
  create_if_missing = false;
  create_missing_column_families = false;
  error_if_exists = false;
  wal_recovery_mode = WALRecoveryMode::kPointInTimeRecovery;
  max_total_wal_size = 0;
  db_write_buffer_size = 0;
  max_space_amplification = 0;
  allow_mmap_reads = false;
  max_open_files = -1;
  max_background_jobs = 2;

  write_buffer_size = 64u << 20;
  max_write_buffer_number = 2;
  enable_blob_files = false;
  min_blob_size = 0;
  blob_compression_type = CompressionType::kNoCompression;
  blob_file_size = 256u << 20;
  enable_blob_garbage_collection = false;
  blob_garbage_collection_age_cutoff = 0.25;
  blob_garbage_collection_force_threshold = 1.0;
  compaction_style = CompactionStyle::kCompactionStyleLevel;
  level0_file_num_compaction_trigger = 4;
  level0_slowdown_writes_trigger = 20;
  level0_stop_writes_trigger = 36;
  target_file_size_base = 64u << 20;
  target_file_size_multiplier = 1;
  max_bytes_for_level_base = 256u << 20;
  max_bytes_for_level_multiplier = 10;
  num_levels = 7;
  compression = CompressionType::kLZ4Compression;
  return this;
}

}  // namespace cambium
