// The options of RocksDB that have no effect here: hints. An Open tells in LOG which of them the program has set to
// something else than RocksDB's default. For each struct a list of FIELD(type, name, default of RocksDB 11.8.1).
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <string>

#define CAMBIUM_ROCKSDB_DB_HINTS(FIELD)                                      \
  FIELD(bool, paranoid_checks, true)                                         \
  FIELD(bool, flush_verify_memtable_count, true)                             \
  FIELD(bool, compaction_verify_record_count, true)                          \
  FIELD(bool, track_and_verify_wals_in_manifest, false)                      \
  FIELD(bool, track_and_verify_wals, false)                                  \
  FIELD(bool, verify_sst_unique_id_in_manifest, true)                        \
  FIELD(InfoLogLevel, info_log_level, INFO_LEVEL)                            \
  FIELD(int, max_file_opening_threads, 16)                                   \
  FIELD(int, read_io_executor_threads, 1)                                    \
  FIELD(bool, open_files_async, false)                                       \
  FIELD(bool, use_fsync, false)                                              \
  FIELD(std::string, db_log_dir, "")                                         \
  FIELD(std::uint64_t, delete_obsolete_files_period_micros, 21600000000u)    \
  FIELD(std::uint32_t, max_subcompactions, 1)                                \
  FIELD(std::size_t, max_log_file_size, 0)                                   \
  FIELD(std::size_t, log_file_time_to_roll, 0)                               \
  FIELD(std::size_t, keep_log_file_num, 1000)                                \
  FIELD(std::size_t, recycle_log_file_num, 0)                                \
  FIELD(bool, async_wal_precreate, false)                                    \
  FIELD(std::uint64_t, max_manifest_file_size, 1u << 30)                     \
  FIELD(bool, verify_manifest_content_on_close, false)                       \
  FIELD(bool, optimize_manifest_for_recovery, false)                         \
  FIELD(bool, reuse_manifest_on_open, false)                                 \
  FIELD(int, max_manifest_space_amp_pct, 500)                                \
  FIELD(int, table_cache_numshardbits, 6)                                    \
  FIELD(std::uint64_t, WAL_ttl_seconds, 0)                                   \
  FIELD(std::uint64_t, WAL_size_limit_MB, 0)                                 \
  FIELD(std::size_t, manifest_preallocation_size, 4u << 20)                  \
  FIELD(bool, allow_mmap_writes, false)                                      \
  FIELD(bool, use_direct_reads, false)                                       \
  FIELD(bool, use_direct_io_for_compaction_reads, false)                     \
  FIELD(bool, use_direct_io_for_flush_and_compaction, false)                 \
  FIELD(bool, allow_fallocate, true)                                         \
  FIELD(bool, is_fd_close_on_exec, true)                                     \
  FIELD(unsigned int, stats_dump_period_sec, 600)                            \
  FIELD(unsigned int, stats_persist_period_sec, 600)                         \
  FIELD(bool, persist_stats_to_disk, false)                                  \
  FIELD(std::size_t, stats_history_buffer_size, 1u << 20)                    \
  FIELD(bool, advise_random_on_open, true)                                   \
  FIELD(std::size_t, compaction_readahead_size, 2u << 20)                    \
  FIELD(std::size_t, writable_file_max_buffer_size, 1u << 20)                \
  FIELD(bool, use_adaptive_mutex, false)                                     \
  FIELD(std::uint64_t, bytes_per_sync, 0)                                    \
  FIELD(std::uint64_t, wal_bytes_per_sync, 0)                                \
  FIELD(bool, strict_bytes_per_sync, false)                                  \
  FIELD(bool, enable_thread_tracking, false)                                 \
  FIELD(std::uint64_t, delayed_write_rate, 0)                                \
  FIELD(bool, enable_pipelined_write, false)                                 \
  FIELD(bool, unordered_write, false)                                        \
  FIELD(bool, allow_concurrent_memtable_write, true)                         \
  FIELD(bool, enable_write_thread_adaptive_yield, true)                      \
  FIELD(std::uint64_t, max_write_batch_group_size_bytes, 1u << 20)           \
  FIELD(std::uint64_t, write_thread_max_yield_usec, 100)                     \
  FIELD(std::uint64_t, write_thread_slow_yield_usec, 3)                      \
  FIELD(bool, skip_stats_update_on_db_open, false)                           \
  FIELD(bool, allow_2pc, false)                                              \
  FIELD(bool, dump_malloc_stats, false)                                      \
  FIELD(bool, avoid_flush_during_recovery, false)                            \
  FIELD(bool, enforce_write_buffer_manager_during_recovery, true)            \
  FIELD(bool, avoid_flush_during_shutdown, false)                            \
  FIELD(bool, allow_ingest_behind, false)                                    \
  FIELD(bool, two_write_queues, false)                                       \
  FIELD(bool, manual_wal_flush, false)                                       \
  FIELD(CompressionType, wal_compression, kNoCompression)                    \
  FIELD(bool, background_close_inactive_wals, false)                         \
  FIELD(bool, atomic_flush, false)                                           \
  FIELD(bool, avoid_unnecessary_blocking_io, false)                          \
  FIELD(bool, write_dbid_to_manifest, true)                                  \
  FIELD(bool, write_identity_file, true)                                     \
  FIELD(bool, prefix_seek_opt_in_only, false)                                \
  FIELD(std::size_t, log_readahead_size, 0)                                  \
  FIELD(bool, best_efforts_recovery, false)                                  \
  FIELD(int, max_bgerror_resume_count, INT_MAX)                              \
  FIELD(std::uint64_t, bgerror_resume_retry_interval, 1000000)               \
  FIELD(bool, allow_data_in_errors, false)                                   \
  FIELD(std::string, db_host_id, "__hostname__")                             \
  FIELD(CacheTier, lowest_used_cache_tier, CacheTier::kNonVolatileBlockTier) \
  FIELD(bool, enforce_single_del_contracts, true)                            \
  FIELD(std::string, daily_offpeak_time_utc, "")                             \
  FIELD(std::uint64_t, max_compaction_trigger_wakeup_seconds, 43200)         \
  FIELD(std::uint64_t, follower_refresh_catchup_period_ms, 10000)            \
  FIELD(std::uint64_t, follower_catchup_retry_count, 10)                     \
  FIELD(std::uint64_t, follower_catchup_retry_wait_ms, 100)                  \
  FIELD(Temperature, metadata_write_temperature, Temperature::kUnknown)      \
  FIELD(Temperature, wal_write_temperature, Temperature::kUnknown)           \
  FIELD(bool, fast_sst_open, false)

