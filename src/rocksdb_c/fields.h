// The options of RocksDB's C interface that are numbers: for each object a list of its fields, with the types of setter
// and getter and the initial value. The values are what the getters of RocksDB 11.8.1 return for a new object.
//
// A list calls FIELD(prefix, name, type of the setter's argument, type of the getter's result, initial value). The
// functions are rocksdb_PREFIX_set_NAME and rocksdb_PREFIX_get_NAME.
#pragma once

#define CAMBIUM_ROCKSDB_BACKUP_ENGINE_OPTIONS(FIELD, prefix)                             \
  FIELD(prefix, backup_log_files, unsigned char, unsigned char, 1)                       \
  FIELD(prefix, backup_rate_limit, uint64_t, uint64_t, 0)                                \
  FIELD(prefix, callback_trigger_interval_size, uint64_t, uint64_t, 4194304)             \
  FIELD(prefix, current_temperatures_override_manifest, unsigned char, unsigned char, 0) \
  FIELD(prefix, destroy_old_data, unsigned char, unsigned char, 0)                       \
  FIELD(prefix, io_buffer_size, uint64_t, uint64_t, 0)                                   \
  FIELD(prefix, max_background_operations, int, int, 1)                                  \
  FIELD(prefix, max_valid_backups_to_open, int, int, 2147483647)                         \
  FIELD(prefix, restore_rate_limit, uint64_t, uint64_t, 0)                               \
  FIELD(prefix, schema_version, int, int, 1)                                             \
  FIELD(prefix, share_files_with_checksum, unsigned char, unsigned char, 1)              \
  FIELD(prefix, share_files_with_checksum_naming, int, int, -2147483646)                 \
  FIELD(prefix, share_table_files, unsigned char, unsigned char, 1)                      \
  FIELD(prefix, sync, unsigned char, unsigned char, 1)

#define CAMBIUM_ROCKSDB_BLOCK_BASED_OPTIONS(FIELD, prefix)                                         \
  FIELD(prefix, block_align, unsigned char, unsigned char, 0)                                      \
  FIELD(prefix, block_restart_interval, int, int, 16)                                              \
  FIELD(prefix, block_size, size_t, uint64_t, 4096)                                                \
  FIELD(prefix, block_size_deviation, int, int, 10)                                                \
  FIELD(prefix, cache_index_and_filter_blocks, unsigned char, unsigned char, 0)                    \
  FIELD(prefix, cache_index_and_filter_blocks_with_high_priority, unsigned char, unsigned char, 1) \
  FIELD(prefix, data_block_hash_table_util_ratio, double, double, 0.75)                            \
  FIELD(prefix, data_block_index_type, int, int, 0)                                                \
  FIELD(prefix, decouple_partitioned_filters, unsigned char, unsigned char, 1)                     \
  FIELD(prefix, detect_filter_construct_corruption, unsigned char, unsigned char, 0)               \
  FIELD(prefix, enable_index_compression, unsigned char, unsigned char, 1)                         \
  FIELD(prefix, fail_if_no_udi_on_open, unsigned char, unsigned char, 0)                           \
  FIELD(prefix, format_version, int, uint32_t, 7)                                                  \
  FIELD(prefix, index_block_restart_interval, int, int, 1)                                         \
  FIELD(prefix, index_block_search_type, int, int, 0)                                              \
  FIELD(prefix, index_shortening, int, int, 1)                                                     \
  FIELD(prefix, index_type, int, int, 0)                                                           \
  FIELD(prefix, initial_auto_readahead_size, size_t, size_t, 8192)                                 \
  FIELD(prefix, max_auto_readahead_size, size_t, size_t, 262144)                                   \
  FIELD(prefix, metadata_block_size, uint64_t, uint64_t, 4096)                                     \
  FIELD(prefix, no_block_cache, unsigned char, unsigned char, 0)                                   \
  FIELD(prefix, num_file_reads_for_auto_readahead, uint64_t, uint64_t, 2)                          \
  FIELD(prefix, optimize_filters_for_memory, unsigned char, unsigned char, 1)                      \
  FIELD(prefix, partition_filters, unsigned char, unsigned char, 0)                                \
  FIELD(prefix, pin_l0_filter_and_index_blocks_in_cache, unsigned char, unsigned char, 0)          \
  FIELD(prefix, pin_top_level_index_and_filter, unsigned char, unsigned char, 1)                   \
  FIELD(prefix, prepopulate_block_cache, int, int, 0)                                              \
  FIELD(prefix, read_amp_bytes_per_bit, uint32_t, uint32_t, 0)                                     \
  FIELD(prefix, separate_key_value_in_data_block, unsigned char, unsigned char, 0)                 \
  FIELD(prefix, super_block_alignment_size, size_t, size_t, 0)                                     \
  FIELD(prefix, super_block_alignment_space_overhead_ratio, size_t, size_t, 128)                   \
  FIELD(prefix, uniform_cv_threshold, double, double, -1.0)                                        \
  FIELD(prefix, use_delta_encoding, unsigned char, unsigned char, 1)                               \
  FIELD(prefix, use_udi_as_primary_index, unsigned char, unsigned char, 0)                         \
  FIELD(prefix, verify_compression, unsigned char, unsigned char, 0)                               \
  FIELD(prefix, whole_key_filtering, unsigned char, unsigned char, 1)

