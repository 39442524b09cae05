// The types of RocksDB's c.h that are not opaque: a slice, and the functions that callers pass. A program is compiled
// with RocksDB's own c.h. If a build sets CAMBIUM_ROCKSDB_HEADER to the path of that header, in quotes, it is included
// here, and the compiler compares each function with its declaration.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef CAMBIUM_ROCKSDB_HEADER
#include CAMBIUM_ROCKSDB_HEADER
#else

struct rocksdb_backup_engine_info_t;
struct rocksdb_backup_engine_options_t;
struct rocksdb_backup_engine_t;
struct rocksdb_blob_file_addition_info_t;
struct rocksdb_blob_file_garbage_info_t;
struct rocksdb_block_based_table_options_t;
struct rocksdb_block_cache_trace_options_t;
struct rocksdb_block_cache_trace_writer_options_t;
struct rocksdb_cache_t;
struct rocksdb_checkpoint_t;
struct rocksdb_column_family_handle_t;
struct rocksdb_column_family_metadata_options_t;
struct rocksdb_column_family_metadata_t;
struct rocksdb_compaction_file_info_t;
struct rocksdb_compaction_job_stats_t;
struct rocksdb_compaction_options_t;
struct rocksdb_compaction_service_options_override_t;
struct rocksdb_compactionfilter_t;
struct rocksdb_compactionfiltercontext_t;
struct rocksdb_compactionfilterfactory_t;
struct rocksdb_compactionjobinfo_t;
struct rocksdb_compactionservice_jobinfo_t;
struct rocksdb_compactionservice_scheduleresponse_t;
struct rocksdb_compactionservice_t;
struct rocksdb_compactoptions_t;
struct rocksdb_comparator_t;
struct rocksdb_create_backup_options_t;
struct rocksdb_cuckoo_table_options_t;
struct rocksdb_dbpath_t;
struct rocksdb_env_t;
struct rocksdb_envoptions_t;
struct rocksdb_eventlistener_t;
struct rocksdb_export_import_files_metadata_t;
struct rocksdb_externalfileingestioninfo_t;
struct rocksdb_fifo_compaction_options_t;
struct rocksdb_file_checksum_gen_factory_t;
struct rocksdb_filterpolicy_t;
struct rocksdb_flushjobinfo_t;
struct rocksdb_flushoptions_t;
struct rocksdb_flushwaloptions_t;
struct rocksdb_hyper_clock_cache_options_t;
struct rocksdb_import_column_family_options_t;
struct rocksdb_ingestexternalfileoptions_t;
struct rocksdb_iterator_t;
struct rocksdb_level_metadata_t;
struct rocksdb_livefile_t;
struct rocksdb_livefiles_storage_info_options_t;
struct rocksdb_livefiles_storage_info_t;
struct rocksdb_livefiles_t;
struct rocksdb_logger_t;
struct rocksdb_lru_cache_options_t;
struct rocksdb_memory_allocator_t;
struct rocksdb_memory_consumers_t;
struct rocksdb_memory_usage_t;
struct rocksdb_memtableinfo_t;
struct rocksdb_mergeoperator_t;
struct rocksdb_open_and_compact_options_t;
struct rocksdb_optimistictransaction_options_t;
struct rocksdb_optimistictransactiondb_lock_buckets_t;
struct rocksdb_optimistictransactiondb_options_t;
struct rocksdb_optimistictransactiondb_t;
struct rocksdb_options_t;
struct rocksdb_perfcontext_t;
struct rocksdb_pinnable_handle_t;
struct rocksdb_pinnableslice_t;
struct rocksdb_ratelimiter_t;
struct rocksdb_readoptions_t;
struct rocksdb_replay_options_t;
struct rocksdb_replayer_t;
struct rocksdb_restore_options_t;
struct rocksdb_size_approximation_options_t;
struct rocksdb_slicetransform_t;
struct rocksdb_snapshot_t;
struct rocksdb_sst_file_manager_t;
struct rocksdb_sst_file_metadata_t;
struct rocksdb_sst_partitioner_factory_t;
struct rocksdb_sstfilewriter_t;
struct rocksdb_statistics_histogram_data_t;
struct rocksdb_status_ptr_t;
struct rocksdb_subcompactionjobinfo_t;
struct rocksdb_t;
struct rocksdb_table_properties_collector_factory_t;
struct rocksdb_table_properties_t;
struct rocksdb_trace_options_t;
struct rocksdb_trace_reader_t;
struct rocksdb_transaction_options_t;
struct rocksdb_transaction_t;
struct rocksdb_transactiondb_options_t;
struct rocksdb_transactiondb_t;
struct rocksdb_universal_compaction_options_t;
struct rocksdb_wait_for_compact_options_t;
struct rocksdb_wal_file_t;
struct rocksdb_wal_files_t;
struct rocksdb_wal_iterator_t;
struct rocksdb_wal_readoptions_t;
struct rocksdb_walfilter_t;
struct rocksdb_write_buffer_manager_t;
struct rocksdb_writebatch_t;
struct rocksdb_writebatch_wi_t;
struct rocksdb_writeoptions_t;
struct rocksdb_writestallcondition_t;
struct rocksdb_writestallinfo_t;