#define CAMBIUM_ROCKSDB_FAMILY_HINTS(FIELD)                                           \
  FIELD(int, min_write_buffer_number_to_merge, 1)                                     \
  FIELD(std::int64_t, max_write_buffer_size_to_maintain, 0)                           \
  FIELD(bool, inplace_update_support, false)                                          \
  FIELD(std::size_t, inplace_update_num_locks, 10000)                                 \
  FIELD(double, experimental_mempurge_threshold, 0.0)                                 \
  FIELD(double, memtable_prefix_bloom_size_ratio, 0.0)                                \
  FIELD(bool, memtable_whole_key_filtering, false)                                    \
  FIELD(std::size_t, memtable_huge_page_size, 0)                                      \
  FIELD(std::uint32_t, bloom_locality, 0)                                             \
  FIELD(std::size_t, arena_block_size, 0)                                             \
  FIELD(bool, target_file_size_is_upper_bound, false)                                 \
  FIELD(bool, level_compaction_dynamic_level_bytes, true)                             \
  FIELD(std::uint64_t, max_compaction_bytes, 0)                                       \
  FIELD(std::uint64_t, soft_pending_compaction_bytes_limit, std::uint64_t{64} << 30)  \
  FIELD(std::uint64_t, hard_pending_compaction_bytes_limit, std::uint64_t{256} << 30) \
  FIELD(CompactionPri, compaction_pri, kMinOverlappingRatio)                          \
  FIELD(std::uint64_t, max_sequential_skip_in_iterations, 8)                          \
  FIELD(std::size_t, max_successive_merges, 0)                                        \
  FIELD(bool, strict_max_successive_merges, false)                                    \
  FIELD(bool, optimize_filters_for_hits, false)                                       \
  FIELD(bool, paranoid_file_checks, false)                                            \
  FIELD(VerifyOutputFlags, verify_output_flags, VerifyOutputFlags::kVerifyNone)       \
  FIELD(bool, force_consistency_checks, true)                                         \
  FIELD(bool, report_bg_io_stats, false)                                              \
  FIELD(bool, disallow_memtable_writes, false)                                        \
  FIELD(std::uint64_t, ttl, 0xfffffffffffffffeu)                                      \
  FIELD(std::uint64_t, periodic_compaction_seconds, 0xfffffffffffffffeu)              \
  FIELD(double, read_triggered_compaction_threshold, 0.0)                             \
  FIELD(std::uint64_t, sample_for_compression, 0)                                     \
  FIELD(Temperature, last_level_temperature, Temperature::kUnknown)                   \
  FIELD(Temperature, default_write_temperature, Temperature::kUnknown)                \
  FIELD(Temperature, default_temperature, Temperature::kUnknown)                      \
  FIELD(std::uint64_t, preclude_last_level_data_seconds, 0)                           \
  FIELD(std::uint64_t, preserve_internal_time_seconds, 0)                             \
  FIELD(std::uint64_t, blob_compaction_readahead_size, 0)                             \
  FIELD(int, blob_file_starting_level, 0)                                             \
  FIELD(PrepopulateBlobCache, prepopulate_blob_cache, PrepopulateBlobCache::kDisable) \
  FIELD(bool, enable_blob_direct_write, false)                                        \
  FIELD(std::uint32_t, blob_direct_write_partitions, 1)                               \
  FIELD(std::uint32_t, memtable_protection_bytes_per_key, 0)                          \
  FIELD(bool, persist_user_defined_timestamps, true)                                  \
  FIELD(std::uint8_t, block_protection_bytes_per_key, 0)                              \
  FIELD(std::uint32_t, bottommost_file_compaction_delay, 0)                           \
  FIELD(bool, paranoid_memory_checks, false)                                          \
  FIELD(bool, memtable_verify_per_key_checksum_on_seek, false)                        \
  FIELD(std::uint32_t, memtable_op_scan_flush_trigger, 0)                             \
  FIELD(std::uint32_t, memtable_avg_op_scan_flush_trigger, 0)                         \
  FIELD(std::uint32_t, min_tombstones_for_range_conversion, 0)                        \
  FIELD(bool, cf_allow_ingest_behind, false)                                          \
  FIELD(bool, memtable_batch_lookup_optimization, false)                              \
  FIELD(CompressionType, bottommost_compression, kDisableCompressionOption)           \
  FIELD(bool, disable_auto_compactions, false)                                        \
  FIELD(std::uint32_t, memtable_max_range_deletions, 0)                               \
  FIELD(std::uint32_t, uncache_aggressiveness, 0)