#define CAMBIUM_ROCKSDB_BLOCK_CACHE_TRACE_OPTIONS(FIELD, prefix) \
  FIELD(prefix, sampling_frequency, uint64_t, uint64_t, 1)

#define CAMBIUM_ROCKSDB_BLOCK_CACHE_TRACE_WRITER_OPTIONS(FIELD, prefix) \
  FIELD(prefix, max_trace_file_size, uint64_t, uint64_t, 68719476736)

#define CAMBIUM_ROCKSDB_COLUMN_FAMILY_METADATA_OPTIONS(FIELD, prefix) FIELD(prefix, level, int, int, -1)

#define CAMBIUM_ROCKSDB_COMPACTION_OPTIONS(FIELD, prefix)                      \
  FIELD(prefix, allow_trivial_move, unsigned char, unsigned char, 0)           \
  FIELD(prefix, compression, int, int, 255)                                    \
  FIELD(prefix, max_subcompactions, uint32_t, uint32_t, 0)                     \
  FIELD(prefix, output_file_size_limit, uint64_t, uint64_t, ~std::uint64_t{0}) \
  FIELD(prefix, output_temperature_override, int, int, 0)

#define CAMBIUM_ROCKSDB_COMPACTOPTIONS(FIELD, prefix)                         \
  FIELD(prefix, allow_write_stall, unsigned char, unsigned char, 0)           \
  FIELD(prefix, blob_garbage_collection_age_cutoff, double, double, -1.0)     \
  FIELD(prefix, blob_garbage_collection_policy, int, int, 2)                  \
  FIELD(prefix, change_level, unsigned char, unsigned char, 0)                \
  FIELD(prefix, exclusive_manual_compaction, unsigned char, unsigned char, 0) \
  FIELD(prefix, max_subcompactions, int, int, 0)                              \
  FIELD(prefix, target_level, int, int, -1)                                   \
  FIELD(prefix, target_path_id, int, int, 0)

#define CAMBIUM_ROCKSDB_CREATE_BACKUP_OPTIONS(FIELD, prefix)                              \
  FIELD(prefix, atomic_flush, unsigned char, unsigned char, 0)                            \
  FIELD(prefix, background_thread_cpu_priority, int, int, 2)                              \
  FIELD(prefix, decrease_background_thread_cpu_priority, unsigned char, unsigned char, 0) \
  FIELD(prefix, flush_before_backup, unsigned char, unsigned char, 0)

#define CAMBIUM_ROCKSDB_CUCKOO_OPTIONS(FIELD, prefix)                    \
  FIELD(prefix, cuckoo_block_size, uint32_t, uint32_t, 5)                \
  FIELD(prefix, hash_table_ratio, double, double, 0.9)                   \
  FIELD(prefix, identity_as_first_hash, unsigned char, unsigned char, 0) \
  FIELD(prefix, max_search_depth, uint32_t, uint32_t, 100)               \
  FIELD(prefix, use_module_hash, unsigned char, unsigned char, 1)

#define CAMBIUM_ROCKSDB_ENVOPTIONS(FIELD, prefix)                          \
  FIELD(prefix, allow_fallocate, unsigned char, unsigned char, 1)          \
  FIELD(prefix, bytes_per_sync, uint64_t, uint64_t, 0)                     \
  FIELD(prefix, compaction_readahead_size, size_t, size_t, 2097152)        \
  FIELD(prefix, fallocate_with_keep_size, unsigned char, unsigned char, 1) \
  FIELD(prefix, fd_cloexec, unsigned char, unsigned char, 1)               \
  FIELD(prefix, strict_bytes_per_sync, unsigned char, unsigned char, 0)    \
  FIELD(prefix, use_direct_reads, unsigned char, unsigned char, 0)         \
  FIELD(prefix, use_direct_writes, unsigned char, unsigned char, 0)        \
  FIELD(prefix, use_mmap_reads, unsigned char, unsigned char, 0)           \
  FIELD(prefix, use_mmap_writes, unsigned char, unsigned char, 0)          \
  FIELD(prefix, writable_file_max_buffer_size, size_t, size_t, 1048576)