struct rocksdb_slice_t {
  const char* data;
  std::size_t size;
};

using on_flush_begin_cb = void (*)(void*, rocksdb_t*, const rocksdb_flushjobinfo_t*);
using on_flush_completed_cb = void (*)(void*, rocksdb_t*, const rocksdb_flushjobinfo_t*);
using on_compaction_begin_cb = void (*)(void*, rocksdb_t*, const rocksdb_compactionjobinfo_t*);
using on_compaction_completed_cb = void (*)(void*, rocksdb_t*, const rocksdb_compactionjobinfo_t*);
using on_subcompaction_begin_cb = void (*)(void*, const rocksdb_subcompactionjobinfo_t*);
using on_subcompaction_completed_cb = void (*)(void*, const rocksdb_subcompactionjobinfo_t*);
using on_external_file_ingested_cb = void (*)(void*, rocksdb_t*, const rocksdb_externalfileingestioninfo_t*);
using on_background_error_cb = void (*)(void*, std::uint32_t, rocksdb_status_ptr_t*);
using on_stall_conditions_changed_cb = void (*)(void*, const rocksdb_writestallinfo_t*);
using on_memtable_sealed_cb = void (*)(void*, const rocksdb_memtableinfo_t*);

using rocksdb_create_backup_options_progress_cb = void (*)(void*);
using rocksdb_create_backup_options_exclude_files_cb = unsigned char (*)(void*, const char*, std::size_t);
using rocksdb_readoptions_table_filter_cb = unsigned char (*)(void*, const rocksdb_table_properties_t*);
using rocksdb_walfilter_column_family_log_number_map_cb = void (*)(void*, const std::uint32_t*, const std::uint64_t*,
                                                                   std::size_t, const char* const*, const std::size_t*,
                                                                   const std::uint32_t*, std::size_t);
using rocksdb_walfilter_log_record_found_cb = int (*)(void*, unsigned long long, const char*, std::size_t,
                                                      const rocksdb_writebatch_t*, rocksdb_writebatch_t*,
                                                      unsigned char*);
using rocksdb_compaction_service_schedule_cb =
    rocksdb_compactionservice_scheduleresponse_t* (*)(void*, const rocksdb_compactionservice_jobinfo_t*, const char*,
                                                      std::size_t);
using rocksdb_compaction_service_wait_cb = int (*)(void*, const char*, char**, std::size_t*);
using rocksdb_compaction_service_cancel_awaiting_jobs_cb = void (*)(void*);
using rocksdb_compaction_service_on_installation_cb = void (*)(void*, const char*, int);

#endif