#define CAMBIUM_ROCKSDB_TABLE_HINTS(FIELD)                                               \
  FIELD(bool, cache_index_and_filter_blocks, false)                                      \
  FIELD(bool, cache_index_and_filter_blocks_with_high_priority, true)                    \
  FIELD(bool, pin_l0_filter_and_index_blocks_in_cache, false)                            \
  FIELD(bool, pin_top_level_index_and_filter, true)                                      \
  FIELD(IndexType, index_type, kBinarySearch)                                            \
  FIELD(BlockSearchType, index_block_search_type, kBinary)                               \
  FIELD(DataBlockIndexType, data_block_index_type, kDataBlockBinarySearch)               \
  FIELD(double, data_block_hash_table_util_ratio, 0.75)                                  \
  FIELD(ChecksumType, checksum, kXXH3)                                                   \
  FIELD(bool, no_block_cache, false)                                                     \
  FIELD(std::uint64_t, block_size, 4096)                                                 \
  FIELD(int, block_size_deviation, 10)                                                   \
  FIELD(int, block_restart_interval, 16)                                                 \
  FIELD(int, index_block_restart_interval, 1)                                            \
  FIELD(std::uint64_t, metadata_block_size, 4096)                                        \
  FIELD(bool, partition_filters, false)                                                  \
  FIELD(bool, decouple_partitioned_filters, true)                                        \
  FIELD(bool, optimize_filters_for_memory, true)                                         \
  FIELD(bool, use_delta_encoding, true)                                                  \
  FIELD(bool, whole_key_filtering, true)                                                 \
  FIELD(bool, detect_filter_construct_corruption, false)                                 \
  FIELD(bool, verify_compression, false)                                                 \
  FIELD(std::uint32_t, read_amp_bytes_per_bit, 0)                                        \
  FIELD(std::uint32_t, format_version, 7)                                                \
  FIELD(bool, separate_key_value_in_data_block, false)                                   \
  FIELD(double, uniform_cv_threshold, -1)                                                \
  FIELD(bool, enable_index_compression, true)                                            \
  FIELD(bool, block_align, false)                                                        \
  FIELD(std::size_t, super_block_alignment_size, 0)                                      \
  FIELD(std::size_t, super_block_alignment_space_overhead_ratio, 128)                    \
  FIELD(IndexShorteningMode, index_shortening, IndexShorteningMode::kShortenSeparators)  \
  FIELD(std::size_t, max_auto_readahead_size, 256u << 10)                                \
  FIELD(PrepopulateBlockCache, prepopulate_block_cache, PrepopulateBlockCache::kDisable) \
  FIELD(std::size_t, initial_auto_readahead_size, 8u << 10)                              \
  FIELD(std::uint64_t, num_file_reads_for_auto_readahead, 2)

// Declares a field in its struct.
#define CAMBIUM_ROCKSDB_MEMBER(type, name, initial) type name = initial;