#define CAMBIUM_ROCKSDB_FIFO_COMPACTION_OPTIONS(FIELD, prefix)                               \
  FIELD(prefix, age_for_warm, uint64_t, uint64_t, 0)                                         \
  FIELD(prefix, allow_compaction, unsigned char, unsigned char, 0)                           \
  FIELD(prefix, allow_trivial_copy_when_change_temperature, unsigned char, unsigned char, 0) \
  FIELD(prefix, max_data_files_size, uint64_t, uint64_t, 0)                                  \
  FIELD(prefix, max_table_files_size, uint64_t, uint64_t, 1073741824)                        \
  FIELD(prefix, trivial_copy_buffer_size, uint64_t, uint64_t, 4096)                          \
  FIELD(prefix, use_kv_ratio_compaction, unsigned char, unsigned char, 0)

#define CAMBIUM_ROCKSDB_FLUSHOPTIONS(FIELD, prefix)                  \
  FIELD(prefix, allow_write_stall, unsigned char, unsigned char, 0)  \
  FIELD(prefix, force_atomic_flush, unsigned char, unsigned char, 0) \
  FIELD(prefix, listener_wait, unsigned char, unsigned char, 0)      \
  FIELD(prefix, wait, unsigned char, unsigned char, 1)

#define CAMBIUM_ROCKSDB_FLUSHWALOPTIONS(FIELD, prefix) \
  FIELD(prefix, rate_limiter_priority, int, int, 4)    \
  FIELD(prefix, sync, unsigned char, unsigned char, 0)

#define CAMBIUM_ROCKSDB_IMPORT_COLUMN_FAMILY_OPTIONS(FIELD, prefix) \
  FIELD(prefix, move_files, unsigned char, unsigned char, 0)

#define CAMBIUM_ROCKSDB_INGESTEXTERNALFILEOPTIONS(FIELD, prefix)                        \
  FIELD(prefix, allow_blocking_flush, unsigned char, unsigned char, 1)                  \
  FIELD(prefix, allow_db_generated_files, unsigned char, unsigned char, 0)              \
  FIELD(prefix, allow_global_seqno, unsigned char, unsigned char, 1)                    \
  FIELD(prefix, fail_if_not_bottommost_level, unsigned char, unsigned char, 0)          \
  FIELD(prefix, failed_move_fall_back_to_copy, unsigned char, unsigned char, 1)         \
  FIELD(prefix, file_opening_threads, int, int, 1)                                      \
  FIELD(prefix, fill_cache, unsigned char, unsigned char, 1)                            \
  FIELD(prefix, ingest_behind, unsigned char, unsigned char, 0)                         \
  FIELD(prefix, link_files, unsigned char, unsigned char, 0)                            \
  FIELD(prefix, move_files, unsigned char, unsigned char, 0)                            \
  FIELD(prefix, prefetch_lmax_index_and_filter_blocks, unsigned char, unsigned char, 1) \
  FIELD(prefix, snapshot_consistency, unsigned char, unsigned char, 1)                  \
  FIELD(prefix, verify_checksums_before_ingest, unsigned char, unsigned char, 0)        \
  FIELD(prefix, verify_checksums_readahead_size, size_t, size_t, 0)                     \
  FIELD(prefix, verify_file_checksum, unsigned char, unsigned char, 1)                  \
  FIELD(prefix, write_global_seqno, unsigned char, unsigned char, 0)

#define CAMBIUM_ROCKSDB_LIVEFILES_STORAGE_INFO_OPTIONS(FIELD, prefix)   \
  FIELD(prefix, atomic_flush, unsigned char, unsigned char, 0)          \
  FIELD(prefix, include_checksum_info, unsigned char, unsigned char, 0) \
  FIELD(prefix, wal_size_for_flush, uint64_t, uint64_t, 0)

#define CAMBIUM_ROCKSDB_OPEN_AND_COMPACT_OPTIONS(FIELD, prefix) \
  FIELD(prefix, allow_resumption, unsigned char, unsigned char, 0)

#define CAMBIUM_ROCKSDB_OPTIMISTICTRANSACTION_OPTIONS(FIELD, prefix) \
  FIELD(prefix, set_snapshot, unsigned char, unsigned char, 0)

#define CAMBIUM_ROCKSDB_OPTIMISTICTRANSACTIONDB_OPTIONS(FIELD, prefix) \
  FIELD(prefix, occ_lock_buckets, uint32_t, uint32_t, 1048576)         \
  FIELD(prefix, validate_policy, int, int, 1)

#define CAMBIUM_ROCKSDB_OPTIONS(FIELD, prefix)                                                 \
  FIELD(prefix, advise_random_on_open, unsigned char, unsigned char, 1)                        \
  FIELD(prefix, allow_2pc, unsigned char, unsigned char, 0)                                    \
  FIELD(prefix, allow_concurrent_memtable_write, unsigned char, unsigned char, 1)              \
  FIELD(prefix, allow_data_in_errors, unsigned char, unsigned char, 0)                         \
  FIELD(prefix, allow_fallocate, unsigned char, unsigned char, 1)                              \
  FIELD(prefix, allow_ingest_behind, unsigned char, unsigned char, 0)                          \
  FIELD(prefix, allow_mmap_reads, unsigned char, unsigned char, 0)                             \
  FIELD(prefix, allow_mmap_writes, unsigned char, unsigned char, 0)                            \
  FIELD(prefix, arena_block_size, size_t, size_t, 0)                                           \
  FIELD(prefix, async_wal_precreate, unsigned char, unsigned char, 0)                          \
  FIELD(prefix, atomic_flush, unsigned char, unsigned char, 0)                                 \
  FIELD(prefix, avoid_flush_during_recovery, unsigned char, unsigned char, 0)                  \
  FIELD(prefix, avoid_flush_during_shutdown, unsigned char, unsigned char, 0)                  \
  FIELD(prefix, avoid_unnecessary_blocking_io, unsigned char, unsigned char, 0)                \
  FIELD(prefix, background_close_inactive_wals, unsigned char, unsigned char, 0)               \
  FIELD(prefix, best_efforts_recovery, unsigned char, unsigned char, 0)                        \
  FIELD(prefix, bgerror_resume_retry_interval, uint64_t, uint64_t, 1000000)                    \
  FIELD(prefix, blob_compaction_readahead_size, uint64_t, uint64_t, 0)                         \
  FIELD(prefix, blob_compression_type, int, int, 0)                                            \
  FIELD(prefix, blob_direct_write_partitions, uint32_t, uint32_t, 1)                           \
  FIELD(prefix, blob_file_size, uint64_t, uint64_t, 268435456)                                 \
  FIELD(prefix, blob_file_starting_level, int, int, 0)                                         \
  FIELD(prefix, blob_gc_age_cutoff, double, double, 0.25)                                      \
  FIELD(prefix, blob_gc_force_threshold, double, double, 1.0)                                  \
  FIELD(prefix, bloom_locality, uint32_t, uint32_t, 0)                                         \
  FIELD(prefix, bottommost_compression, int, int, 255)                                         \
  FIELD(prefix, bottommost_file_compaction_delay, uint32_t, uint32_t, 0)                       \
  FIELD(prefix, bytes_per_sync, uint64_t, uint64_t, 0)                                         \
  FIELD(prefix, cf_allow_ingest_behind, unsigned char, unsigned char, 0)                       \
  FIELD(prefix, compaction_pri, int, int, 3)                                                   \
  FIELD(prefix, compaction_style, int, int, 0)                                                 \
  FIELD(prefix, compaction_verify_record_count, unsigned char, unsigned char, 1)               \
  FIELD(prefix, compression, int, int, 4)                                                      \
  FIELD(prefix, compression_options_max_dict_buffer_bytes, uint64_t, uint64_t, 0)              \
  FIELD(prefix, compression_options_parallel_threads, int, int, 1)                             \
  FIELD(prefix, compression_options_use_zstd_dict_trainer, unsigned char, unsigned char, 1)    \
  FIELD(prefix, compression_options_zstd_max_train_bytes, int, int, 0)                         \
  FIELD(prefix, create_if_missing, unsigned char, unsigned char, 0)                            \
  FIELD(prefix, create_missing_column_families, unsigned char, unsigned char, 0)               \
  FIELD(prefix, db_write_buffer_size, size_t, size_t, 0)                                       \
  FIELD(prefix, default_temperature, int, int, 0)                                              \
  FIELD(prefix, default_write_temperature, int, int, 0)                                        \
  FIELD(prefix, delayed_write_rate, uint64_t, uint64_t, 0)                                     \
  FIELD(prefix, delete_obsolete_files_period_micros, uint64_t, uint64_t, 21600000000)          \
  FIELD(prefix, disable_auto_compactions, int, unsigned char, 0)                               \
  FIELD(prefix, disallow_memtable_writes, unsigned char, unsigned char, 0)                     \
  FIELD(prefix, dump_malloc_stats, unsigned char, unsigned char, 0)                            \
  FIELD(prefix, enable_blob_direct_write, unsigned char, unsigned char, 0)                     \
  FIELD(prefix, enable_blob_files, unsigned char, unsigned char, 0)                            \
  FIELD(prefix, enable_blob_gc, unsigned char, unsigned char, 0)                               \
  FIELD(prefix, enable_pipelined_write, unsigned char, unsigned char, 0)                       \
  FIELD(prefix, enable_thread_tracking, unsigned char, unsigned char, 0)                       \
  FIELD(prefix, enable_write_thread_adaptive_yield, unsigned char, unsigned char, 1)           \
  FIELD(prefix, enforce_single_del_contracts, unsigned char, unsigned char, 1)                 \
  FIELD(prefix, enforce_write_buffer_manager_during_recovery, unsigned char, unsigned char, 1) \
  FIELD(prefix, error_if_exists, unsigned char, unsigned char, 0)                              \
  FIELD(prefix, experimental_mempurge_threshold, double, double, 0.0)                          \
  FIELD(prefix, fast_sst_open, unsigned char, unsigned char, 0)                                \
  FIELD(prefix, flush_verify_memtable_count, unsigned char, unsigned char, 1)                  \
  FIELD(prefix, follower_catchup_retry_count, uint64_t, uint64_t, 10)                          \
  FIELD(prefix, follower_catchup_retry_wait_ms, uint64_t, uint64_t, 100)                       \
  FIELD(prefix, follower_refresh_catchup_period_ms, uint64_t, uint64_t, 10000)                 \
  FIELD(prefix, force_consistency_checks, unsigned char, unsigned char, 1)                     \
  FIELD(prefix, hard_pending_compaction_bytes_limit, size_t, size_t, 274877906944)             \
  FIELD(prefix, info_log_level, int, int, 1)                                                   \
  FIELD(prefix, inplace_update_num_locks, size_t, size_t, 10000)                               \
  FIELD(prefix, inplace_update_support, unsigned char, unsigned char, 0)                       \
  FIELD(prefix, is_fd_close_on_exec, unsigned char, unsigned char, 1)                          \
  FIELD(prefix, keep_log_file_num, size_t, size_t, 1000)                                       \
  FIELD(prefix, last_level_temperature, int, int, 0)                                           \
  FIELD(prefix, level0_file_num_compaction_trigger, int, int, 4)                               \
  FIELD(prefix, level0_slowdown_writes_trigger, int, int, 20)                                  \
  FIELD(prefix, level0_stop_writes_trigger, int, int, 36)                                      \
  FIELD(prefix, level_compaction_dynamic_level_bytes, unsigned char, unsigned char, 1)         \
  FIELD(prefix, log_file_time_to_roll, size_t, size_t, 0)                                      \
  FIELD(prefix, log_readahead_size, size_t, size_t, 0)                                         \
  FIELD(prefix, lowest_used_cache_tier, int, int, 2)                                           \
  FIELD(prefix, manifest_preallocation_size, size_t, size_t, 4194304)                          \
  FIELD(prefix, manual_wal_flush, unsigned char, unsigned char, 0)                             \
  FIELD(prefix, max_background_compactions, int, int, -1)                                      \
  FIELD(prefix, max_background_flushes, int, int, -1)                                          \
  FIELD(prefix, max_background_jobs, int, int, 2)                                              \
  FIELD(prefix, max_bgerror_resume_count, int, int, 2147483647)                                \
  FIELD(prefix, max_bytes_for_level_base, uint64_t, uint64_t, 268435456)                       \
  FIELD(prefix, max_bytes_for_level_multiplier, double, double, 10.0)                          \
  FIELD(prefix, max_compaction_bytes, uint64_t, uint64_t, 0)                                   \
  FIELD(prefix, max_compaction_trigger_wakeup_seconds, uint64_t, uint64_t, 43200)              \
  FIELD(prefix, max_file_opening_threads, int, int, 16)                                        \
  FIELD(prefix, max_log_file_size, size_t, size_t, 0)                                          \
  FIELD(prefix, max_manifest_file_size, size_t, size_t, 1073741824)                            \
  FIELD(prefix, max_manifest_space_amp_pct, int, int, 500)                                     \
  FIELD(prefix, max_open_files, int, int, -1)                                                  \
  FIELD(prefix, max_sequential_skip_in_iterations, uint64_t, uint64_t, 8)                      \
  FIELD(prefix, max_subcompactions, uint32_t, uint32_t, 1)                                     \
  FIELD(prefix, max_successive_merges, size_t, size_t, 0)                                      \
  FIELD(prefix, max_total_wal_size, uint64_t, uint64_t, 0)                                     \
  FIELD(prefix, max_write_batch_group_size_bytes, uint64_t, uint64_t, 1048576)                 \
  FIELD(prefix, max_write_buffer_number, int, int, 2)                                          \
  FIELD(prefix, max_write_buffer_size_to_maintain, int64_t, int64_t, 0)                        \
  FIELD(prefix, memtable_avg_op_scan_flush_trigger, uint32_t, uint32_t, 0)                     \
  FIELD(prefix, memtable_batch_lookup_optimization, unsigned char, unsigned char, 0)           \
  FIELD(prefix, memtable_huge_page_size, size_t, size_t, 0)                                    \
  FIELD(prefix, memtable_max_range_deletions, uint32_t, uint32_t, 0)                           \
  FIELD(prefix, memtable_op_scan_flush_trigger, uint32_t, uint32_t, 0)                         \
  FIELD(prefix, memtable_prefix_bloom_size_ratio, double, double, 0.0)                         \
  FIELD(prefix, memtable_protection_bytes_per_key, uint32_t, uint32_t, 0)                      \
  FIELD(prefix, memtable_verify_per_key_checksum_on_seek, unsigned char, unsigned char, 0)     \
  FIELD(prefix, memtable_whole_key_filtering, unsigned char, unsigned char, 0)                 \
  FIELD(prefix, metadata_write_temperature, int, int, 0)                                       \
  FIELD(prefix, min_blob_size, uint64_t, uint64_t, 0)                                          \
  FIELD(prefix, min_tombstones_for_range_conversion, uint32_t, uint32_t, 0)                    \
  FIELD(prefix, min_write_buffer_number_to_merge, int, int, 1)                                 \
  FIELD(prefix, num_levels, int, int, 7)                                                       \
  FIELD(prefix, open_files_async, unsigned char, unsigned char, 0)                             \
  FIELD(prefix, optimize_filters_for_hits, int, unsigned char, 0)                              \
  FIELD(prefix, optimize_manifest_for_recovery, unsigned char, unsigned char, 0)               \
  FIELD(prefix, paranoid_checks, unsigned char, unsigned char, 1)                              \
  FIELD(prefix, paranoid_file_checks, unsigned char, unsigned char, 0)                         \
  FIELD(prefix, paranoid_memory_checks, unsigned char, unsigned char, 0)                       \
  FIELD(prefix, periodic_compaction_seconds, uint64_t, uint64_t, ~std::uint64_t{1})            \
  FIELD(prefix, persist_stats_to_disk, unsigned char, unsigned char, 0)                        \
  FIELD(prefix, persist_user_defined_timestamps, unsigned char, unsigned char, 1)              \
  FIELD(prefix, preclude_last_level_data_seconds, uint64_t, uint64_t, 0)                       \
  FIELD(prefix, prefix_seek_opt_in_only, unsigned char, unsigned char, 0)                      \
  FIELD(prefix, prepopulate_blob_cache, int, int, 0)                                           \
  FIELD(prefix, preserve_internal_time_seconds, uint64_t, uint64_t, 0)                         \
  FIELD(prefix, read_io_executor_threads, int, int, 1)                                         \
  FIELD(prefix, read_triggered_compaction_threshold, double, double, 0.0)                      \
  FIELD(prefix, recycle_log_file_num, size_t, size_t, 0)                                       \
  FIELD(prefix, report_bg_io_stats, int, unsigned char, 0)                                     \
  FIELD(prefix, reuse_manifest_on_open, unsigned char, unsigned char, 0)                       \
  FIELD(prefix, sample_for_compression, uint64_t, uint64_t, 0)                                 \
  FIELD(prefix, skip_stats_update_on_db_open, unsigned char, unsigned char, 0)                 \
  FIELD(prefix, soft_pending_compaction_bytes_limit, size_t, size_t, 68719476736)              \
  FIELD(prefix, stats_dump_period_sec, unsigned int, unsigned int, 600)                        \
  FIELD(prefix, stats_history_buffer_size, size_t, size_t, 1048576)                            \
  FIELD(prefix, stats_persist_period_sec, unsigned int, unsigned int, 600)                     \
  FIELD(prefix, strict_bytes_per_sync, unsigned char, unsigned char, 0)                        \
  FIELD(prefix, strict_max_successive_merges, unsigned char, unsigned char, 0)                 \
  FIELD(prefix, table_cache_numshardbits, int, int, 6)                                         \
  FIELD(prefix, target_file_size_base, uint64_t, uint64_t, 67108864)                           \
  FIELD(prefix, target_file_size_is_upper_bound, unsigned char, unsigned char, 0)              \
  FIELD(prefix, target_file_size_multiplier, int, int, 1)                                      \
  FIELD(prefix, track_and_verify_wals, unsigned char, unsigned char, 0)                        \
  FIELD(prefix, track_and_verify_wals_in_manifest, unsigned char, unsigned char, 0)            \
  FIELD(prefix, ttl, uint64_t, uint64_t, ~std::uint64_t{1})                                    \
  FIELD(prefix, two_write_queues, unsigned char, unsigned char, 0)                             \
  FIELD(prefix, uncache_aggressiveness, uint32_t, uint32_t, 0)                                 \
  FIELD(prefix, unordered_write, unsigned char, unsigned char, 0)                              \
  FIELD(prefix, use_adaptive_mutex, unsigned char, unsigned char, 0)                           \
  FIELD(prefix, use_direct_io_for_compaction_reads, unsigned char, unsigned char, 0)           \
  FIELD(prefix, use_direct_io_for_flush_and_compaction, unsigned char, unsigned char, 0)       \
  FIELD(prefix, use_direct_reads, unsigned char, unsigned char, 0)                             \
  FIELD(prefix, use_fsync, int, int, 0)                                                        \
  FIELD(prefix, verify_manifest_content_on_close, unsigned char, unsigned char, 0)             \
  FIELD(prefix, verify_output_flags, int, int, 0)                                              \
  FIELD(prefix, verify_sst_unique_id_in_manifest, unsigned char, unsigned char, 1)             \
  FIELD(prefix, wal_bytes_per_sync, uint64_t, uint64_t, 0)                                     \
  FIELD(prefix, wal_compression, int, int, 0)                                                  \
  FIELD(prefix, wal_recovery_mode, int, int, 2)                                                \
  FIELD(prefix, WAL_size_limit_MB, uint64_t, uint64_t, 0)                                      \
  FIELD(prefix, WAL_ttl_seconds, uint64_t, uint64_t, 0)                                        \
  FIELD(prefix, wal_write_temperature, int, int, 0)                                            \
  FIELD(prefix, writable_file_max_buffer_size, uint64_t, uint64_t, 1048576)                    \
  FIELD(prefix, write_buffer_size, size_t, size_t, 67108864)                                   \
  FIELD(prefix, write_dbid_to_manifest, unsigned char, unsigned char, 1)                       \
  FIELD(prefix, write_identity_file, unsigned char, unsigned char, 1)                          \
  FIELD(prefix, write_thread_max_yield_usec, uint64_t, uint64_t, 100)                          \
  FIELD(prefix, write_thread_slow_yield_usec, uint64_t, uint64_t, 3)

#define CAMBIUM_ROCKSDB_READOPTIONS(FIELD, prefix)                                     \
  FIELD(prefix, adaptive_readahead, unsigned char, unsigned char, 0)                   \
  FIELD(prefix, allow_unprepared_value, unsigned char, unsigned char, 0)               \
  FIELD(prefix, async_io, unsigned char, unsigned char, 0)                             \
  FIELD(prefix, auto_prefix_mode, unsigned char, unsigned char, 0)                     \
  FIELD(prefix, auto_readahead_size, unsigned char, unsigned char, 1)                  \
  FIELD(prefix, auto_refresh_iterator_with_snapshot, unsigned char, unsigned char, 0)  \
  FIELD(prefix, background_purge_on_iterator_cleanup, unsigned char, unsigned char, 0) \
  FIELD(prefix, deadline, uint64_t, uint64_t, 0)                                       \
  FIELD(prefix, fill_cache, unsigned char, unsigned char, 1)                           \
  FIELD(prefix, ignore_range_deletions, unsigned char, unsigned char, 0)               \
  FIELD(prefix, io_activity, int, int, 255)                                            \
  FIELD(prefix, io_timeout, uint64_t, uint64_t, 0)                                     \
  FIELD(prefix, max_skippable_internal_keys, uint64_t, uint64_t, 0)                    \
  FIELD(prefix, merge_operand_count_threshold, size_t, size_t, 0)                      \
  FIELD(prefix, optimize_multiget_for_io, unsigned char, unsigned char, 1)             \
  FIELD(prefix, pin_data, unsigned char, unsigned char, 0)                             \
  FIELD(prefix, prefix_same_as_start, unsigned char, unsigned char, 0)                 \
  FIELD(prefix, rate_limiter_priority, int, int, 4)                                    \
  FIELD(prefix, read_tier, int, int, 0)                                                \
  FIELD(prefix, readahead_size, size_t, size_t, 0)                                     \
  FIELD(prefix, tailing, unsigned char, unsigned char, 0)                              \
  FIELD(prefix, total_order_seek, unsigned char, unsigned char, 0)                     \
  FIELD(prefix, value_size_soft_limit, uint64_t, uint64_t, ~std::uint64_t{0})          \
  FIELD(prefix, verify_checksums, unsigned char, unsigned char, 1)

#define CAMBIUM_ROCKSDB_REPLAY_OPTIONS(FIELD, prefix) \
  FIELD(prefix, fast_forward, double, double, 1.0)    \
  FIELD(prefix, num_threads, uint32_t, uint32_t, 1)

#define CAMBIUM_ROCKSDB_RESTORE_OPTIONS(FIELD, prefix) \
  FIELD(prefix, keep_log_files, int, unsigned char, 0) \
  FIELD(prefix, mode, int, int, 65535)

#define CAMBIUM_ROCKSDB_SIZE_APPROXIMATION_OPTIONS(FIELD, prefix)    \
  FIELD(prefix, files_size_error_margin, double, double, -1.0)       \
  FIELD(prefix, include_blob_files, unsigned char, unsigned char, 0) \
  FIELD(prefix, include_files, unsigned char, unsigned char, 1)      \
  FIELD(prefix, include_memtables, unsigned char, unsigned char, 0)

#define CAMBIUM_ROCKSDB_TRACE_OPTIONS(FIELD, prefix)                   \
  FIELD(prefix, filter, uint64_t, uint64_t, 0)                         \
  FIELD(prefix, max_trace_file_size, uint64_t, uint64_t, 68719476736)  \
  FIELD(prefix, preserve_write_order, unsigned char, unsigned char, 0) \
  FIELD(prefix, sampling_frequency, uint64_t, uint64_t, 1)

#define CAMBIUM_ROCKSDB_TRANSACTION_OPTIONS(FIELD, prefix)                                         \
  FIELD(prefix, commit_bypass_memtable, unsigned char, unsigned char, 0)                           \
  FIELD(prefix, deadlock_detect, unsigned char, unsigned char, 0)                                  \
  FIELD(prefix, deadlock_detect_depth, int64_t, int64_t, 50)                                       \
  FIELD(prefix, deadlock_timeout_us, int64_t, int64_t, 500)                                        \
  FIELD(prefix, expiration, int64_t, int64_t, -1)                                                  \
  FIELD(prefix, large_txn_commit_optimize_byte_threshold, uint64_t, uint64_t, 0)                   \
  FIELD(prefix, large_txn_commit_optimize_threshold, uint32_t, uint32_t, 0)                        \
  FIELD(prefix, lock_timeout, int64_t, int64_t, -1)                                                \
  FIELD(prefix, max_write_batch_size, size_t, size_t, 0)                                           \
  FIELD(prefix, set_snapshot, unsigned char, unsigned char, 0)                                     \
  FIELD(prefix, skip_concurrency_control, unsigned char, unsigned char, 0)                         \
  FIELD(prefix, skip_prepare, unsigned char, unsigned char, 1)                                     \
  FIELD(prefix, use_only_the_last_commit_time_batch_for_recovery, unsigned char, unsigned char, 0) \
  FIELD(prefix, write_batch_flush_threshold, int64_t, int64_t, -1)                                 \
  FIELD(prefix, write_batch_track_timestamp_size, unsigned char, unsigned char, 0)

#define CAMBIUM_ROCKSDB_TRANSACTIONDB_OPTIONS(FIELD, prefix)                                 \
  FIELD(prefix, default_lock_timeout, int64_t, int64_t, 1000)                                \
  FIELD(prefix, default_write_batch_flush_threshold, int64_t, int64_t, 0)                    \
  FIELD(prefix, enable_udt_validation, unsigned char, unsigned char, 1)                      \
  FIELD(prefix, max_num_deadlocks, uint32_t, uint32_t, 5)                                    \
  FIELD(prefix, max_num_locks, int64_t, int64_t, -1)                                         \
  FIELD(prefix, num_stripes, size_t, size_t, 16)                                             \
  FIELD(prefix, rollback_merge_operands, unsigned char, unsigned char, 0)                    \
  FIELD(prefix, skip_concurrency_control, unsigned char, unsigned char, 0)                   \
  FIELD(prefix, transaction_lock_timeout, int64_t, int64_t, 1000)                            \
  FIELD(prefix, txn_commit_bypass_memtable_threshold, uint32_t, uint32_t, ~std::uint32_t{0}) \
  FIELD(prefix, use_per_key_point_lock_mgr, unsigned char, unsigned char, 0)                 \
  FIELD(prefix, write_policy, int, int, 0)

#define CAMBIUM_ROCKSDB_UNIVERSAL_COMPACTION_OPTIONS(FIELD, prefix)   \
  FIELD(prefix, allow_trivial_move, unsigned char, unsigned char, 0)  \
  FIELD(prefix, compression_size_percent, int, int, -1)               \
  FIELD(prefix, incremental, unsigned char, unsigned char, 0)         \
  FIELD(prefix, max_merge_width, int, int, -1)                        \
  FIELD(prefix, max_read_amp, int, int, -1)                           \
  FIELD(prefix, max_size_amplification_percent, int, int, 200)        \
  FIELD(prefix, min_merge_width, int, int, 2)                         \
  FIELD(prefix, reduce_file_locking, unsigned char, unsigned char, 1) \
  FIELD(prefix, size_ratio, int, int, 1)                              \
  FIELD(prefix, stop_style, int, int, 1)

#define CAMBIUM_ROCKSDB_WAIT_FOR_COMPACT_OPTIONS(FIELD, prefix)  \
  FIELD(prefix, abort_on_pause, unsigned char, unsigned char, 0) \
  FIELD(prefix, close_db, unsigned char, unsigned char, 0)       \
  FIELD(prefix, flush, unsigned char, unsigned char, 0)          \
  FIELD(prefix, timeout, uint64_t, uint64_t, 0)                  \
  FIELD(prefix, wait_for_purge, unsigned char, unsigned char, 0)

#define CAMBIUM_ROCKSDB_WAL_READOPTIONS(FIELD, prefix) FIELD(prefix, verify_checksums, unsigned char, unsigned char, 1)

#define CAMBIUM_ROCKSDB_WRITEOPTIONS(FIELD, prefix)                              \
  FIELD(prefix, ignore_missing_column_families, unsigned char, unsigned char, 0) \
  FIELD(prefix, io_activity, int, int, 255)                                      \
  FIELD(prefix, low_pri, unsigned char, unsigned char, 0)                        \
  FIELD(prefix, memtable_insert_hint_per_batch, unsigned char, unsigned char, 0) \
  FIELD(prefix, no_slowdown, unsigned char, unsigned char, 0)                    \
  FIELD(prefix, protection_bytes_per_key, size_t, size_t, 0)                     \
  FIELD(prefix, rate_limiter_priority, int, int, 4)                              \
  FIELD(prefix, sync, unsigned char, unsigned char, 0)
