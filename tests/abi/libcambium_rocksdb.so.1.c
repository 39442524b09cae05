/* The functions of libcambium_rocksdb.so.1. Written by tools/check_abi.sh --renew. */
#include <stddef.h>
#include <stdint.h>

typedef struct rocksdb_backup_engine_info_t rocksdb_backup_engine_info_t;
typedef struct rocksdb_backup_engine_options_t rocksdb_backup_engine_options_t;
typedef struct rocksdb_backup_engine_t rocksdb_backup_engine_t;
typedef struct rocksdb_blob_file_addition_info_t rocksdb_blob_file_addition_info_t;
typedef struct rocksdb_blob_file_garbage_info_t rocksdb_blob_file_garbage_info_t;
typedef struct rocksdb_block_based_table_options_t rocksdb_block_based_table_options_t;
typedef struct rocksdb_block_cache_trace_options_t rocksdb_block_cache_trace_options_t;
typedef struct rocksdb_block_cache_trace_writer_options_t rocksdb_block_cache_trace_writer_options_t;
typedef struct rocksdb_cache_t rocksdb_cache_t;
typedef struct rocksdb_checkpoint_t rocksdb_checkpoint_t;
typedef struct rocksdb_column_family_handle_t rocksdb_column_family_handle_t;
typedef struct rocksdb_column_family_metadata_options_t rocksdb_column_family_metadata_options_t;
typedef struct rocksdb_column_family_metadata_t rocksdb_column_family_metadata_t;
typedef struct rocksdb_compaction_file_info_t rocksdb_compaction_file_info_t;
typedef struct rocksdb_compaction_job_stats_t rocksdb_compaction_job_stats_t;
typedef struct rocksdb_compaction_options_t rocksdb_compaction_options_t;
typedef struct rocksdb_compaction_service_options_override_t rocksdb_compaction_service_options_override_t;
typedef struct rocksdb_compactionfilter_t rocksdb_compactionfilter_t;
typedef struct rocksdb_compactionfiltercontext_t rocksdb_compactionfiltercontext_t;
typedef struct rocksdb_compactionfilterfactory_t rocksdb_compactionfilterfactory_t;
typedef struct rocksdb_compactionjobinfo_t rocksdb_compactionjobinfo_t;
typedef struct rocksdb_compactionservice_jobinfo_t rocksdb_compactionservice_jobinfo_t;
typedef struct rocksdb_compactionservice_scheduleresponse_t rocksdb_compactionservice_scheduleresponse_t;
typedef struct rocksdb_compactionservice_t rocksdb_compactionservice_t;
typedef struct rocksdb_compactoptions_t rocksdb_compactoptions_t;
typedef struct rocksdb_comparator_t rocksdb_comparator_t;
typedef struct rocksdb_create_backup_options_t rocksdb_create_backup_options_t;
typedef struct rocksdb_cuckoo_table_options_t rocksdb_cuckoo_table_options_t;
typedef struct rocksdb_dbpath_t rocksdb_dbpath_t;
typedef struct rocksdb_env_t rocksdb_env_t;
typedef struct rocksdb_envoptions_t rocksdb_envoptions_t;
typedef struct rocksdb_eventlistener_t rocksdb_eventlistener_t;
typedef struct rocksdb_export_import_files_metadata_t rocksdb_export_import_files_metadata_t;
typedef struct rocksdb_externalfileingestioninfo_t rocksdb_externalfileingestioninfo_t;
typedef struct rocksdb_fifo_compaction_options_t rocksdb_fifo_compaction_options_t;
typedef struct rocksdb_file_checksum_gen_factory_t rocksdb_file_checksum_gen_factory_t;
typedef struct rocksdb_filterpolicy_t rocksdb_filterpolicy_t;
typedef struct rocksdb_flushjobinfo_t rocksdb_flushjobinfo_t;
typedef struct rocksdb_flushoptions_t rocksdb_flushoptions_t;
typedef struct rocksdb_flushwaloptions_t rocksdb_flushwaloptions_t;
typedef struct rocksdb_hyper_clock_cache_options_t rocksdb_hyper_clock_cache_options_t;
typedef struct rocksdb_import_column_family_options_t rocksdb_import_column_family_options_t;
typedef struct rocksdb_ingestexternalfileoptions_t rocksdb_ingestexternalfileoptions_t;
typedef struct rocksdb_iterator_t rocksdb_iterator_t;
typedef struct rocksdb_level_metadata_t rocksdb_level_metadata_t;
typedef struct rocksdb_livefile_t rocksdb_livefile_t;
typedef struct rocksdb_livefiles_storage_info_options_t rocksdb_livefiles_storage_info_options_t;
typedef struct rocksdb_livefiles_storage_info_t rocksdb_livefiles_storage_info_t;
typedef struct rocksdb_livefiles_t rocksdb_livefiles_t;
typedef struct rocksdb_logger_t rocksdb_logger_t;
typedef struct rocksdb_lru_cache_options_t rocksdb_lru_cache_options_t;
typedef struct rocksdb_memory_allocator_t rocksdb_memory_allocator_t;
typedef struct rocksdb_memory_consumers_t rocksdb_memory_consumers_t;
typedef struct rocksdb_memory_usage_t rocksdb_memory_usage_t;
typedef struct rocksdb_memtableinfo_t rocksdb_memtableinfo_t;
typedef struct rocksdb_mergeoperator_t rocksdb_mergeoperator_t;
typedef struct rocksdb_open_and_compact_options_t rocksdb_open_and_compact_options_t;
typedef struct rocksdb_optimistictransaction_options_t rocksdb_optimistictransaction_options_t;
typedef struct rocksdb_optimistictransactiondb_lock_buckets_t rocksdb_optimistictransactiondb_lock_buckets_t;
typedef struct rocksdb_optimistictransactiondb_options_t rocksdb_optimistictransactiondb_options_t;
typedef struct rocksdb_optimistictransactiondb_t rocksdb_optimistictransactiondb_t;
typedef struct rocksdb_options_t rocksdb_options_t;
typedef struct rocksdb_perfcontext_t rocksdb_perfcontext_t;
typedef struct rocksdb_pinnable_handle_t rocksdb_pinnable_handle_t;
typedef struct rocksdb_pinnableslice_t rocksdb_pinnableslice_t;
typedef struct rocksdb_ratelimiter_t rocksdb_ratelimiter_t;
typedef struct rocksdb_readoptions_t rocksdb_readoptions_t;
typedef struct rocksdb_replay_options_t rocksdb_replay_options_t;
typedef struct rocksdb_replayer_t rocksdb_replayer_t;
typedef struct rocksdb_restore_options_t rocksdb_restore_options_t;
typedef struct rocksdb_size_approximation_options_t rocksdb_size_approximation_options_t;
typedef struct rocksdb_slice_t rocksdb_slice_t;
typedef struct rocksdb_slicetransform_t rocksdb_slicetransform_t;
typedef struct rocksdb_snapshot_t rocksdb_snapshot_t;
typedef struct rocksdb_sst_file_manager_t rocksdb_sst_file_manager_t;
typedef struct rocksdb_sst_file_metadata_t rocksdb_sst_file_metadata_t;
typedef struct rocksdb_sst_partitioner_factory_t rocksdb_sst_partitioner_factory_t;
typedef struct rocksdb_sstfilewriter_t rocksdb_sstfilewriter_t;
typedef struct rocksdb_statistics_histogram_data_t rocksdb_statistics_histogram_data_t;
typedef struct rocksdb_status_ptr_t rocksdb_status_ptr_t;
typedef struct rocksdb_subcompactionjobinfo_t rocksdb_subcompactionjobinfo_t;
typedef struct rocksdb_t rocksdb_t;
typedef struct rocksdb_table_properties_collector_factory_t rocksdb_table_properties_collector_factory_t;
typedef struct rocksdb_table_properties_t rocksdb_table_properties_t;
typedef struct rocksdb_trace_options_t rocksdb_trace_options_t;
typedef struct rocksdb_trace_reader_t rocksdb_trace_reader_t;
typedef struct rocksdb_transaction_options_t rocksdb_transaction_options_t;
typedef struct rocksdb_transaction_t rocksdb_transaction_t;
typedef struct rocksdb_transactiondb_options_t rocksdb_transactiondb_options_t;
typedef struct rocksdb_transactiondb_t rocksdb_transactiondb_t;
typedef struct rocksdb_universal_compaction_options_t rocksdb_universal_compaction_options_t;
typedef struct rocksdb_wait_for_compact_options_t rocksdb_wait_for_compact_options_t;
typedef struct rocksdb_wal_file_t rocksdb_wal_file_t;
typedef struct rocksdb_wal_files_t rocksdb_wal_files_t;
typedef struct rocksdb_wal_iterator_t rocksdb_wal_iterator_t;
typedef struct rocksdb_wal_readoptions_t rocksdb_wal_readoptions_t;
typedef struct rocksdb_walfilter_t rocksdb_walfilter_t;
typedef struct rocksdb_write_buffer_manager_t rocksdb_write_buffer_manager_t;
typedef struct rocksdb_writebatch_t rocksdb_writebatch_t;
typedef struct rocksdb_writebatch_wi_t rocksdb_writebatch_wi_t;
typedef struct rocksdb_writeoptions_t rocksdb_writeoptions_t;
typedef struct rocksdb_writestallcondition_t rocksdb_writestallcondition_t;
typedef struct rocksdb_writestallinfo_t rocksdb_writestallinfo_t;
struct rocksdb_slice_t {
  const char *data;
  size_t size;
};

rocksdb_memory_usage_t *rocksdb_approximate_memory_usage_create(rocksdb_memory_consumers_t *, char **);
void rocksdb_approximate_memory_usage_destroy(rocksdb_memory_usage_t *);
uint64_t rocksdb_approximate_memory_usage_get_cache_total(rocksdb_memory_usage_t *);
uint64_t rocksdb_approximate_memory_usage_get_mem_table_readers_total(rocksdb_memory_usage_t *);
uint64_t rocksdb_approximate_memory_usage_get_mem_table_total(rocksdb_memory_usage_t *);
uint64_t rocksdb_approximate_memory_usage_get_mem_table_unflushed(rocksdb_memory_usage_t *);
void rocksdb_approximate_sizes(rocksdb_t *, int, const char *const *, const size_t *, const char *const *, const size_t
    *, uint64_t *, char **);
void rocksdb_approximate_sizes_cf(rocksdb_t *, rocksdb_column_family_handle_t *, int, const char *const *, const size_t
    *, const char *const *, const size_t *, uint64_t *, char **);
void rocksdb_approximate_sizes_cf_with_flags(rocksdb_t *, rocksdb_column_family_handle_t *, int, const char *const *,
    const size_t *, const char *const *, const size_t *, uint8_t, uint64_t *, char **);
void rocksdb_approximate_sizes_cf_with_options(rocksdb_t *, rocksdb_column_family_handle_t *, const
    rocksdb_size_approximation_options_t *, int, const char *const *, const size_t *, const char *const *, const size_t
    *, uint64_t *, char **);
void rocksdb_approximate_sizes_with_options(rocksdb_t *, const rocksdb_size_approximation_options_t *, int, const char
    *const *, const size_t *, const char *const *, const size_t *, uint64_t *, char **);
void rocksdb_backup_engine_close(rocksdb_backup_engine_t *);
void rocksdb_backup_engine_create_new_backup(rocksdb_backup_engine_t *, rocksdb_t *, char **);
void rocksdb_backup_engine_create_new_backup_flush(rocksdb_backup_engine_t *, rocksdb_t *, unsigned char, char **);
void rocksdb_backup_engine_create_new_backup_with_metadata(rocksdb_backup_engine_t *, rocksdb_t *, const
    rocksdb_create_backup_options_t *, const char *, size_t, uint32_t *, char **);
void rocksdb_backup_engine_create_new_backup_with_options(rocksdb_backup_engine_t *, rocksdb_t *, const
    rocksdb_create_backup_options_t *, uint32_t *, char **);
const rocksdb_backup_engine_info_t *rocksdb_backup_engine_get_backup_info(rocksdb_backup_engine_t *);
const char *rocksdb_backup_engine_info_app_metadata(const rocksdb_backup_engine_info_t *, int, size_t *);
uint32_t rocksdb_backup_engine_info_backup_id(const rocksdb_backup_engine_info_t *, int);
int rocksdb_backup_engine_info_count(const rocksdb_backup_engine_info_t *);
void rocksdb_backup_engine_info_destroy(const rocksdb_backup_engine_info_t *);
uint32_t rocksdb_backup_engine_info_number_files(const rocksdb_backup_engine_info_t *, int);
uint64_t rocksdb_backup_engine_info_size(const rocksdb_backup_engine_info_t *, int);
int64_t rocksdb_backup_engine_info_timestamp(const rocksdb_backup_engine_info_t *, int);
rocksdb_backup_engine_t *rocksdb_backup_engine_open(const rocksdb_options_t *, const char *, char **);
rocksdb_backup_engine_t *rocksdb_backup_engine_open_opts(const rocksdb_backup_engine_options_t *, rocksdb_env_t *, char
    **);
rocksdb_backup_engine_options_t *rocksdb_backup_engine_options_create(const char *);
void rocksdb_backup_engine_options_destroy(rocksdb_backup_engine_options_t *);
const char *rocksdb_backup_engine_options_get_backup_dir(rocksdb_backup_engine_options_t *, size_t *);
unsigned char rocksdb_backup_engine_options_get_backup_log_files(rocksdb_backup_engine_options_t *);
uint64_t rocksdb_backup_engine_options_get_backup_rate_limit(rocksdb_backup_engine_options_t *);
uint64_t rocksdb_backup_engine_options_get_callback_trigger_interval_size(rocksdb_backup_engine_options_t *);
unsigned char rocksdb_backup_engine_options_get_current_temperatures_override_manifest(rocksdb_backup_engine_options_t
    *);
unsigned char rocksdb_backup_engine_options_get_destroy_old_data(rocksdb_backup_engine_options_t *);
uint64_t rocksdb_backup_engine_options_get_io_buffer_size(rocksdb_backup_engine_options_t *);
int rocksdb_backup_engine_options_get_max_background_operations(rocksdb_backup_engine_options_t *);
int rocksdb_backup_engine_options_get_max_valid_backups_to_open(rocksdb_backup_engine_options_t *);
uint64_t rocksdb_backup_engine_options_get_restore_rate_limit(rocksdb_backup_engine_options_t *);
int rocksdb_backup_engine_options_get_schema_version(rocksdb_backup_engine_options_t *);
unsigned char rocksdb_backup_engine_options_get_share_files_with_checksum(rocksdb_backup_engine_options_t *);
int rocksdb_backup_engine_options_get_share_files_with_checksum_naming(rocksdb_backup_engine_options_t *);
unsigned char rocksdb_backup_engine_options_get_share_table_files(rocksdb_backup_engine_options_t *);
unsigned char rocksdb_backup_engine_options_get_sync(rocksdb_backup_engine_options_t *);
void rocksdb_backup_engine_options_set_backup_dir(rocksdb_backup_engine_options_t *, const char *);
void rocksdb_backup_engine_options_set_backup_log_files(rocksdb_backup_engine_options_t *, unsigned char);
void rocksdb_backup_engine_options_set_backup_rate_limit(rocksdb_backup_engine_options_t *, uint64_t);
void rocksdb_backup_engine_options_set_backup_rate_limiter(rocksdb_backup_engine_options_t *, rocksdb_ratelimiter_t *);
void rocksdb_backup_engine_options_set_callback_trigger_interval_size(rocksdb_backup_engine_options_t *, uint64_t);
void rocksdb_backup_engine_options_set_current_temperatures_override_manifest(rocksdb_backup_engine_options_t *,
    unsigned char);
void rocksdb_backup_engine_options_set_destroy_old_data(rocksdb_backup_engine_options_t *, unsigned char);
void rocksdb_backup_engine_options_set_env(rocksdb_backup_engine_options_t *, rocksdb_env_t *);
void rocksdb_backup_engine_options_set_io_buffer_size(rocksdb_backup_engine_options_t *, uint64_t);
void rocksdb_backup_engine_options_set_max_background_operations(rocksdb_backup_engine_options_t *, int);
void rocksdb_backup_engine_options_set_max_valid_backups_to_open(rocksdb_backup_engine_options_t *, int);
void rocksdb_backup_engine_options_set_restore_rate_limit(rocksdb_backup_engine_options_t *, uint64_t);
void rocksdb_backup_engine_options_set_restore_rate_limiter(rocksdb_backup_engine_options_t *, rocksdb_ratelimiter_t *);
void rocksdb_backup_engine_options_set_schema_version(rocksdb_backup_engine_options_t *, int);
void rocksdb_backup_engine_options_set_share_files_with_checksum(rocksdb_backup_engine_options_t *, unsigned char);
void rocksdb_backup_engine_options_set_share_files_with_checksum_naming(rocksdb_backup_engine_options_t *, int);
void rocksdb_backup_engine_options_set_share_table_files(rocksdb_backup_engine_options_t *, unsigned char);
void rocksdb_backup_engine_options_set_sync(rocksdb_backup_engine_options_t *, unsigned char);
void rocksdb_backup_engine_purge_old_backups(rocksdb_backup_engine_t *, uint32_t, char **);
void rocksdb_backup_engine_restore_db_from_backup(rocksdb_backup_engine_t *, const char *, const char *, const
    rocksdb_restore_options_t *, const uint32_t, char **);
void rocksdb_backup_engine_restore_db_from_latest_backup(rocksdb_backup_engine_t *, const char *, const char *, const
    rocksdb_restore_options_t *, char **);
void rocksdb_backup_engine_stop_backup(rocksdb_backup_engine_t *);
void rocksdb_backup_engine_verify_backup(rocksdb_backup_engine_t *, uint32_t, char **);
void rocksdb_batched_multi_get_cf(rocksdb_t *, const rocksdb_readoptions_t *, rocksdb_column_family_handle_t *, size_t,
    const char *const *, const size_t *, rocksdb_pinnableslice_t **, char **, const bool);
void rocksdb_batched_multi_get_cf_slice(rocksdb_t *, const rocksdb_readoptions_t *, rocksdb_column_family_handle_t *,
    size_t, const rocksdb_slice_t *, rocksdb_pinnableslice_t **, char **, const bool);
uint64_t rocksdb_blob_file_addition_info_blob_file_number(const rocksdb_blob_file_addition_info_t *);
const char *rocksdb_blob_file_addition_info_blob_file_path(const rocksdb_blob_file_addition_info_t *, size_t *);
uint64_t rocksdb_blob_file_addition_info_total_blob_bytes(const rocksdb_blob_file_addition_info_t *);
uint64_t rocksdb_blob_file_addition_info_total_blob_count(const rocksdb_blob_file_addition_info_t *);
uint64_t rocksdb_blob_file_garbage_info_blob_file_number(const rocksdb_blob_file_garbage_info_t *);
const char *rocksdb_blob_file_garbage_info_blob_file_path(const rocksdb_blob_file_garbage_info_t *, size_t *);
uint64_t rocksdb_blob_file_garbage_info_garbage_blob_bytes(const rocksdb_blob_file_garbage_info_t *);
uint64_t rocksdb_blob_file_garbage_info_garbage_blob_count(const rocksdb_blob_file_garbage_info_t *);
void rocksdb_block_based_options_clear_user_defined_index_factory(rocksdb_block_based_table_options_t *);
rocksdb_block_based_table_options_t *rocksdb_block_based_options_create(void);
void rocksdb_block_based_options_destroy(rocksdb_block_based_table_options_t *);
unsigned char rocksdb_block_based_options_get_block_align(rocksdb_block_based_table_options_t *);
int rocksdb_block_based_options_get_block_restart_interval(rocksdb_block_based_table_options_t *);
uint64_t rocksdb_block_based_options_get_block_size(rocksdb_block_based_table_options_t *);
int rocksdb_block_based_options_get_block_size_deviation(rocksdb_block_based_table_options_t *);
unsigned char rocksdb_block_based_options_get_cache_index_and_filter_blocks(rocksdb_block_based_table_options_t *);
unsigned char
    rocksdb_block_based_options_get_cache_index_and_filter_blocks_with_high_priority(rocksdb_block_based_table_options_t
    *);
int rocksdb_block_based_options_get_checksum(rocksdb_block_based_table_options_t *);
double rocksdb_block_based_options_get_data_block_hash_table_util_ratio(rocksdb_block_based_table_options_t *);
int rocksdb_block_based_options_get_data_block_index_type(rocksdb_block_based_table_options_t *);
unsigned char rocksdb_block_based_options_get_decouple_partitioned_filters(rocksdb_block_based_table_options_t *);
unsigned char rocksdb_block_based_options_get_detect_filter_construct_corruption(rocksdb_block_based_table_options_t *);
unsigned char rocksdb_block_based_options_get_enable_index_compression(rocksdb_block_based_table_options_t *);
unsigned char rocksdb_block_based_options_get_fail_if_no_udi_on_open(rocksdb_block_based_table_options_t *);
uint32_t rocksdb_block_based_options_get_format_version(rocksdb_block_based_table_options_t *);
int rocksdb_block_based_options_get_index_block_restart_interval(rocksdb_block_based_table_options_t *);
int rocksdb_block_based_options_get_index_block_search_type(rocksdb_block_based_table_options_t *);
int rocksdb_block_based_options_get_index_shortening(rocksdb_block_based_table_options_t *);
int rocksdb_block_based_options_get_index_type(rocksdb_block_based_table_options_t *);
size_t rocksdb_block_based_options_get_initial_auto_readahead_size(rocksdb_block_based_table_options_t *);
size_t rocksdb_block_based_options_get_max_auto_readahead_size(rocksdb_block_based_table_options_t *);
uint64_t rocksdb_block_based_options_get_metadata_block_size(rocksdb_block_based_table_options_t *);
unsigned char rocksdb_block_based_options_get_no_block_cache(rocksdb_block_based_table_options_t *);
uint64_t rocksdb_block_based_options_get_num_file_reads_for_auto_readahead(rocksdb_block_based_table_options_t *);
unsigned char rocksdb_block_based_options_get_optimize_filters_for_memory(rocksdb_block_based_table_options_t *);
unsigned char rocksdb_block_based_options_get_partition_filters(rocksdb_block_based_table_options_t *);
unsigned char
    rocksdb_block_based_options_get_pin_l0_filter_and_index_blocks_in_cache(rocksdb_block_based_table_options_t *);
unsigned char rocksdb_block_based_options_get_pin_top_level_index_and_filter(rocksdb_block_based_table_options_t *);
int rocksdb_block_based_options_get_prepopulate_block_cache(rocksdb_block_based_table_options_t *);
uint32_t rocksdb_block_based_options_get_read_amp_bytes_per_bit(rocksdb_block_based_table_options_t *);
unsigned char rocksdb_block_based_options_get_separate_key_value_in_data_block(rocksdb_block_based_table_options_t *);
size_t rocksdb_block_based_options_get_super_block_alignment_size(rocksdb_block_based_table_options_t *);
size_t rocksdb_block_based_options_get_super_block_alignment_space_overhead_ratio(rocksdb_block_based_table_options_t
    *);
double rocksdb_block_based_options_get_uniform_cv_threshold(rocksdb_block_based_table_options_t *);
unsigned char rocksdb_block_based_options_get_use_delta_encoding(rocksdb_block_based_table_options_t *);
unsigned char rocksdb_block_based_options_get_use_udi_as_primary_index(rocksdb_block_based_table_options_t *);
const char *rocksdb_block_based_options_get_user_defined_index_factory_name(const rocksdb_block_based_table_options_t *,
    size_t *);
unsigned char rocksdb_block_based_options_get_verify_compression(rocksdb_block_based_table_options_t *);
unsigned char rocksdb_block_based_options_get_whole_key_filtering(rocksdb_block_based_table_options_t *);
void rocksdb_block_based_options_set_block_align(rocksdb_block_based_table_options_t *, unsigned char);
void rocksdb_block_based_options_set_block_cache(rocksdb_block_based_table_options_t *, rocksdb_cache_t *);
void rocksdb_block_based_options_set_block_restart_interval(rocksdb_block_based_table_options_t *, int);
void rocksdb_block_based_options_set_block_size(rocksdb_block_based_table_options_t *, size_t);
void rocksdb_block_based_options_set_block_size_deviation(rocksdb_block_based_table_options_t *, int);
void rocksdb_block_based_options_set_cache_index_and_filter_blocks(rocksdb_block_based_table_options_t *, unsigned
    char);
void
    rocksdb_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(rocksdb_block_based_table_options_t
    *, unsigned char);
void rocksdb_block_based_options_set_checksum(rocksdb_block_based_table_options_t *, char);
void rocksdb_block_based_options_set_data_block_hash_ratio(rocksdb_block_based_table_options_t *, double);
void rocksdb_block_based_options_set_data_block_hash_table_util_ratio(rocksdb_block_based_table_options_t *, double);
void rocksdb_block_based_options_set_data_block_index_type(rocksdb_block_based_table_options_t *, int);
void rocksdb_block_based_options_set_decouple_partitioned_filters(rocksdb_block_based_table_options_t *, unsigned char);
void rocksdb_block_based_options_set_detect_filter_construct_corruption(rocksdb_block_based_table_options_t *, unsigned
    char);
void rocksdb_block_based_options_set_enable_index_compression(rocksdb_block_based_table_options_t *, unsigned char);
void rocksdb_block_based_options_set_fail_if_no_udi_on_open(rocksdb_block_based_table_options_t *, unsigned char);
void rocksdb_block_based_options_set_filter_policy(rocksdb_block_based_table_options_t *, rocksdb_filterpolicy_t *);
void rocksdb_block_based_options_set_format_version(rocksdb_block_based_table_options_t *, int);
void rocksdb_block_based_options_set_index_block_restart_interval(rocksdb_block_based_table_options_t *, int);
void rocksdb_block_based_options_set_index_block_search_type(rocksdb_block_based_table_options_t *, int);
void rocksdb_block_based_options_set_index_shortening(rocksdb_block_based_table_options_t *, int);
void rocksdb_block_based_options_set_index_type(rocksdb_block_based_table_options_t *, int);
void rocksdb_block_based_options_set_initial_auto_readahead_size(rocksdb_block_based_table_options_t *, size_t);
void rocksdb_block_based_options_set_max_auto_readahead_size(rocksdb_block_based_table_options_t *, size_t);
void rocksdb_block_based_options_set_metadata_block_size(rocksdb_block_based_table_options_t *, uint64_t);
void rocksdb_block_based_options_set_no_block_cache(rocksdb_block_based_table_options_t *, unsigned char);
void rocksdb_block_based_options_set_num_file_reads_for_auto_readahead(rocksdb_block_based_table_options_t *, uint64_t);
void rocksdb_block_based_options_set_optimize_filters_for_memory(rocksdb_block_based_table_options_t *, unsigned char);
void rocksdb_block_based_options_set_partition_filters(rocksdb_block_based_table_options_t *, unsigned char);
void rocksdb_block_based_options_set_partition_pinning_tier(rocksdb_block_based_table_options_t *, int);
void rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(rocksdb_block_based_table_options_t *,
    unsigned char);
void rocksdb_block_based_options_set_pin_top_level_index_and_filter(rocksdb_block_based_table_options_t *, unsigned
    char);
void rocksdb_block_based_options_set_prepopulate_block_cache(rocksdb_block_based_table_options_t *, int);
void rocksdb_block_based_options_set_read_amp_bytes_per_bit(rocksdb_block_based_table_options_t *, uint32_t);
void rocksdb_block_based_options_set_separate_key_value_in_data_block(rocksdb_block_based_table_options_t *, unsigned
    char);
void rocksdb_block_based_options_set_super_block_alignment_size(rocksdb_block_based_table_options_t *, size_t);
void rocksdb_block_based_options_set_super_block_alignment_space_overhead_ratio(rocksdb_block_based_table_options_t *,
    size_t);
void rocksdb_block_based_options_set_top_level_index_pinning_tier(rocksdb_block_based_table_options_t *, int);
void rocksdb_block_based_options_set_uniform_cv_threshold(rocksdb_block_based_table_options_t *, double);
void rocksdb_block_based_options_set_unpartitioned_pinning_tier(rocksdb_block_based_table_options_t *, int);
void rocksdb_block_based_options_set_use_delta_encoding(rocksdb_block_based_table_options_t *, unsigned char);
void rocksdb_block_based_options_set_use_udi_as_primary_index(rocksdb_block_based_table_options_t *, unsigned char);
void rocksdb_block_based_options_set_user_defined_index_factory_from_string(rocksdb_block_based_table_options_t *, const
    char *, size_t, char **);
void rocksdb_block_based_options_set_verify_compression(rocksdb_block_based_table_options_t *, unsigned char);
void rocksdb_block_based_options_set_whole_key_filtering(rocksdb_block_based_table_options_t *, unsigned char);
rocksdb_block_cache_trace_options_t *rocksdb_block_cache_trace_options_create(void);
void rocksdb_block_cache_trace_options_destroy(rocksdb_block_cache_trace_options_t *);
uint64_t rocksdb_block_cache_trace_options_get_sampling_frequency(rocksdb_block_cache_trace_options_t *);
void rocksdb_block_cache_trace_options_set_sampling_frequency(rocksdb_block_cache_trace_options_t *, uint64_t);
rocksdb_block_cache_trace_writer_options_t *rocksdb_block_cache_trace_writer_options_create(void);
void rocksdb_block_cache_trace_writer_options_destroy(rocksdb_block_cache_trace_writer_options_t *);
uint64_t rocksdb_block_cache_trace_writer_options_get_max_trace_file_size(rocksdb_block_cache_trace_writer_options_t *);
void rocksdb_block_cache_trace_writer_options_set_max_trace_file_size(rocksdb_block_cache_trace_writer_options_t *,
    uint64_t);
rocksdb_cache_t *rocksdb_cache_create_hyper_clock(size_t, size_t);
rocksdb_cache_t *rocksdb_cache_create_hyper_clock_opts(const rocksdb_hyper_clock_cache_options_t *);
rocksdb_cache_t *rocksdb_cache_create_lru(size_t);
rocksdb_cache_t *rocksdb_cache_create_lru_opts(const rocksdb_lru_cache_options_t *);
rocksdb_cache_t *rocksdb_cache_create_lru_with_strict_capacity_limit(size_t);
void rocksdb_cache_destroy(rocksdb_cache_t *);
void rocksdb_cache_disown_data(rocksdb_cache_t *);
size_t rocksdb_cache_get_capacity(const rocksdb_cache_t *);
size_t rocksdb_cache_get_occupancy_count(const rocksdb_cache_t *);
size_t rocksdb_cache_get_pinned_usage(const rocksdb_cache_t *);
size_t rocksdb_cache_get_table_address_count(const rocksdb_cache_t *);
size_t rocksdb_cache_get_usage(const rocksdb_cache_t *);
void rocksdb_cache_set_capacity(rocksdb_cache_t *, size_t);
void rocksdb_cancel_all_background_work(rocksdb_t *, unsigned char);
void rocksdb_checkpoint_create(rocksdb_checkpoint_t *, const char *, uint64_t, char **);
rocksdb_export_import_files_metadata_t *rocksdb_checkpoint_export_column_family(rocksdb_checkpoint_t *,
    rocksdb_column_family_handle_t *, const char *, char **);
rocksdb_checkpoint_t *rocksdb_checkpoint_object_create(rocksdb_t *, char **);
void rocksdb_checkpoint_object_destroy(rocksdb_checkpoint_t *);
void rocksdb_close(rocksdb_t *);
void rocksdb_column_family_handle_destroy(rocksdb_column_family_handle_t *);
uint32_t rocksdb_column_family_handle_get_id(rocksdb_column_family_handle_t *);
char *rocksdb_column_family_handle_get_name(rocksdb_column_family_handle_t *, size_t *);
void rocksdb_column_family_metadata_destroy(rocksdb_column_family_metadata_t *);
size_t rocksdb_column_family_metadata_get_file_count(rocksdb_column_family_metadata_t *);
size_t rocksdb_column_family_metadata_get_level_count(rocksdb_column_family_metadata_t *);
rocksdb_level_metadata_t *rocksdb_column_family_metadata_get_level_metadata(rocksdb_column_family_metadata_t *, size_t);
char *rocksdb_column_family_metadata_get_name(rocksdb_column_family_metadata_t *);
uint64_t rocksdb_column_family_metadata_get_size(rocksdb_column_family_metadata_t *);
rocksdb_column_family_metadata_options_t *rocksdb_column_family_metadata_options_create(void);
void rocksdb_column_family_metadata_options_destroy(rocksdb_column_family_metadata_options_t *);
const char *rocksdb_column_family_metadata_options_get_end_key(const rocksdb_column_family_metadata_options_t *, size_t
    *);
int rocksdb_column_family_metadata_options_get_level(rocksdb_column_family_metadata_options_t *);
const char *rocksdb_column_family_metadata_options_get_start_key(const rocksdb_column_family_metadata_options_t *,
    size_t *);
void rocksdb_column_family_metadata_options_set_end_key(rocksdb_column_family_metadata_options_t *, const char *,
    size_t);
void rocksdb_column_family_metadata_options_set_level(rocksdb_column_family_metadata_options_t *, int);
void rocksdb_column_family_metadata_options_set_start_key(rocksdb_column_family_metadata_options_t *, const char *,
    size_t);
void rocksdb_compact_files(rocksdb_t *, const rocksdb_compaction_options_t *, const char *const *, size_t, int, int,
    char ***, size_t *, rocksdb_compactionjobinfo_t *, char **);
void rocksdb_compact_files_cf(rocksdb_t *, rocksdb_column_family_handle_t *, const rocksdb_compaction_options_t *, const
    char *const *, size_t, int, int, char ***, size_t *, rocksdb_compactionjobinfo_t *, char **);
void rocksdb_compact_files_output_file_names_destroy(char **, size_t);
void rocksdb_compact_range(rocksdb_t *, const char *, size_t, const char *, size_t);
void rocksdb_compact_range_cf(rocksdb_t *, rocksdb_column_family_handle_t *, const char *, size_t, const char *,
    size_t);
void rocksdb_compact_range_cf_opt(rocksdb_t *, rocksdb_column_family_handle_t *, rocksdb_compactoptions_t *, const char
    *, size_t, const char *, size_t);
void rocksdb_compact_range_opt(rocksdb_t *, rocksdb_compactoptions_t *, const char *, size_t, const char *, size_t);
uint64_t rocksdb_compaction_file_info_file_number(const rocksdb_compaction_file_info_t *);
int rocksdb_compaction_file_info_level(const rocksdb_compaction_file_info_t *);
uint64_t rocksdb_compaction_file_info_oldest_blob_file_number(const rocksdb_compaction_file_info_t *);
uint64_t rocksdb_compaction_job_stats_cpu_micros(const rocksdb_compaction_job_stats_t *);
uint64_t rocksdb_compaction_job_stats_elapsed_micros(const rocksdb_compaction_job_stats_t *);
uint64_t rocksdb_compaction_job_stats_file_fsync_nanos(const rocksdb_compaction_job_stats_t *);
uint64_t rocksdb_compaction_job_stats_file_prepare_write_nanos(const rocksdb_compaction_job_stats_t *);
uint64_t rocksdb_compaction_job_stats_file_range_sync_nanos(const rocksdb_compaction_job_stats_t *);
uint64_t rocksdb_compaction_job_stats_file_write_nanos(const rocksdb_compaction_job_stats_t *);
unsigned char rocksdb_compaction_job_stats_has_accurate_num_input_records(const rocksdb_compaction_job_stats_t *);
unsigned char rocksdb_compaction_job_stats_is_full_compaction(const rocksdb_compaction_job_stats_t *);
unsigned char rocksdb_compaction_job_stats_is_manual_compaction(const rocksdb_compaction_job_stats_t *);
unsigned char rocksdb_compaction_job_stats_is_remote_compaction(const rocksdb_compaction_job_stats_t *);
const char *rocksdb_compaction_job_stats_largest_output_key_prefix(const rocksdb_compaction_job_stats_t *, size_t *);
uint64_t rocksdb_compaction_job_stats_num_blobs_read(const rocksdb_compaction_job_stats_t *);
uint64_t rocksdb_compaction_job_stats_num_corrupt_keys(const rocksdb_compaction_job_stats_t *);
uint64_t rocksdb_compaction_job_stats_num_expired_deletion_records(const rocksdb_compaction_job_stats_t *);
size_t rocksdb_compaction_job_stats_num_filtered_input_files(const rocksdb_compaction_job_stats_t *);
size_t rocksdb_compaction_job_stats_num_filtered_input_files_at_output_level(const rocksdb_compaction_job_stats_t *);
uint64_t rocksdb_compaction_job_stats_num_input_deletion_records(const rocksdb_compaction_job_stats_t *);
size_t rocksdb_compaction_job_stats_num_input_files(const rocksdb_compaction_job_stats_t *);
size_t rocksdb_compaction_job_stats_num_input_files_at_output_level(const rocksdb_compaction_job_stats_t *);
size_t rocksdb_compaction_job_stats_num_input_files_trivially_moved(const rocksdb_compaction_job_stats_t *);
uint64_t rocksdb_compaction_job_stats_num_input_records(const rocksdb_compaction_job_stats_t *);
size_t rocksdb_compaction_job_stats_num_output_files(const rocksdb_compaction_job_stats_t *);
size_t rocksdb_compaction_job_stats_num_output_files_blob(const rocksdb_compaction_job_stats_t *);
uint64_t rocksdb_compaction_job_stats_num_output_records(const rocksdb_compaction_job_stats_t *);
uint64_t rocksdb_compaction_job_stats_num_records_replaced(const rocksdb_compaction_job_stats_t *);
uint64_t rocksdb_compaction_job_stats_num_single_del_fallthru(const rocksdb_compaction_job_stats_t *);
uint64_t rocksdb_compaction_job_stats_num_single_del_mismatch(const rocksdb_compaction_job_stats_t *);
const char *rocksdb_compaction_job_stats_smallest_output_key_prefix(const rocksdb_compaction_job_stats_t *, size_t *);
uint64_t rocksdb_compaction_job_stats_total_blob_bytes_read(const rocksdb_compaction_job_stats_t *);
uint64_t rocksdb_compaction_job_stats_total_input_bytes(const rocksdb_compaction_job_stats_t *);
uint64_t rocksdb_compaction_job_stats_total_input_raw_key_bytes(const rocksdb_compaction_job_stats_t *);
uint64_t rocksdb_compaction_job_stats_total_input_raw_value_bytes(const rocksdb_compaction_job_stats_t *);
uint64_t rocksdb_compaction_job_stats_total_output_bytes(const rocksdb_compaction_job_stats_t *);
uint64_t rocksdb_compaction_job_stats_total_output_bytes_blob(const rocksdb_compaction_job_stats_t *);
uint64_t rocksdb_compaction_job_stats_total_skipped_input_bytes(const rocksdb_compaction_job_stats_t *);
unsigned char *rocksdb_compaction_options_canceled_create(void);
void rocksdb_compaction_options_canceled_destroy(unsigned char *);
void rocksdb_compaction_options_canceled_set(unsigned char *, unsigned char);
rocksdb_compaction_options_t *rocksdb_compaction_options_create(void);
void rocksdb_compaction_options_destroy(rocksdb_compaction_options_t *);
unsigned char rocksdb_compaction_options_get_allow_trivial_move(rocksdb_compaction_options_t *);
int rocksdb_compaction_options_get_compression(rocksdb_compaction_options_t *);
uint32_t rocksdb_compaction_options_get_max_subcompactions(rocksdb_compaction_options_t *);
uint64_t rocksdb_compaction_options_get_output_file_size_limit(rocksdb_compaction_options_t *);
int rocksdb_compaction_options_get_output_temperature_override(rocksdb_compaction_options_t *);
void rocksdb_compaction_options_set_allow_trivial_move(rocksdb_compaction_options_t *, unsigned char);
void rocksdb_compaction_options_set_canceled(rocksdb_compaction_options_t *, unsigned char *);
void rocksdb_compaction_options_set_compression(rocksdb_compaction_options_t *, int);
void rocksdb_compaction_options_set_max_subcompactions(rocksdb_compaction_options_t *, uint32_t);
void rocksdb_compaction_options_set_output_file_size_limit(rocksdb_compaction_options_t *, uint64_t);
void rocksdb_compaction_options_set_output_temperature_override(rocksdb_compaction_options_t *, int);
void rocksdb_compaction_service_options_override_add_event_listener(rocksdb_compaction_service_options_override_t *,
    rocksdb_eventlistener_t *);
void
    rocksdb_compaction_service_options_override_add_table_properties_collector_factory(rocksdb_compaction_service_options_override_t
    *, rocksdb_table_properties_collector_factory_t *);
rocksdb_compaction_service_options_override_t *rocksdb_compaction_service_options_override_create(void);
rocksdb_compaction_service_options_override_t
    *rocksdb_compaction_service_options_override_create_from_options(rocksdb_options_t *);
void rocksdb_compaction_service_options_override_destroy(rocksdb_compaction_service_options_override_t *);
void
    rocksdb_compaction_service_options_override_set_block_based_table_factory(rocksdb_compaction_service_options_override_t
    *, rocksdb_block_based_table_options_t *);
void rocksdb_compaction_service_options_override_set_compaction_filter(rocksdb_compaction_service_options_override_t *,
    rocksdb_compactionfilter_t *);
void
    rocksdb_compaction_service_options_override_set_compaction_filter_factory(rocksdb_compaction_service_options_override_t
    *, rocksdb_compactionfilterfactory_t *);
void rocksdb_compaction_service_options_override_set_comparator(rocksdb_compaction_service_options_override_t *,
    rocksdb_comparator_t *);
void rocksdb_compaction_service_options_override_set_cuckoo_table_factory(rocksdb_compaction_service_options_override_t
    *, rocksdb_cuckoo_table_options_t *);
void rocksdb_compaction_service_options_override_set_env(rocksdb_compaction_service_options_override_t *, rocksdb_env_t
    *);
void
    rocksdb_compaction_service_options_override_set_file_checksum_gen_factory(rocksdb_compaction_service_options_override_t
    *, rocksdb_file_checksum_gen_factory_t *);
void rocksdb_compaction_service_options_override_set_info_log(rocksdb_compaction_service_options_override_t *,
    rocksdb_logger_t *);
void rocksdb_compaction_service_options_override_set_merge_operator(rocksdb_compaction_service_options_override_t *,
    rocksdb_mergeoperator_t *);
void rocksdb_compaction_service_options_override_set_option(rocksdb_compaction_service_options_override_t *, const char
    *, const char *);
void rocksdb_compaction_service_options_override_set_prefix_extractor(rocksdb_compaction_service_options_override_t *,
    rocksdb_slicetransform_t *);
void
    rocksdb_compaction_service_options_override_set_sst_partitioner_factory(rocksdb_compaction_service_options_override_t
    *, rocksdb_sst_partitioner_factory_t *);
void rocksdb_compaction_service_options_override_set_statistics(rocksdb_compaction_service_options_override_t *,
    rocksdb_options_t *);
rocksdb_compactionfilter_t *rocksdb_compactionfilter_create(void *, void (*)(void *), unsigned char (*)(void *, int,
    const char *, size_t, const char *, size_t, char **, size_t *, unsigned char *), const char *(*)(void *));
void rocksdb_compactionfilter_destroy(rocksdb_compactionfilter_t *);
void rocksdb_compactionfilter_set_ignore_snapshots(rocksdb_compactionfilter_t *, unsigned char);
unsigned char rocksdb_compactionfiltercontext_is_full_compaction(rocksdb_compactionfiltercontext_t *);
unsigned char rocksdb_compactionfiltercontext_is_manual_compaction(rocksdb_compactionfiltercontext_t *);
rocksdb_compactionfilterfactory_t *rocksdb_compactionfilterfactory_create(void *, void (*)(void *),
    rocksdb_compactionfilter_t *(*)(void *, rocksdb_compactionfiltercontext_t *), const char *(*)(void *));
void rocksdb_compactionfilterfactory_destroy(rocksdb_compactionfilterfactory_t *);
unsigned char rocksdb_compactionjobinfo_aborted(const rocksdb_compactionjobinfo_t *);
int rocksdb_compactionjobinfo_base_input_level(const rocksdb_compactionjobinfo_t *);
uint32_t rocksdb_compactionjobinfo_blob_compression_type(const rocksdb_compactionjobinfo_t *);
const rocksdb_blob_file_addition_info_t *rocksdb_compactionjobinfo_blob_file_addition_info_at(const
    rocksdb_compactionjobinfo_t *, size_t);
size_t rocksdb_compactionjobinfo_blob_file_addition_infos_count(const rocksdb_compactionjobinfo_t *);
const rocksdb_blob_file_garbage_info_t *rocksdb_compactionjobinfo_blob_file_garbage_info_at(const
    rocksdb_compactionjobinfo_t *, size_t);
size_t rocksdb_compactionjobinfo_blob_file_garbage_infos_count(const rocksdb_compactionjobinfo_t *);
uint32_t rocksdb_compactionjobinfo_cf_id(const rocksdb_compactionjobinfo_t *);
const char *rocksdb_compactionjobinfo_cf_name(const rocksdb_compactionjobinfo_t *, size_t *);
uint32_t rocksdb_compactionjobinfo_compaction_reason(const rocksdb_compactionjobinfo_t *);
uint32_t rocksdb_compactionjobinfo_compression(const rocksdb_compactionjobinfo_t *);
rocksdb_compactionjobinfo_t *rocksdb_compactionjobinfo_create(void);
void rocksdb_compactionjobinfo_destroy(rocksdb_compactionjobinfo_t *);
uint64_t rocksdb_compactionjobinfo_elapsed_micros(const rocksdb_compactionjobinfo_t *);
const char *rocksdb_compactionjobinfo_input_file_at(const rocksdb_compactionjobinfo_t *, size_t, size_t *);
const rocksdb_compaction_file_info_t *rocksdb_compactionjobinfo_input_file_info_at(const rocksdb_compactionjobinfo_t *,
    size_t);
size_t rocksdb_compactionjobinfo_input_file_infos_count(const rocksdb_compactionjobinfo_t *);
size_t rocksdb_compactionjobinfo_input_files_count(const rocksdb_compactionjobinfo_t *);
uint64_t rocksdb_compactionjobinfo_input_records(const rocksdb_compactionjobinfo_t *);
int rocksdb_compactionjobinfo_job_id(const rocksdb_compactionjobinfo_t *);
uint64_t rocksdb_compactionjobinfo_num_corrupt_keys(const rocksdb_compactionjobinfo_t *);
size_t rocksdb_compactionjobinfo_num_input_files(const rocksdb_compactionjobinfo_t *);
size_t rocksdb_compactionjobinfo_num_input_files_at_output_level(const rocksdb_compactionjobinfo_t *);
int rocksdb_compactionjobinfo_num_l0_files(const rocksdb_compactionjobinfo_t *);
const char *rocksdb_compactionjobinfo_output_file_at(const rocksdb_compactionjobinfo_t *, size_t, size_t *);
const rocksdb_compaction_file_info_t *rocksdb_compactionjobinfo_output_file_info_at(const rocksdb_compactionjobinfo_t *,
    size_t);
size_t rocksdb_compactionjobinfo_output_file_infos_count(const rocksdb_compactionjobinfo_t *);
size_t rocksdb_compactionjobinfo_output_files_count(const rocksdb_compactionjobinfo_t *);
int rocksdb_compactionjobinfo_output_level(const rocksdb_compactionjobinfo_t *);
uint64_t rocksdb_compactionjobinfo_output_records(const rocksdb_compactionjobinfo_t *);
const rocksdb_compaction_job_stats_t *rocksdb_compactionjobinfo_stats(const rocksdb_compactionjobinfo_t *);
void rocksdb_compactionjobinfo_status(const rocksdb_compactionjobinfo_t *, char **);
size_t rocksdb_compactionjobinfo_table_properties_count(const rocksdb_compactionjobinfo_t *);
const rocksdb_table_properties_t *rocksdb_compactionjobinfo_table_properties_for_file(const rocksdb_compactionjobinfo_t
    *, const char *, size_t);
const char *rocksdb_compactionjobinfo_table_properties_key_at(const rocksdb_compactionjobinfo_t *, size_t, size_t *);
const rocksdb_table_properties_t *rocksdb_compactionjobinfo_table_properties_value_at(const rocksdb_compactionjobinfo_t
    *, size_t);
uint64_t rocksdb_compactionjobinfo_thread_id(const rocksdb_compactionjobinfo_t *);
uint64_t rocksdb_compactionjobinfo_total_input_bytes(const rocksdb_compactionjobinfo_t *);
uint64_t rocksdb_compactionjobinfo_total_output_bytes(const rocksdb_compactionjobinfo_t *);
rocksdb_compactionservice_t *rocksdb_compactionservice_create(void *, void (*)(void *),
    rocksdb_compactionservice_scheduleresponse_t *(*)(void *, const rocksdb_compactionservice_jobinfo_t *, const char *,
    size_t), const char *, int (*)(void *, const char *, char **, size_t *), void (*)(void *), void (*)(void *, const
    char *, int));
int rocksdb_compactionservice_jobinfo_t_get_base_input_level(const rocksdb_compactionservice_jobinfo_t *);
uint32_t rocksdb_compactionservice_jobinfo_t_get_cf_id(const rocksdb_compactionservice_jobinfo_t *);
const char *rocksdb_compactionservice_jobinfo_t_get_cf_name(const rocksdb_compactionservice_jobinfo_t *, size_t *);
int rocksdb_compactionservice_jobinfo_t_get_compaction_reason(const rocksdb_compactionservice_jobinfo_t *);
const char *rocksdb_compactionservice_jobinfo_t_get_db_id(const rocksdb_compactionservice_jobinfo_t *, size_t *);
const char *rocksdb_compactionservice_jobinfo_t_get_db_name(const rocksdb_compactionservice_jobinfo_t *, size_t *);
const char *rocksdb_compactionservice_jobinfo_t_get_db_session_id(const rocksdb_compactionservice_jobinfo_t *, size_t
    *);
uint64_t rocksdb_compactionservice_jobinfo_t_get_job_id(const rocksdb_compactionservice_jobinfo_t *);
int rocksdb_compactionservice_jobinfo_t_get_output_level(const rocksdb_compactionservice_jobinfo_t *);
int rocksdb_compactionservice_jobinfo_t_get_priority(const rocksdb_compactionservice_jobinfo_t *);
unsigned char rocksdb_compactionservice_jobinfo_t_is_bottommost_level(const rocksdb_compactionservice_jobinfo_t *);
unsigned char rocksdb_compactionservice_jobinfo_t_is_full_compaction(const rocksdb_compactionservice_jobinfo_t *);
unsigned char rocksdb_compactionservice_jobinfo_t_is_manual_compaction(const rocksdb_compactionservice_jobinfo_t *);
rocksdb_compactionservice_scheduleresponse_t *rocksdb_compactionservice_scheduleresponse_create(const char *, int, char
    **);
rocksdb_compactionservice_scheduleresponse_t *rocksdb_compactionservice_scheduleresponse_create_with_status(int, char
    **);
const char *rocksdb_compactionservice_scheduleresponse_get_scheduled_job_id(const
    rocksdb_compactionservice_scheduleresponse_t *, size_t *);
int rocksdb_compactionservice_scheduleresponse_getstatus(const rocksdb_compactionservice_scheduleresponse_t *);
void rocksdb_compactionservice_scheduleresponse_t_destroy(rocksdb_compactionservice_scheduleresponse_t *);
rocksdb_compactoptions_t *rocksdb_compactoptions_create(void);
void rocksdb_compactoptions_destroy(rocksdb_compactoptions_t *);
unsigned char rocksdb_compactoptions_get_allow_write_stall(rocksdb_compactoptions_t *);
double rocksdb_compactoptions_get_blob_garbage_collection_age_cutoff(rocksdb_compactoptions_t *);
int rocksdb_compactoptions_get_blob_garbage_collection_policy(rocksdb_compactoptions_t *);
unsigned char rocksdb_compactoptions_get_bottommost_level_compaction(rocksdb_compactoptions_t *);
unsigned char rocksdb_compactoptions_get_change_level(rocksdb_compactoptions_t *);
unsigned char rocksdb_compactoptions_get_exclusive_manual_compaction(rocksdb_compactoptions_t *);
int rocksdb_compactoptions_get_max_subcompactions(rocksdb_compactoptions_t *);
int rocksdb_compactoptions_get_target_level(rocksdb_compactoptions_t *);
int rocksdb_compactoptions_get_target_path_id(rocksdb_compactoptions_t *);
void rocksdb_compactoptions_set_allow_write_stall(rocksdb_compactoptions_t *, unsigned char);
void rocksdb_compactoptions_set_blob_garbage_collection_age_cutoff(rocksdb_compactoptions_t *, double);
void rocksdb_compactoptions_set_blob_garbage_collection_policy(rocksdb_compactoptions_t *, int);
void rocksdb_compactoptions_set_bottommost_level_compaction(rocksdb_compactoptions_t *, unsigned char);
void rocksdb_compactoptions_set_change_level(rocksdb_compactoptions_t *, unsigned char);
void rocksdb_compactoptions_set_exclusive_manual_compaction(rocksdb_compactoptions_t *, unsigned char);
void rocksdb_compactoptions_set_full_history_ts_low(rocksdb_compactoptions_t *, char *, size_t);
void rocksdb_compactoptions_set_max_subcompactions(rocksdb_compactoptions_t *, int);
void rocksdb_compactoptions_set_target_level(rocksdb_compactoptions_t *, int);
void rocksdb_compactoptions_set_target_path_id(rocksdb_compactoptions_t *, int);
rocksdb_comparator_t *rocksdb_comparator_create(void *, void (*)(void *), int (*)(void *, const char *, unsigned long
    int, const char *, unsigned long int), const char *(*)(void *));
void rocksdb_comparator_destroy(rocksdb_comparator_t *);
rocksdb_comparator_t *rocksdb_comparator_with_ts_create(void *, void (*)(void *), int (*)(void *, const char *, unsigned
    long int, const char *, unsigned long int), int (*)(void *, const char *, unsigned long int, const char *, unsigned
    long int), int (*)(void *, const char *, size_t, unsigned char, const char *, size_t, unsigned char), const char
    *(*)(void *), size_t);
void rocksdb_continue_background_work(rocksdb_t *, char **);
rocksdb_create_backup_options_t *rocksdb_create_backup_options_create(void);
void rocksdb_create_backup_options_destroy(rocksdb_create_backup_options_t *);
unsigned char rocksdb_create_backup_options_get_atomic_flush(rocksdb_create_backup_options_t *);
int rocksdb_create_backup_options_get_background_thread_cpu_priority(rocksdb_create_backup_options_t *);
unsigned char rocksdb_create_backup_options_get_decrease_background_thread_cpu_priority(rocksdb_create_backup_options_t
    *);
unsigned char rocksdb_create_backup_options_get_flush_before_backup(rocksdb_create_backup_options_t *);
void rocksdb_create_backup_options_set_atomic_flush(rocksdb_create_backup_options_t *, unsigned char);
void rocksdb_create_backup_options_set_background_thread_cpu_priority(rocksdb_create_backup_options_t *, int);
void rocksdb_create_backup_options_set_decrease_background_thread_cpu_priority(rocksdb_create_backup_options_t *,
    unsigned char);
void rocksdb_create_backup_options_set_exclude_files_callback(rocksdb_create_backup_options_t *, void *, unsigned char
    (*)(void *, const char *, unsigned long int));
void rocksdb_create_backup_options_set_flush_before_backup(rocksdb_create_backup_options_t *, unsigned char);
void rocksdb_create_backup_options_set_progress_callback(rocksdb_create_backup_options_t *, void *, void (*)(void *));
rocksdb_column_family_handle_t **rocksdb_create_column_families(rocksdb_t *, const rocksdb_options_t *, int, const char
    *const *, size_t *, char **);
void rocksdb_create_column_families_destroy(rocksdb_column_family_handle_t **);
rocksdb_column_family_handle_t *rocksdb_create_column_family(rocksdb_t *, const rocksdb_options_t *, const char *, char
    **);
rocksdb_column_family_handle_t *rocksdb_create_column_family_with_import(rocksdb_t *, rocksdb_options_t *, const char *,
    rocksdb_import_column_family_options_t *, rocksdb_export_import_files_metadata_t *, char **);
rocksdb_column_family_handle_t *rocksdb_create_column_family_with_ttl(rocksdb_t *, const rocksdb_options_t *, const char
    *, int, char **);
rocksdb_env_t *rocksdb_create_default_env(void);
void rocksdb_create_dir_if_missing(rocksdb_env_t *, const char *, char **);
rocksdb_iterator_t *rocksdb_create_iterator(rocksdb_t *, const rocksdb_readoptions_t *);
rocksdb_iterator_t *rocksdb_create_iterator_cf(rocksdb_t *, const rocksdb_readoptions_t *,
    rocksdb_column_family_handle_t *);
void rocksdb_create_iterators(rocksdb_t *, rocksdb_readoptions_t *, rocksdb_column_family_handle_t **,
    rocksdb_iterator_t **, size_t, char **);
rocksdb_env_t *rocksdb_create_mem_env(void);
const rocksdb_snapshot_t *rocksdb_create_snapshot(rocksdb_t *);
rocksdb_cuckoo_table_options_t *rocksdb_cuckoo_options_create(void);
void rocksdb_cuckoo_options_destroy(rocksdb_cuckoo_table_options_t *);
uint32_t rocksdb_cuckoo_options_get_cuckoo_block_size(rocksdb_cuckoo_table_options_t *);
double rocksdb_cuckoo_options_get_hash_table_ratio(rocksdb_cuckoo_table_options_t *);
unsigned char rocksdb_cuckoo_options_get_identity_as_first_hash(rocksdb_cuckoo_table_options_t *);
uint32_t rocksdb_cuckoo_options_get_max_search_depth(rocksdb_cuckoo_table_options_t *);
unsigned char rocksdb_cuckoo_options_get_use_module_hash(rocksdb_cuckoo_table_options_t *);
void rocksdb_cuckoo_options_set_cuckoo_block_size(rocksdb_cuckoo_table_options_t *, uint32_t);
void rocksdb_cuckoo_options_set_hash_ratio(rocksdb_cuckoo_table_options_t *, double);
void rocksdb_cuckoo_options_set_hash_table_ratio(rocksdb_cuckoo_table_options_t *, double);
void rocksdb_cuckoo_options_set_identity_as_first_hash(rocksdb_cuckoo_table_options_t *, unsigned char);
void rocksdb_cuckoo_options_set_max_search_depth(rocksdb_cuckoo_table_options_t *, uint32_t);
void rocksdb_cuckoo_options_set_use_module_hash(rocksdb_cuckoo_table_options_t *, unsigned char);
rocksdb_dbpath_t *rocksdb_dbpath_create(const char *, uint64_t);
void rocksdb_dbpath_destroy(rocksdb_dbpath_t *);
void rocksdb_delete(rocksdb_t *, const rocksdb_writeoptions_t *, const char *, size_t, char **);
void rocksdb_delete_cf(rocksdb_t *, const rocksdb_writeoptions_t *, rocksdb_column_family_handle_t *, const char *,
    size_t, char **);
void rocksdb_delete_cf_with_ts(rocksdb_t *, const rocksdb_writeoptions_t *, rocksdb_column_family_handle_t *, const char
    *, size_t, const char *, size_t, char **);
void rocksdb_delete_file_in_range(rocksdb_t *, const char *, size_t, const char *, size_t, char **);
void rocksdb_delete_file_in_range_cf(rocksdb_t *, rocksdb_column_family_handle_t *, const char *, size_t, const char *,
    size_t, char **);
void rocksdb_delete_range_cf(rocksdb_t *, const rocksdb_writeoptions_t *, rocksdb_column_family_handle_t *, const char
    *, size_t, const char *, size_t, char **);
void rocksdb_delete_with_ts(rocksdb_t *, const rocksdb_writeoptions_t *, const char *, size_t, const char *, size_t,
    char **);
void rocksdb_destroy_db(const rocksdb_options_t *, const char *, char **);
void rocksdb_disable_file_deletions(rocksdb_t *, char **);
void rocksdb_disable_manual_compaction(rocksdb_t *);
void rocksdb_drop_column_family(rocksdb_t *, rocksdb_column_family_handle_t *, char **);
void rocksdb_enable_file_deletions(rocksdb_t *, char **);
void rocksdb_enable_manual_compaction(rocksdb_t *);
void rocksdb_end_block_cache_trace(rocksdb_t *, char **);
void rocksdb_end_io_trace(rocksdb_t *, char **);
void rocksdb_end_trace(rocksdb_t *, char **);
void rocksdb_env_destroy(rocksdb_env_t *);
int rocksdb_env_get_background_threads(rocksdb_env_t *);
int rocksdb_env_get_bottom_priority_background_threads(rocksdb_env_t *);
int rocksdb_env_get_high_priority_background_threads(rocksdb_env_t *);
int rocksdb_env_get_low_priority_background_threads(rocksdb_env_t *);
void rocksdb_env_join_all_threads(rocksdb_env_t *);
void rocksdb_env_lower_high_priority_thread_pool_cpu_priority(rocksdb_env_t *);
void rocksdb_env_lower_high_priority_thread_pool_io_priority(rocksdb_env_t *);
void rocksdb_env_lower_thread_pool_cpu_priority(rocksdb_env_t *);
void rocksdb_env_lower_thread_pool_io_priority(rocksdb_env_t *);
void rocksdb_env_set_background_threads(rocksdb_env_t *, int);
void rocksdb_env_set_bottom_priority_background_threads(rocksdb_env_t *, int);
void rocksdb_env_set_high_priority_background_threads(rocksdb_env_t *, int);
void rocksdb_env_set_low_priority_background_threads(rocksdb_env_t *, int);
rocksdb_envoptions_t *rocksdb_envoptions_create(void);
void rocksdb_envoptions_destroy(rocksdb_envoptions_t *);
unsigned char rocksdb_envoptions_get_allow_fallocate(rocksdb_envoptions_t *);
uint64_t rocksdb_envoptions_get_bytes_per_sync(rocksdb_envoptions_t *);
size_t rocksdb_envoptions_get_compaction_readahead_size(rocksdb_envoptions_t *);
unsigned char rocksdb_envoptions_get_fallocate_with_keep_size(rocksdb_envoptions_t *);
unsigned char rocksdb_envoptions_get_fd_cloexec(rocksdb_envoptions_t *);
unsigned char rocksdb_envoptions_get_strict_bytes_per_sync(rocksdb_envoptions_t *);
unsigned char rocksdb_envoptions_get_use_direct_reads(rocksdb_envoptions_t *);
unsigned char rocksdb_envoptions_get_use_direct_writes(rocksdb_envoptions_t *);
unsigned char rocksdb_envoptions_get_use_mmap_reads(rocksdb_envoptions_t *);
unsigned char rocksdb_envoptions_get_use_mmap_writes(rocksdb_envoptions_t *);
size_t rocksdb_envoptions_get_writable_file_max_buffer_size(rocksdb_envoptions_t *);
void rocksdb_envoptions_set_allow_fallocate(rocksdb_envoptions_t *, unsigned char);
void rocksdb_envoptions_set_bytes_per_sync(rocksdb_envoptions_t *, uint64_t);
void rocksdb_envoptions_set_compaction_readahead_size(rocksdb_envoptions_t *, size_t);
void rocksdb_envoptions_set_fallocate_with_keep_size(rocksdb_envoptions_t *, unsigned char);
void rocksdb_envoptions_set_fd_cloexec(rocksdb_envoptions_t *, unsigned char);
void rocksdb_envoptions_set_rate_limiter(rocksdb_envoptions_t *, rocksdb_ratelimiter_t *);
void rocksdb_envoptions_set_strict_bytes_per_sync(rocksdb_envoptions_t *, unsigned char);
void rocksdb_envoptions_set_use_direct_reads(rocksdb_envoptions_t *, unsigned char);
void rocksdb_envoptions_set_use_direct_writes(rocksdb_envoptions_t *, unsigned char);
void rocksdb_envoptions_set_use_mmap_reads(rocksdb_envoptions_t *, unsigned char);
void rocksdb_envoptions_set_use_mmap_writes(rocksdb_envoptions_t *, unsigned char);
void rocksdb_envoptions_set_writable_file_max_buffer_size(rocksdb_envoptions_t *, size_t);
rocksdb_eventlistener_t *rocksdb_eventlistener_create(void *, void (*)(void *), void (*)(void *, rocksdb_t *, const
    rocksdb_flushjobinfo_t *), void (*)(void *, rocksdb_t *, const rocksdb_flushjobinfo_t *), void (*)(void *, rocksdb_t
    *, const rocksdb_compactionjobinfo_t *), void (*)(void *, rocksdb_t *, const rocksdb_compactionjobinfo_t *), void
    (*)(void *, const rocksdb_subcompactionjobinfo_t *), void (*)(void *, const rocksdb_subcompactionjobinfo_t *), void
    (*)(void *, rocksdb_t *, const rocksdb_externalfileingestioninfo_t *), void (*)(void *, uint32_t,
    rocksdb_status_ptr_t *), void (*)(void *, const rocksdb_writestallinfo_t *), void (*)(void *, const
    rocksdb_memtableinfo_t *));
void rocksdb_eventlistener_destroy(rocksdb_eventlistener_t *);
rocksdb_export_import_files_metadata_t *rocksdb_export_import_files_metadata_create(void);
void rocksdb_export_import_files_metadata_destroy(rocksdb_export_import_files_metadata_t *);
char *rocksdb_export_import_files_metadata_get_db_comparator_name(rocksdb_export_import_files_metadata_t *);
rocksdb_livefiles_t *rocksdb_export_import_files_metadata_get_files(rocksdb_export_import_files_metadata_t *);
void rocksdb_export_import_files_metadata_set_db_comparator_name(rocksdb_export_import_files_metadata_t *, const char
    *);
void rocksdb_export_import_files_metadata_set_files(rocksdb_export_import_files_metadata_t *, rocksdb_livefiles_t *);
const char *rocksdb_externalfileingestioninfo_cf_name(const rocksdb_externalfileingestioninfo_t *, size_t *);
const char *rocksdb_externalfileingestioninfo_external_file_path(const rocksdb_externalfileingestioninfo_t *, size_t *);
uint64_t rocksdb_externalfileingestioninfo_global_seqno(const rocksdb_externalfileingestioninfo_t *);
const char *rocksdb_externalfileingestioninfo_internal_file_path(const rocksdb_externalfileingestioninfo_t *, size_t *);
const rocksdb_table_properties_t *rocksdb_externalfileingestioninfo_table_properties(const
    rocksdb_externalfileingestioninfo_t *);
rocksdb_fifo_compaction_options_t *rocksdb_fifo_compaction_options_create(void);
void rocksdb_fifo_compaction_options_destroy(rocksdb_fifo_compaction_options_t *);
uint64_t rocksdb_fifo_compaction_options_get_age_for_warm(rocksdb_fifo_compaction_options_t *);
unsigned char rocksdb_fifo_compaction_options_get_allow_compaction(rocksdb_fifo_compaction_options_t *);
unsigned char
    rocksdb_fifo_compaction_options_get_allow_trivial_copy_when_change_temperature(rocksdb_fifo_compaction_options_t *);
uint64_t rocksdb_fifo_compaction_options_get_max_data_files_size(rocksdb_fifo_compaction_options_t *);
uint64_t rocksdb_fifo_compaction_options_get_max_table_files_size(rocksdb_fifo_compaction_options_t *);
uint64_t rocksdb_fifo_compaction_options_get_trivial_copy_buffer_size(rocksdb_fifo_compaction_options_t *);
unsigned char rocksdb_fifo_compaction_options_get_use_kv_ratio_compaction(rocksdb_fifo_compaction_options_t *);
void rocksdb_fifo_compaction_options_set_age_for_warm(rocksdb_fifo_compaction_options_t *, uint64_t);
void rocksdb_fifo_compaction_options_set_allow_compaction(rocksdb_fifo_compaction_options_t *, unsigned char);
void rocksdb_fifo_compaction_options_set_allow_trivial_copy_when_change_temperature(rocksdb_fifo_compaction_options_t *,
    unsigned char);
void rocksdb_fifo_compaction_options_set_max_data_files_size(rocksdb_fifo_compaction_options_t *, uint64_t);
void rocksdb_fifo_compaction_options_set_max_table_files_size(rocksdb_fifo_compaction_options_t *, uint64_t);
void rocksdb_fifo_compaction_options_set_trivial_copy_buffer_size(rocksdb_fifo_compaction_options_t *, uint64_t);
void rocksdb_fifo_compaction_options_set_use_kv_ratio_compaction(rocksdb_fifo_compaction_options_t *, unsigned char);
rocksdb_file_checksum_gen_factory_t *rocksdb_file_checksum_gen_crc32c_factory_create(void);
void rocksdb_file_checksum_gen_factory_destroy(rocksdb_file_checksum_gen_factory_t *);
rocksdb_filterpolicy_t *rocksdb_filterpolicy_create_bloom(double);
rocksdb_filterpolicy_t *rocksdb_filterpolicy_create_bloom_full(double);
rocksdb_filterpolicy_t *rocksdb_filterpolicy_create_ribbon(double);
rocksdb_filterpolicy_t *rocksdb_filterpolicy_create_ribbon_hybrid(double, int);
void rocksdb_filterpolicy_destroy(rocksdb_filterpolicy_t *);
void rocksdb_flush(rocksdb_t *, const rocksdb_flushoptions_t *, char **);
void rocksdb_flush_cf(rocksdb_t *, const rocksdb_flushoptions_t *, rocksdb_column_family_handle_t *, char **);
void rocksdb_flush_cfs(rocksdb_t *, const rocksdb_flushoptions_t *, rocksdb_column_family_handle_t **, int, char **);
void rocksdb_flush_wal(rocksdb_t *, unsigned char, char **);
void rocksdb_flush_wal_with_options(rocksdb_t *, const rocksdb_flushwaloptions_t *, char **);
uint32_t rocksdb_flushjobinfo_blob_compression_type(const rocksdb_flushjobinfo_t *);
const rocksdb_blob_file_addition_info_t *rocksdb_flushjobinfo_blob_file_addition_info_at(const rocksdb_flushjobinfo_t *,
    size_t);
size_t rocksdb_flushjobinfo_blob_file_addition_infos_count(const rocksdb_flushjobinfo_t *);
uint32_t rocksdb_flushjobinfo_cf_id(const rocksdb_flushjobinfo_t *);
const char *rocksdb_flushjobinfo_cf_name(const rocksdb_flushjobinfo_t *, size_t *);
uint64_t rocksdb_flushjobinfo_file_number(const rocksdb_flushjobinfo_t *);
const char *rocksdb_flushjobinfo_file_path(const rocksdb_flushjobinfo_t *, size_t *);
uint32_t rocksdb_flushjobinfo_flush_reason(const rocksdb_flushjobinfo_t *);
int rocksdb_flushjobinfo_job_id(const rocksdb_flushjobinfo_t *);
uint64_t rocksdb_flushjobinfo_largest_seqno(const rocksdb_flushjobinfo_t *);
uint64_t rocksdb_flushjobinfo_oldest_blob_file_number(const rocksdb_flushjobinfo_t *);
uint64_t rocksdb_flushjobinfo_smallest_seqno(const rocksdb_flushjobinfo_t *);
const rocksdb_table_properties_t *rocksdb_flushjobinfo_table_properties(const rocksdb_flushjobinfo_t *);
uint64_t rocksdb_flushjobinfo_thread_id(const rocksdb_flushjobinfo_t *);
unsigned char rocksdb_flushjobinfo_triggered_writes_slowdown(const rocksdb_flushjobinfo_t *);
unsigned char rocksdb_flushjobinfo_triggered_writes_stop(const rocksdb_flushjobinfo_t *);
rocksdb_flushoptions_t *rocksdb_flushoptions_create(void);
void rocksdb_flushoptions_destroy(rocksdb_flushoptions_t *);
unsigned char rocksdb_flushoptions_get_allow_write_stall(rocksdb_flushoptions_t *);
unsigned char rocksdb_flushoptions_get_force_atomic_flush(rocksdb_flushoptions_t *);
unsigned char rocksdb_flushoptions_get_listener_wait(rocksdb_flushoptions_t *);
unsigned char rocksdb_flushoptions_get_wait(rocksdb_flushoptions_t *);
void rocksdb_flushoptions_set_allow_write_stall(rocksdb_flushoptions_t *, unsigned char);
void rocksdb_flushoptions_set_force_atomic_flush(rocksdb_flushoptions_t *, unsigned char);
void rocksdb_flushoptions_set_listener_wait(rocksdb_flushoptions_t *, unsigned char);
void rocksdb_flushoptions_set_wait(rocksdb_flushoptions_t *, unsigned char);
rocksdb_flushwaloptions_t *rocksdb_flushwaloptions_create(void);
void rocksdb_flushwaloptions_destroy(rocksdb_flushwaloptions_t *);
int rocksdb_flushwaloptions_get_rate_limiter_priority(rocksdb_flushwaloptions_t *);
unsigned char rocksdb_flushwaloptions_get_sync(rocksdb_flushwaloptions_t *);
void rocksdb_flushwaloptions_set_rate_limiter_priority(rocksdb_flushwaloptions_t *, int);
void rocksdb_flushwaloptions_set_sync(rocksdb_flushwaloptions_t *, unsigned char);
void rocksdb_free(void *);
char *rocksdb_get(rocksdb_t *, const rocksdb_readoptions_t *, const char *, size_t, size_t *, char **);
char *rocksdb_get_cf(rocksdb_t *, const rocksdb_readoptions_t *, rocksdb_column_family_handle_t *, const char *, size_t,
    size_t *, char **);
char *rocksdb_get_cf_with_ts(rocksdb_t *, const rocksdb_readoptions_t *, rocksdb_column_family_handle_t *, const char *,
    size_t, size_t *, char **, size_t *, char **);
rocksdb_column_family_metadata_t *rocksdb_get_column_family_metadata(rocksdb_t *);
rocksdb_column_family_metadata_t *rocksdb_get_column_family_metadata_cf(rocksdb_t *, rocksdb_column_family_handle_t *);
rocksdb_column_family_metadata_t *rocksdb_get_column_family_metadata_cf_with_options(rocksdb_t *,
    rocksdb_column_family_handle_t *, const rocksdb_column_family_metadata_options_t *);
rocksdb_column_family_metadata_t *rocksdb_get_column_family_metadata_with_options(rocksdb_t *, const
    rocksdb_column_family_metadata_options_t *);
rocksdb_wal_file_t *rocksdb_get_current_wal_file(rocksdb_t *, char **);
char *rocksdb_get_db_identity(rocksdb_t *, size_t *);
rocksdb_column_family_handle_t *rocksdb_get_default_column_family_handle(rocksdb_t *);
char *rocksdb_get_full_history_ts_low(rocksdb_t *, rocksdb_column_family_handle_t *, size_t *, char **);
unsigned char rocksdb_get_into_buffer(rocksdb_t *, const rocksdb_readoptions_t *, const char *, size_t, char *, size_t,
    size_t *, unsigned char *, char **);
unsigned char rocksdb_get_into_buffer_cf(rocksdb_t *, const rocksdb_readoptions_t *, rocksdb_column_family_handle_t *,
    const char *, size_t, char *, size_t, size_t *, unsigned char *, char **);
uint64_t rocksdb_get_latest_sequence_number(rocksdb_t *);
rocksdb_livefiles_storage_info_t *rocksdb_get_livefiles_storage_info(rocksdb_t *, const
    rocksdb_livefiles_storage_info_options_t *, char **);
void rocksdb_get_options_from_string(const rocksdb_options_t *, const char *, rocksdb_options_t *, char **);
rocksdb_pinnableslice_t *rocksdb_get_pinned(rocksdb_t *, const rocksdb_readoptions_t *, const char *, size_t, char **);
rocksdb_pinnableslice_t *rocksdb_get_pinned_cf(rocksdb_t *, const rocksdb_readoptions_t *,
    rocksdb_column_family_handle_t *, const char *, size_t, char **);
rocksdb_pinnable_handle_t *rocksdb_get_pinned_cf_v2(rocksdb_t *, const rocksdb_readoptions_t *,
    rocksdb_column_family_handle_t *, const char *, size_t, char **);
rocksdb_pinnable_handle_t *rocksdb_get_pinned_v2(rocksdb_t *, const rocksdb_readoptions_t *, const char *, size_t, char
    **);
rocksdb_wal_files_t *rocksdb_get_sorted_wal_files(rocksdb_t *, char **);
rocksdb_wal_iterator_t *rocksdb_get_updates_since(rocksdb_t *, uint64_t, const rocksdb_wal_readoptions_t *, char **);
char *rocksdb_get_with_ts(rocksdb_t *, const rocksdb_readoptions_t *, const char *, size_t, size_t *, char **, size_t *,
    char **);
rocksdb_hyper_clock_cache_options_t *rocksdb_hyper_clock_cache_options_create(size_t, size_t);
void rocksdb_hyper_clock_cache_options_destroy(rocksdb_hyper_clock_cache_options_t *);
void rocksdb_hyper_clock_cache_options_set_capacity(rocksdb_hyper_clock_cache_options_t *, size_t);
void rocksdb_hyper_clock_cache_options_set_estimated_entry_charge(rocksdb_hyper_clock_cache_options_t *, size_t);
void rocksdb_hyper_clock_cache_options_set_memory_allocator(rocksdb_hyper_clock_cache_options_t *,
    rocksdb_memory_allocator_t *);
void rocksdb_hyper_clock_cache_options_set_num_shard_bits(rocksdb_hyper_clock_cache_options_t *, int);
rocksdb_import_column_family_options_t *rocksdb_import_column_family_options_create(void);
void rocksdb_import_column_family_options_destroy(rocksdb_import_column_family_options_t *);
unsigned char rocksdb_import_column_family_options_get_move_files(rocksdb_import_column_family_options_t *);
void rocksdb_import_column_family_options_set_move_files(rocksdb_import_column_family_options_t *, unsigned char);
void rocksdb_increase_full_history_ts_low(rocksdb_t *, rocksdb_column_family_handle_t *, const char *, size_t, char **);
void rocksdb_ingest_external_file(rocksdb_t *, const char *const *, const size_t, const
    rocksdb_ingestexternalfileoptions_t *, char **);
void rocksdb_ingest_external_file_cf(rocksdb_t *, rocksdb_column_family_handle_t *, const char *const *, const size_t,
    const rocksdb_ingestexternalfileoptions_t *, char **);
rocksdb_ingestexternalfileoptions_t *rocksdb_ingestexternalfileoptions_create(void);
void rocksdb_ingestexternalfileoptions_destroy(rocksdb_ingestexternalfileoptions_t *);
unsigned char rocksdb_ingestexternalfileoptions_get_allow_blocking_flush(rocksdb_ingestexternalfileoptions_t *);
unsigned char rocksdb_ingestexternalfileoptions_get_allow_db_generated_files(rocksdb_ingestexternalfileoptions_t *);
unsigned char rocksdb_ingestexternalfileoptions_get_allow_global_seqno(rocksdb_ingestexternalfileoptions_t *);
unsigned char rocksdb_ingestexternalfileoptions_get_fail_if_not_bottommost_level(rocksdb_ingestexternalfileoptions_t *);
unsigned char rocksdb_ingestexternalfileoptions_get_failed_move_fall_back_to_copy(rocksdb_ingestexternalfileoptions_t
    *);
int rocksdb_ingestexternalfileoptions_get_file_opening_threads(rocksdb_ingestexternalfileoptions_t *);
unsigned char rocksdb_ingestexternalfileoptions_get_fill_cache(rocksdb_ingestexternalfileoptions_t *);
unsigned char rocksdb_ingestexternalfileoptions_get_ingest_behind(rocksdb_ingestexternalfileoptions_t *);
unsigned char rocksdb_ingestexternalfileoptions_get_link_files(rocksdb_ingestexternalfileoptions_t *);
unsigned char rocksdb_ingestexternalfileoptions_get_move_files(rocksdb_ingestexternalfileoptions_t *);
unsigned char
    rocksdb_ingestexternalfileoptions_get_prefetch_lmax_index_and_filter_blocks(rocksdb_ingestexternalfileoptions_t *);
unsigned char rocksdb_ingestexternalfileoptions_get_snapshot_consistency(rocksdb_ingestexternalfileoptions_t *);
unsigned char rocksdb_ingestexternalfileoptions_get_verify_checksums_before_ingest(rocksdb_ingestexternalfileoptions_t
    *);
size_t rocksdb_ingestexternalfileoptions_get_verify_checksums_readahead_size(rocksdb_ingestexternalfileoptions_t *);
unsigned char rocksdb_ingestexternalfileoptions_get_verify_file_checksum(rocksdb_ingestexternalfileoptions_t *);
unsigned char rocksdb_ingestexternalfileoptions_get_write_global_seqno(rocksdb_ingestexternalfileoptions_t *);
void rocksdb_ingestexternalfileoptions_set_allow_blocking_flush(rocksdb_ingestexternalfileoptions_t *, unsigned char);
void rocksdb_ingestexternalfileoptions_set_allow_db_generated_files(rocksdb_ingestexternalfileoptions_t *, unsigned
    char);
void rocksdb_ingestexternalfileoptions_set_allow_global_seqno(rocksdb_ingestexternalfileoptions_t *, unsigned char);
void rocksdb_ingestexternalfileoptions_set_fail_if_not_bottommost_level(rocksdb_ingestexternalfileoptions_t *, unsigned
    char);
void rocksdb_ingestexternalfileoptions_set_failed_move_fall_back_to_copy(rocksdb_ingestexternalfileoptions_t *, unsigned
    char);
void rocksdb_ingestexternalfileoptions_set_file_opening_threads(rocksdb_ingestexternalfileoptions_t *, int);
void rocksdb_ingestexternalfileoptions_set_fill_cache(rocksdb_ingestexternalfileoptions_t *, unsigned char);
void rocksdb_ingestexternalfileoptions_set_ingest_behind(rocksdb_ingestexternalfileoptions_t *, unsigned char);
void rocksdb_ingestexternalfileoptions_set_link_files(rocksdb_ingestexternalfileoptions_t *, unsigned char);
void rocksdb_ingestexternalfileoptions_set_move_files(rocksdb_ingestexternalfileoptions_t *, unsigned char);
void rocksdb_ingestexternalfileoptions_set_prefetch_lmax_index_and_filter_blocks(rocksdb_ingestexternalfileoptions_t *,
    unsigned char);
void rocksdb_ingestexternalfileoptions_set_snapshot_consistency(rocksdb_ingestexternalfileoptions_t *, unsigned char);
void rocksdb_ingestexternalfileoptions_set_verify_checksums_before_ingest(rocksdb_ingestexternalfileoptions_t *,
    unsigned char);
void rocksdb_ingestexternalfileoptions_set_verify_checksums_readahead_size(rocksdb_ingestexternalfileoptions_t *,
    size_t);
void rocksdb_ingestexternalfileoptions_set_verify_file_checksum(rocksdb_ingestexternalfileoptions_t *, unsigned char);
void rocksdb_ingestexternalfileoptions_set_write_global_seqno(rocksdb_ingestexternalfileoptions_t *, unsigned char);
void rocksdb_iter_destroy(rocksdb_iterator_t *);
void rocksdb_iter_get_error(const rocksdb_iterator_t *, char **);
const char *rocksdb_iter_key(const rocksdb_iterator_t *, size_t *);
rocksdb_slice_t rocksdb_iter_key_slice(const rocksdb_iterator_t *);
void rocksdb_iter_next(rocksdb_iterator_t *);
void rocksdb_iter_prev(rocksdb_iterator_t *);
void rocksdb_iter_refresh(const rocksdb_iterator_t *, char **);
void rocksdb_iter_seek(rocksdb_iterator_t *, const char *, size_t);
void rocksdb_iter_seek_for_prev(rocksdb_iterator_t *, const char *, size_t);
void rocksdb_iter_seek_to_first(rocksdb_iterator_t *);
void rocksdb_iter_seek_to_last(rocksdb_iterator_t *);
const char *rocksdb_iter_timestamp(const rocksdb_iterator_t *, size_t *);
rocksdb_slice_t rocksdb_iter_timestamp_slice(const rocksdb_iterator_t *);
unsigned char rocksdb_iter_valid(const rocksdb_iterator_t *);
const char *rocksdb_iter_value(const rocksdb_iterator_t *, size_t *);
rocksdb_slice_t rocksdb_iter_value_slice(const rocksdb_iterator_t *);
rocksdb_memory_allocator_t *rocksdb_jemalloc_nodump_allocator_create(char **);
unsigned char rocksdb_key_may_exist(rocksdb_t *, const rocksdb_readoptions_t *, const char *, size_t, char **, size_t *,
    const char *, size_t, unsigned char *);
unsigned char rocksdb_key_may_exist_cf(rocksdb_t *, const rocksdb_readoptions_t *, rocksdb_column_family_handle_t *,
    const char *, size_t, char **, size_t *, const char *, size_t, unsigned char *);
void rocksdb_level_metadata_destroy(rocksdb_level_metadata_t *);
size_t rocksdb_level_metadata_get_file_count(rocksdb_level_metadata_t *);
int rocksdb_level_metadata_get_level(rocksdb_level_metadata_t *);
uint64_t rocksdb_level_metadata_get_size(rocksdb_level_metadata_t *);
rocksdb_sst_file_metadata_t *rocksdb_level_metadata_get_sst_file_metadata(rocksdb_level_metadata_t *, size_t);
char **rocksdb_list_column_families(const rocksdb_options_t *, const char *, size_t *, char **);
void rocksdb_list_column_families_destroy(char **, size_t);
rocksdb_livefile_t *rocksdb_livefile_create(void);
void rocksdb_livefile_destroy(rocksdb_livefile_t *);
void rocksdb_livefile_set_column_family_name(rocksdb_livefile_t *, const char *);
void rocksdb_livefile_set_directory(rocksdb_livefile_t *, const char *);
void rocksdb_livefile_set_largest_key(rocksdb_livefile_t *, const char *, size_t);
void rocksdb_livefile_set_largest_seqno(rocksdb_livefile_t *, uint64_t);
void rocksdb_livefile_set_level(rocksdb_livefile_t *, int);
void rocksdb_livefile_set_name(rocksdb_livefile_t *, const char *);
void rocksdb_livefile_set_num_deletions(rocksdb_livefile_t *, uint64_t);
void rocksdb_livefile_set_num_entries(rocksdb_livefile_t *, uint64_t);
void rocksdb_livefile_set_size(rocksdb_livefile_t *, size_t);
void rocksdb_livefile_set_smallest_key(rocksdb_livefile_t *, const char *, size_t);
void rocksdb_livefile_set_smallest_seqno(rocksdb_livefile_t *, uint64_t);
const rocksdb_livefiles_t *rocksdb_livefiles(rocksdb_t *);
void rocksdb_livefiles_add(rocksdb_livefiles_t *, rocksdb_livefile_t *);
const char *rocksdb_livefiles_column_family_name(const rocksdb_livefiles_t *, int);
int rocksdb_livefiles_count(const rocksdb_livefiles_t *);
rocksdb_livefiles_t *rocksdb_livefiles_create(void);
uint64_t rocksdb_livefiles_deletions(const rocksdb_livefiles_t *, int);
void rocksdb_livefiles_destroy(const rocksdb_livefiles_t *);
const char *rocksdb_livefiles_directory(const rocksdb_livefiles_t *, int);
uint64_t rocksdb_livefiles_entries(const rocksdb_livefiles_t *, int);
uint64_t rocksdb_livefiles_largest_seqno(const rocksdb_livefiles_t *, int);
const char *rocksdb_livefiles_largestkey(const rocksdb_livefiles_t *, int, size_t *);
int rocksdb_livefiles_level(const rocksdb_livefiles_t *, int);
const char *rocksdb_livefiles_name(const rocksdb_livefiles_t *, int);
size_t rocksdb_livefiles_size(const rocksdb_livefiles_t *, int);
uint64_t rocksdb_livefiles_smallest_seqno(const rocksdb_livefiles_t *, int);
const char *rocksdb_livefiles_smallestkey(const rocksdb_livefiles_t *, int, size_t *);
size_t rocksdb_livefiles_storage_info_count(const rocksdb_livefiles_storage_info_t *);
void rocksdb_livefiles_storage_info_destroy(rocksdb_livefiles_storage_info_t *);
const char *rocksdb_livefiles_storage_info_directory(const rocksdb_livefiles_storage_info_t *, size_t);
const char *rocksdb_livefiles_storage_info_file_checksum(const rocksdb_livefiles_storage_info_t *, size_t);
const char *rocksdb_livefiles_storage_info_file_checksum_func_name(const rocksdb_livefiles_storage_info_t *, size_t);
uint64_t rocksdb_livefiles_storage_info_file_number(const rocksdb_livefiles_storage_info_t *, size_t);
int rocksdb_livefiles_storage_info_file_type(const rocksdb_livefiles_storage_info_t *, size_t);
rocksdb_livefiles_storage_info_options_t *rocksdb_livefiles_storage_info_options_create(void);
void rocksdb_livefiles_storage_info_options_destroy(rocksdb_livefiles_storage_info_options_t *);
unsigned char rocksdb_livefiles_storage_info_options_get_atomic_flush(rocksdb_livefiles_storage_info_options_t *);
unsigned char rocksdb_livefiles_storage_info_options_get_include_checksum_info(rocksdb_livefiles_storage_info_options_t
    *);
uint64_t rocksdb_livefiles_storage_info_options_get_wal_size_for_flush(rocksdb_livefiles_storage_info_options_t *);
void rocksdb_livefiles_storage_info_options_set_atomic_flush(rocksdb_livefiles_storage_info_options_t *, unsigned char);
void rocksdb_livefiles_storage_info_options_set_include_checksum_info(rocksdb_livefiles_storage_info_options_t *,
    unsigned char);
void rocksdb_livefiles_storage_info_options_set_wal_size_for_flush(rocksdb_livefiles_storage_info_options_t *,
    uint64_t);
const char *rocksdb_livefiles_storage_info_relative_filename(const rocksdb_livefiles_storage_info_t *, size_t);
const char *rocksdb_livefiles_storage_info_replacement_contents(const rocksdb_livefiles_storage_info_t *, size_t, size_t
    *);
uint64_t rocksdb_livefiles_storage_info_size(const rocksdb_livefiles_storage_info_t *, size_t);
int rocksdb_livefiles_storage_info_temperature(const rocksdb_livefiles_storage_info_t *, size_t);
unsigned char rocksdb_livefiles_storage_info_trim_to_size(const rocksdb_livefiles_storage_info_t *, size_t);
void rocksdb_load_latest_options(const char *, rocksdb_env_t *, bool, rocksdb_cache_t *, rocksdb_options_t **, size_t *,
    char ***, rocksdb_options_t ***, char **);
void rocksdb_load_latest_options_destroy(rocksdb_options_t *, char **, rocksdb_options_t **, size_t);
rocksdb_logger_t *rocksdb_logger_create_callback_logger(int, void (*)(void *, unsigned int, char *, unsigned long int),
    void *);
rocksdb_logger_t *rocksdb_logger_create_stderr_logger(int, const char *);
void rocksdb_logger_destroy(rocksdb_logger_t *);
rocksdb_lru_cache_options_t *rocksdb_lru_cache_options_create(void);
void rocksdb_lru_cache_options_destroy(rocksdb_lru_cache_options_t *);
void rocksdb_lru_cache_options_set_capacity(rocksdb_lru_cache_options_t *, size_t);
void rocksdb_lru_cache_options_set_memory_allocator(rocksdb_lru_cache_options_t *, rocksdb_memory_allocator_t *);
void rocksdb_lru_cache_options_set_num_shard_bits(rocksdb_lru_cache_options_t *, int);
void rocksdb_memory_allocator_destroy(rocksdb_memory_allocator_t *);
void rocksdb_memory_consumers_add_cache(rocksdb_memory_consumers_t *, rocksdb_cache_t *);
void rocksdb_memory_consumers_add_db(rocksdb_memory_consumers_t *, rocksdb_t *);
rocksdb_memory_consumers_t *rocksdb_memory_consumers_create(void);
void rocksdb_memory_consumers_destroy(rocksdb_memory_consumers_t *);
const char *rocksdb_memtableinfo_cf_name(const rocksdb_memtableinfo_t *, size_t *);
uint64_t rocksdb_memtableinfo_earliest_seqno(const rocksdb_memtableinfo_t *);
uint64_t rocksdb_memtableinfo_first_seqno(const rocksdb_memtableinfo_t *);
const char *rocksdb_memtableinfo_newest_udt(const rocksdb_memtableinfo_t *, size_t *);
uint64_t rocksdb_memtableinfo_num_deletes(const rocksdb_memtableinfo_t *);
uint64_t rocksdb_memtableinfo_num_entries(const rocksdb_memtableinfo_t *);
void rocksdb_merge(rocksdb_t *, const rocksdb_writeoptions_t *, const char *, size_t, const char *, size_t, char **);
void rocksdb_merge_cf(rocksdb_t *, const rocksdb_writeoptions_t *, rocksdb_column_family_handle_t *, const char *,
    size_t, const char *, size_t, char **);
rocksdb_mergeoperator_t *rocksdb_mergeoperator_create(void *, void (*)(void *), char *(*)(void *, const char *, size_t,
    const char *, size_t, const char *const *, const size_t *, int, unsigned char *, size_t *), char *(*)(void *, const
    char *, size_t, const char *const *, const size_t *, int, unsigned char *, size_t *), void (*)(void *, const char *,
    size_t), const char *(*)(void *));
void rocksdb_mergeoperator_destroy(rocksdb_mergeoperator_t *);
void rocksdb_multi_get(rocksdb_t *, const rocksdb_readoptions_t *, size_t, const char *const *, const size_t *, char **,
    size_t *, char **);
void rocksdb_multi_get_cf(rocksdb_t *, const rocksdb_readoptions_t *, const rocksdb_column_family_handle_t *const *,
    size_t, const char *const *, const size_t *, char **, size_t *, char **);
void rocksdb_multi_get_cf_with_ts(rocksdb_t *, const rocksdb_readoptions_t *, const rocksdb_column_family_handle_t
    *const *, size_t, const char *const *, const size_t *, char **, size_t *, char **, size_t *, char **);
void rocksdb_multi_get_with_ts(rocksdb_t *, const rocksdb_readoptions_t *, size_t, const char *const *, const size_t *,
    char **, size_t *, char **, size_t *, char **);
rocksdb_replayer_t *rocksdb_new_default_replayer(rocksdb_t *, rocksdb_column_family_handle_t **, size_t, rocksdb_env_t
    *, const rocksdb_envoptions_t *, const char *, char **);
rocksdb_t *rocksdb_open(const rocksdb_options_t *, const char *, char **);
char *rocksdb_open_and_compact(const char *, const char *, const char *, size_t, size_t *, const
    rocksdb_compaction_service_options_override_t *, char **);
unsigned char *rocksdb_open_and_compact_canceled_create(void);
void rocksdb_open_and_compact_canceled_destroy(unsigned char *);
void rocksdb_open_and_compact_canceled_set(unsigned char *, unsigned char);
rocksdb_open_and_compact_options_t *rocksdb_open_and_compact_options_create(void);
void rocksdb_open_and_compact_options_destroy(rocksdb_open_and_compact_options_t *);
unsigned char rocksdb_open_and_compact_options_get_allow_resumption(rocksdb_open_and_compact_options_t *);
void rocksdb_open_and_compact_options_set_allow_resumption(rocksdb_open_and_compact_options_t *, unsigned char);
void rocksdb_open_and_compact_options_set_canceled(rocksdb_open_and_compact_options_t *, unsigned char *);
char *rocksdb_open_and_compact_with_options(const rocksdb_open_and_compact_options_t *, const char *, const char *,
    const char *, size_t, size_t *, const rocksdb_compaction_service_options_override_t *, char **);
rocksdb_t *rocksdb_open_and_trim_history(const rocksdb_options_t *, const char *, int, const char *const *, const
    rocksdb_options_t *const *, rocksdb_column_family_handle_t **, char *, size_t, char **);
rocksdb_t *rocksdb_open_as_secondary(const rocksdb_options_t *, const char *, const char *, char **);
rocksdb_t *rocksdb_open_as_secondary_column_families(const rocksdb_options_t *, const char *, const char *, int, const
    char *const *, const rocksdb_options_t *const *, rocksdb_column_family_handle_t **, char **);
rocksdb_t *rocksdb_open_column_families(const rocksdb_options_t *, const char *, int, const char *const *, const
    rocksdb_options_t *const *, rocksdb_column_family_handle_t **, char **);
rocksdb_t *rocksdb_open_column_families_with_ttl(const rocksdb_options_t *, const char *, int, const char *const *,
    const rocksdb_options_t *const *, rocksdb_column_family_handle_t **, const int *, char **);
rocksdb_t *rocksdb_open_for_read_only(const rocksdb_options_t *, const char *, unsigned char, char **);
rocksdb_t *rocksdb_open_for_read_only_column_families(const rocksdb_options_t *, const char *, int, const char *const *,
    const rocksdb_options_t *const *, rocksdb_column_family_handle_t **, unsigned char, char **);
rocksdb_t *rocksdb_open_with_ttl(const rocksdb_options_t *, const char *, int, char **);
rocksdb_transaction_t *rocksdb_optimistictransaction_begin(rocksdb_optimistictransactiondb_t *, const
    rocksdb_writeoptions_t *, const rocksdb_optimistictransaction_options_t *, rocksdb_transaction_t *);
rocksdb_optimistictransaction_options_t *rocksdb_optimistictransaction_options_create(void);
void rocksdb_optimistictransaction_options_destroy(rocksdb_optimistictransaction_options_t *);
unsigned char rocksdb_optimistictransaction_options_get_set_snapshot(rocksdb_optimistictransaction_options_t *);
void rocksdb_optimistictransaction_options_set_set_snapshot(rocksdb_optimistictransaction_options_t *, unsigned char);
rocksdb_checkpoint_t *rocksdb_optimistictransactiondb_checkpoint_object_create(rocksdb_optimistictransactiondb_t *, char
    **);
void rocksdb_optimistictransactiondb_close(rocksdb_optimistictransactiondb_t *);
void rocksdb_optimistictransactiondb_close_base_db(rocksdb_t *);
rocksdb_t *rocksdb_optimistictransactiondb_get_base_db(rocksdb_optimistictransactiondb_t *);
size_t
    rocksdb_optimistictransactiondb_lock_buckets_approximate_memory_usage(rocksdb_optimistictransactiondb_lock_buckets_t
    *);
rocksdb_optimistictransactiondb_lock_buckets_t *rocksdb_optimistictransactiondb_lock_buckets_create(size_t, unsigned
    char);
void rocksdb_optimistictransactiondb_lock_buckets_destroy(rocksdb_optimistictransactiondb_lock_buckets_t *);
rocksdb_optimistictransactiondb_t *rocksdb_optimistictransactiondb_open(const rocksdb_options_t *, const char *, char
    **);
rocksdb_optimistictransactiondb_t *rocksdb_optimistictransactiondb_open_column_families(const rocksdb_options_t *, const
    char *, int, const char *const *, const rocksdb_options_t *const *, rocksdb_column_family_handle_t **, char **);
rocksdb_optimistictransactiondb_t *rocksdb_optimistictransactiondb_open_column_families_with_otxn_db_options(const
    rocksdb_options_t *, const rocksdb_optimistictransactiondb_options_t *, const char *, int, const char *const *,
    const rocksdb_options_t *const *, rocksdb_column_family_handle_t **, char **);
rocksdb_optimistictransactiondb_t *rocksdb_optimistictransactiondb_open_with_otxn_db_options(const rocksdb_options_t *,
    const rocksdb_optimistictransactiondb_options_t *, const char *, char **);
rocksdb_optimistictransactiondb_options_t *rocksdb_optimistictransactiondb_options_create(void);
void rocksdb_optimistictransactiondb_options_destroy(rocksdb_optimistictransactiondb_options_t *);
uint32_t rocksdb_optimistictransactiondb_options_get_occ_lock_buckets(rocksdb_optimistictransactiondb_options_t *);
int rocksdb_optimistictransactiondb_options_get_validate_policy(rocksdb_optimistictransactiondb_options_t *);
void rocksdb_optimistictransactiondb_options_set_occ_lock_buckets(rocksdb_optimistictransactiondb_options_t *,
    uint32_t);
void rocksdb_optimistictransactiondb_options_set_shared_lock_buckets(rocksdb_optimistictransactiondb_options_t *,
    rocksdb_optimistictransactiondb_lock_buckets_t *);
void rocksdb_optimistictransactiondb_options_set_validate_policy(rocksdb_optimistictransactiondb_options_t *, int);
int rocksdb_optimistictransactiondb_property_int(rocksdb_optimistictransactiondb_t *, const char *, uint64_t *);
char *rocksdb_optimistictransactiondb_property_value(rocksdb_optimistictransactiondb_t *, const char *);
void rocksdb_optimistictransactiondb_write(rocksdb_optimistictransactiondb_t *, const rocksdb_writeoptions_t *,
    rocksdb_writebatch_t *, char **);
void rocksdb_options_add_compact_on_deletion_collector_factory(rocksdb_options_t *, size_t, size_t);
void rocksdb_options_add_compact_on_deletion_collector_factory_del_ratio(rocksdb_options_t *, size_t, size_t, double);
void rocksdb_options_add_compact_on_deletion_collector_factory_min_file_size(rocksdb_options_t *, size_t, size_t,
    double, uint64_t);
void rocksdb_options_add_eventlistener(rocksdb_options_t *, rocksdb_eventlistener_t *);
void rocksdb_options_add_table_properties_collector_factory(rocksdb_options_t *,
    rocksdb_table_properties_collector_factory_t *);
void rocksdb_options_calculate_sst_write_lifetime_hint_set_add(rocksdb_options_t *, int);
void rocksdb_options_calculate_sst_write_lifetime_hint_set_clear(rocksdb_options_t *);
unsigned char rocksdb_options_calculate_sst_write_lifetime_hint_set_contains(rocksdb_options_t *, int);
size_t rocksdb_options_calculate_sst_write_lifetime_hint_set_count(rocksdb_options_t *);
void rocksdb_options_calculate_sst_write_lifetime_hint_set_remove(rocksdb_options_t *, int);
void rocksdb_options_checksum_handoff_file_types_add(rocksdb_options_t *, int);
void rocksdb_options_checksum_handoff_file_types_clear(rocksdb_options_t *);
unsigned char rocksdb_options_checksum_handoff_file_types_contains(rocksdb_options_t *, int);
size_t rocksdb_options_checksum_handoff_file_types_count(rocksdb_options_t *);
void rocksdb_options_checksum_handoff_file_types_remove(rocksdb_options_t *, int);
void rocksdb_options_clear_wal_filter(rocksdb_options_t *);
void rocksdb_options_compaction_readahead_size(rocksdb_options_t *, size_t);
rocksdb_options_t *rocksdb_options_create(void);
rocksdb_options_t *rocksdb_options_create_copy(rocksdb_options_t *);
void rocksdb_options_destroy(rocksdb_options_t *);
void rocksdb_options_enable_statistics(rocksdb_options_t *);
uint64_t rocksdb_options_get_WAL_size_limit_MB(rocksdb_options_t *);
uint64_t rocksdb_options_get_WAL_ttl_seconds(rocksdb_options_t *);
unsigned char rocksdb_options_get_advise_random_on_open(rocksdb_options_t *);
unsigned char rocksdb_options_get_allow_2pc(rocksdb_options_t *);
unsigned char rocksdb_options_get_allow_concurrent_memtable_write(rocksdb_options_t *);
unsigned char rocksdb_options_get_allow_data_in_errors(rocksdb_options_t *);
unsigned char rocksdb_options_get_allow_fallocate(rocksdb_options_t *);
unsigned char rocksdb_options_get_allow_ingest_behind(rocksdb_options_t *);
unsigned char rocksdb_options_get_allow_mmap_reads(rocksdb_options_t *);
unsigned char rocksdb_options_get_allow_mmap_writes(rocksdb_options_t *);
size_t rocksdb_options_get_arena_block_size(rocksdb_options_t *);
unsigned char rocksdb_options_get_async_wal_precreate(rocksdb_options_t *);
unsigned char rocksdb_options_get_atomic_flush(rocksdb_options_t *);
unsigned char rocksdb_options_get_avoid_flush_during_recovery(rocksdb_options_t *);
unsigned char rocksdb_options_get_avoid_flush_during_shutdown(rocksdb_options_t *);
unsigned char rocksdb_options_get_avoid_unnecessary_blocking_io(rocksdb_options_t *);
unsigned char rocksdb_options_get_background_close_inactive_wals(rocksdb_options_t *);
unsigned char rocksdb_options_get_best_efforts_recovery(rocksdb_options_t *);
uint64_t rocksdb_options_get_bgerror_resume_retry_interval(rocksdb_options_t *);
uint64_t rocksdb_options_get_blob_compaction_readahead_size(rocksdb_options_t *);
int rocksdb_options_get_blob_compression_type(rocksdb_options_t *);
uint32_t rocksdb_options_get_blob_direct_write_partitions(rocksdb_options_t *);
uint64_t rocksdb_options_get_blob_file_size(rocksdb_options_t *);
int rocksdb_options_get_blob_file_starting_level(rocksdb_options_t *);
double rocksdb_options_get_blob_gc_age_cutoff(rocksdb_options_t *);
double rocksdb_options_get_blob_gc_force_threshold(rocksdb_options_t *);
uint8_t rocksdb_options_get_block_protection_bytes_per_key(rocksdb_options_t *);
uint32_t rocksdb_options_get_bloom_locality(rocksdb_options_t *);
int rocksdb_options_get_bottommost_compression(rocksdb_options_t *);
unsigned char rocksdb_options_get_bottommost_compression_options_use_zstd_dict_trainer(rocksdb_options_t *);
uint32_t rocksdb_options_get_bottommost_file_compaction_delay(rocksdb_options_t *);
uint64_t rocksdb_options_get_bytes_per_sync(rocksdb_options_t *);
unsigned char rocksdb_options_get_cf_allow_ingest_behind(rocksdb_options_t *);
int rocksdb_options_get_compaction_pri(rocksdb_options_t *);
size_t rocksdb_options_get_compaction_readahead_size(rocksdb_options_t *);
int rocksdb_options_get_compaction_style(rocksdb_options_t *);
unsigned char rocksdb_options_get_compaction_verify_record_count(rocksdb_options_t *);
int rocksdb_options_get_compression(rocksdb_options_t *);
uint64_t rocksdb_options_get_compression_options_max_dict_buffer_bytes(rocksdb_options_t *);
int rocksdb_options_get_compression_options_parallel_threads(rocksdb_options_t *);
unsigned char rocksdb_options_get_compression_options_use_zstd_dict_trainer(rocksdb_options_t *);
int rocksdb_options_get_compression_options_zstd_max_train_bytes(rocksdb_options_t *);
unsigned char rocksdb_options_get_create_if_missing(rocksdb_options_t *);
unsigned char rocksdb_options_get_create_missing_column_families(rocksdb_options_t *);
const char *rocksdb_options_get_daily_offpeak_time_utc(rocksdb_options_t *, size_t *);
const char *rocksdb_options_get_db_host_id(rocksdb_options_t *, size_t *);
const char *rocksdb_options_get_db_log_dir(rocksdb_options_t *, size_t *);
size_t rocksdb_options_get_db_write_buffer_size(rocksdb_options_t *);
int rocksdb_options_get_default_temperature(rocksdb_options_t *);
int rocksdb_options_get_default_write_temperature(rocksdb_options_t *);
uint64_t rocksdb_options_get_delayed_write_rate(rocksdb_options_t *);
uint64_t rocksdb_options_get_delete_obsolete_files_period_micros(rocksdb_options_t *);
unsigned char rocksdb_options_get_disable_auto_compactions(rocksdb_options_t *);
unsigned char rocksdb_options_get_disallow_memtable_writes(rocksdb_options_t *);
unsigned char rocksdb_options_get_dump_malloc_stats(rocksdb_options_t *);
unsigned char rocksdb_options_get_enable_blob_direct_write(rocksdb_options_t *);
unsigned char rocksdb_options_get_enable_blob_files(rocksdb_options_t *);
unsigned char rocksdb_options_get_enable_blob_gc(rocksdb_options_t *);
unsigned char rocksdb_options_get_enable_pipelined_write(rocksdb_options_t *);
unsigned char rocksdb_options_get_enable_thread_tracking(rocksdb_options_t *);
unsigned char rocksdb_options_get_enable_write_thread_adaptive_yield(rocksdb_options_t *);
unsigned char rocksdb_options_get_enforce_single_del_contracts(rocksdb_options_t *);
unsigned char rocksdb_options_get_enforce_write_buffer_manager_during_recovery(rocksdb_options_t *);
unsigned char rocksdb_options_get_error_if_exists(rocksdb_options_t *);
double rocksdb_options_get_experimental_mempurge_threshold(rocksdb_options_t *);
unsigned char rocksdb_options_get_fast_sst_open(rocksdb_options_t *);
unsigned char rocksdb_options_get_flush_verify_memtable_count(rocksdb_options_t *);
uint64_t rocksdb_options_get_follower_catchup_retry_count(rocksdb_options_t *);
uint64_t rocksdb_options_get_follower_catchup_retry_wait_ms(rocksdb_options_t *);
uint64_t rocksdb_options_get_follower_refresh_catchup_period_ms(rocksdb_options_t *);
unsigned char rocksdb_options_get_force_consistency_checks(rocksdb_options_t *);
size_t rocksdb_options_get_hard_pending_compaction_bytes_limit(rocksdb_options_t *);
rocksdb_logger_t *rocksdb_options_get_info_log(rocksdb_options_t *);
int rocksdb_options_get_info_log_level(rocksdb_options_t *);
size_t rocksdb_options_get_inplace_update_num_locks(rocksdb_options_t *);
unsigned char rocksdb_options_get_inplace_update_support(rocksdb_options_t *);
unsigned char rocksdb_options_get_is_fd_close_on_exec(rocksdb_options_t *);
size_t rocksdb_options_get_keep_log_file_num(rocksdb_options_t *);
int rocksdb_options_get_last_level_temperature(rocksdb_options_t *);
int rocksdb_options_get_level0_file_num_compaction_trigger(rocksdb_options_t *);
int rocksdb_options_get_level0_slowdown_writes_trigger(rocksdb_options_t *);
int rocksdb_options_get_level0_stop_writes_trigger(rocksdb_options_t *);
unsigned char rocksdb_options_get_level_compaction_dynamic_level_bytes(rocksdb_options_t *);
size_t rocksdb_options_get_log_file_time_to_roll(rocksdb_options_t *);
size_t rocksdb_options_get_log_readahead_size(rocksdb_options_t *);
int rocksdb_options_get_lowest_used_cache_tier(rocksdb_options_t *);
size_t rocksdb_options_get_manifest_preallocation_size(rocksdb_options_t *);
unsigned char rocksdb_options_get_manual_wal_flush(rocksdb_options_t *);
int rocksdb_options_get_max_background_compactions(rocksdb_options_t *);
int rocksdb_options_get_max_background_flushes(rocksdb_options_t *);
int rocksdb_options_get_max_background_jobs(rocksdb_options_t *);
int rocksdb_options_get_max_bgerror_resume_count(rocksdb_options_t *);
uint64_t rocksdb_options_get_max_bytes_for_level_base(rocksdb_options_t *);
double rocksdb_options_get_max_bytes_for_level_multiplier(rocksdb_options_t *);
uint64_t rocksdb_options_get_max_compaction_bytes(rocksdb_options_t *);
uint64_t rocksdb_options_get_max_compaction_trigger_wakeup_seconds(rocksdb_options_t *);
int rocksdb_options_get_max_file_opening_threads(rocksdb_options_t *);
size_t rocksdb_options_get_max_log_file_size(rocksdb_options_t *);
size_t rocksdb_options_get_max_manifest_file_size(rocksdb_options_t *);
int rocksdb_options_get_max_manifest_space_amp_pct(rocksdb_options_t *);
int rocksdb_options_get_max_open_files(rocksdb_options_t *);
uint64_t rocksdb_options_get_max_sequential_skip_in_iterations(rocksdb_options_t *);
uint32_t rocksdb_options_get_max_subcompactions(rocksdb_options_t *);
size_t rocksdb_options_get_max_successive_merges(rocksdb_options_t *);
uint64_t rocksdb_options_get_max_total_wal_size(rocksdb_options_t *);
uint64_t rocksdb_options_get_max_write_batch_group_size_bytes(rocksdb_options_t *);
int rocksdb_options_get_max_write_buffer_number(rocksdb_options_t *);
int64_t rocksdb_options_get_max_write_buffer_size_to_maintain(rocksdb_options_t *);
uint32_t rocksdb_options_get_memtable_avg_op_scan_flush_trigger(rocksdb_options_t *);
unsigned char rocksdb_options_get_memtable_batch_lookup_optimization(rocksdb_options_t *);
size_t rocksdb_options_get_memtable_huge_page_size(rocksdb_options_t *);
uint32_t rocksdb_options_get_memtable_max_range_deletions(rocksdb_options_t *);
uint32_t rocksdb_options_get_memtable_op_scan_flush_trigger(rocksdb_options_t *);
double rocksdb_options_get_memtable_prefix_bloom_size_ratio(rocksdb_options_t *);
uint32_t rocksdb_options_get_memtable_protection_bytes_per_key(rocksdb_options_t *);
unsigned char rocksdb_options_get_memtable_verify_per_key_checksum_on_seek(rocksdb_options_t *);
unsigned char rocksdb_options_get_memtable_whole_key_filtering(rocksdb_options_t *);
int rocksdb_options_get_metadata_write_temperature(rocksdb_options_t *);
uint64_t rocksdb_options_get_min_blob_size(rocksdb_options_t *);
uint32_t rocksdb_options_get_min_tombstones_for_range_conversion(rocksdb_options_t *);
int rocksdb_options_get_min_write_buffer_number_to_merge(rocksdb_options_t *);
int rocksdb_options_get_num_levels(rocksdb_options_t *);
unsigned char rocksdb_options_get_open_files_async(rocksdb_options_t *);
unsigned char rocksdb_options_get_optimize_filters_for_hits(rocksdb_options_t *);
unsigned char rocksdb_options_get_optimize_manifest_for_recovery(rocksdb_options_t *);
unsigned char rocksdb_options_get_paranoid_checks(rocksdb_options_t *);
unsigned char rocksdb_options_get_paranoid_file_checks(rocksdb_options_t *);
unsigned char rocksdb_options_get_paranoid_memory_checks(rocksdb_options_t *);
uint64_t rocksdb_options_get_periodic_compaction_seconds(rocksdb_options_t *);
unsigned char rocksdb_options_get_persist_stats_to_disk(rocksdb_options_t *);
unsigned char rocksdb_options_get_persist_user_defined_timestamps(rocksdb_options_t *);
uint64_t rocksdb_options_get_preclude_last_level_data_seconds(rocksdb_options_t *);
unsigned char rocksdb_options_get_prefix_seek_opt_in_only(rocksdb_options_t *);
int rocksdb_options_get_prepopulate_blob_cache(rocksdb_options_t *);
uint64_t rocksdb_options_get_preserve_internal_time_seconds(rocksdb_options_t *);
int rocksdb_options_get_read_io_executor_threads(rocksdb_options_t *);
double rocksdb_options_get_read_triggered_compaction_threshold(rocksdb_options_t *);
size_t rocksdb_options_get_recycle_log_file_num(rocksdb_options_t *);
unsigned char rocksdb_options_get_report_bg_io_stats(rocksdb_options_t *);
unsigned char rocksdb_options_get_reuse_manifest_on_open(rocksdb_options_t *);
uint64_t rocksdb_options_get_sample_for_compression(rocksdb_options_t *);
unsigned char rocksdb_options_get_skip_stats_update_on_db_open(rocksdb_options_t *);
size_t rocksdb_options_get_soft_pending_compaction_bytes_limit(rocksdb_options_t *);
int rocksdb_options_get_statistics_level(rocksdb_options_t *);
unsigned int rocksdb_options_get_stats_dump_period_sec(rocksdb_options_t *);
size_t rocksdb_options_get_stats_history_buffer_size(rocksdb_options_t *);
unsigned int rocksdb_options_get_stats_persist_period_sec(rocksdb_options_t *);
unsigned char rocksdb_options_get_strict_bytes_per_sync(rocksdb_options_t *);
unsigned char rocksdb_options_get_strict_max_successive_merges(rocksdb_options_t *);
int rocksdb_options_get_table_cache_numshardbits(rocksdb_options_t *);
uint64_t rocksdb_options_get_target_file_size_base(rocksdb_options_t *);
unsigned char rocksdb_options_get_target_file_size_is_upper_bound(rocksdb_options_t *);
int rocksdb_options_get_target_file_size_multiplier(rocksdb_options_t *);
unsigned char rocksdb_options_get_track_and_verify_wals(rocksdb_options_t *);
unsigned char rocksdb_options_get_track_and_verify_wals_in_manifest(rocksdb_options_t *);
uint64_t rocksdb_options_get_ttl(rocksdb_options_t *);
unsigned char rocksdb_options_get_two_write_queues(rocksdb_options_t *);
uint32_t rocksdb_options_get_uncache_aggressiveness(rocksdb_options_t *);
unsigned char rocksdb_options_get_unordered_write(rocksdb_options_t *);
unsigned char rocksdb_options_get_use_adaptive_mutex(rocksdb_options_t *);
unsigned char rocksdb_options_get_use_direct_io_for_compaction_reads(rocksdb_options_t *);
unsigned char rocksdb_options_get_use_direct_io_for_flush_and_compaction(rocksdb_options_t *);
unsigned char rocksdb_options_get_use_direct_reads(rocksdb_options_t *);
int rocksdb_options_get_use_fsync(rocksdb_options_t *);
unsigned char rocksdb_options_get_verify_manifest_content_on_close(rocksdb_options_t *);
int rocksdb_options_get_verify_output_flags(rocksdb_options_t *);
unsigned char rocksdb_options_get_verify_sst_unique_id_in_manifest(rocksdb_options_t *);
uint64_t rocksdb_options_get_wal_bytes_per_sync(rocksdb_options_t *);
int rocksdb_options_get_wal_compression(rocksdb_options_t *);
const char *rocksdb_options_get_wal_dir(rocksdb_options_t *, size_t *);
int rocksdb_options_get_wal_recovery_mode(rocksdb_options_t *);
int rocksdb_options_get_wal_write_temperature(rocksdb_options_t *);
uint64_t rocksdb_options_get_writable_file_max_buffer_size(rocksdb_options_t *);
size_t rocksdb_options_get_write_buffer_size(rocksdb_options_t *);
unsigned char rocksdb_options_get_write_dbid_to_manifest(rocksdb_options_t *);
unsigned char rocksdb_options_get_write_identity_file(rocksdb_options_t *);
uint64_t rocksdb_options_get_write_thread_max_yield_usec(rocksdb_options_t *);
uint64_t rocksdb_options_get_write_thread_slow_yield_usec(rocksdb_options_t *);
void rocksdb_options_increase_parallelism(rocksdb_options_t *, int);
void rocksdb_options_optimize_for_point_lookup(rocksdb_options_t *, uint64_t);
void rocksdb_options_optimize_level_style_compaction(rocksdb_options_t *, uint64_t);
void rocksdb_options_optimize_universal_style_compaction(rocksdb_options_t *, uint64_t);
void rocksdb_options_prepare_for_bulk_load(rocksdb_options_t *);
void rocksdb_options_set_WAL_size_limit_MB(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_WAL_ttl_seconds(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_advise_random_on_open(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_allow_2pc(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_allow_concurrent_memtable_write(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_allow_data_in_errors(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_allow_fallocate(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_allow_ingest_behind(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_allow_mmap_reads(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_allow_mmap_writes(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_arena_block_size(rocksdb_options_t *, size_t);
void rocksdb_options_set_async_wal_precreate(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_atomic_flush(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_avoid_flush_during_recovery(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_avoid_flush_during_shutdown(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_avoid_unnecessary_blocking_io(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_background_close_inactive_wals(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_best_efforts_recovery(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_bgerror_resume_retry_interval(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_blob_cache(rocksdb_options_t *, rocksdb_cache_t *);
void rocksdb_options_set_blob_compaction_readahead_size(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_blob_compression_type(rocksdb_options_t *, int);
void rocksdb_options_set_blob_direct_write_partitions(rocksdb_options_t *, uint32_t);
void rocksdb_options_set_blob_file_size(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_blob_file_starting_level(rocksdb_options_t *, int);
void rocksdb_options_set_blob_gc_age_cutoff(rocksdb_options_t *, double);
void rocksdb_options_set_blob_gc_force_threshold(rocksdb_options_t *, double);
void rocksdb_options_set_block_based_table_factory(rocksdb_options_t *, rocksdb_block_based_table_options_t *);
void rocksdb_options_set_block_protection_bytes_per_key(rocksdb_options_t *, uint8_t);
void rocksdb_options_set_bloom_locality(rocksdb_options_t *, uint32_t);
void rocksdb_options_set_bottommost_compression(rocksdb_options_t *, int);
void rocksdb_options_set_bottommost_compression_options(rocksdb_options_t *, int, int, int, int, unsigned char);
void rocksdb_options_set_bottommost_compression_options_max_dict_buffer_bytes(rocksdb_options_t *, uint64_t, unsigned
    char);
void rocksdb_options_set_bottommost_compression_options_use_zstd_dict_trainer(rocksdb_options_t *, unsigned char,
    unsigned char);
void rocksdb_options_set_bottommost_compression_options_zstd_max_train_bytes(rocksdb_options_t *, int, unsigned char);
void rocksdb_options_set_bottommost_file_compaction_delay(rocksdb_options_t *, uint32_t);
void rocksdb_options_set_bytes_per_sync(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_cf_allow_ingest_behind(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_cf_paths(rocksdb_options_t *, const rocksdb_dbpath_t **, size_t);
void rocksdb_options_set_compaction_filter(rocksdb_options_t *, rocksdb_compactionfilter_t *);
void rocksdb_options_set_compaction_filter_factory(rocksdb_options_t *, rocksdb_compactionfilterfactory_t *);
void rocksdb_options_set_compaction_pri(rocksdb_options_t *, int);
void rocksdb_options_set_compaction_service(rocksdb_options_t *, rocksdb_compactionservice_t *);
void rocksdb_options_set_compaction_style(rocksdb_options_t *, int);
void rocksdb_options_set_compaction_verify_record_count(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_comparator(rocksdb_options_t *, rocksdb_comparator_t *);
void rocksdb_options_set_compression(rocksdb_options_t *, int);
void rocksdb_options_set_compression_options(rocksdb_options_t *, int, int, int, int);
void rocksdb_options_set_compression_options_max_dict_buffer_bytes(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_compression_options_parallel_threads(rocksdb_options_t *, int);
void rocksdb_options_set_compression_options_use_zstd_dict_trainer(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_compression_options_zstd_max_train_bytes(rocksdb_options_t *, int);
void rocksdb_options_set_compression_per_level(rocksdb_options_t *, const int *, size_t);
void rocksdb_options_set_create_if_missing(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_create_missing_column_families(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_cuckoo_table_factory(rocksdb_options_t *, rocksdb_cuckoo_table_options_t *);
void rocksdb_options_set_daily_offpeak_time_utc(rocksdb_options_t *, const char *);
void rocksdb_options_set_db_host_id(rocksdb_options_t *, const char *);
void rocksdb_options_set_db_log_dir(rocksdb_options_t *, const char *);
void rocksdb_options_set_db_paths(rocksdb_options_t *, const rocksdb_dbpath_t **, size_t);
void rocksdb_options_set_db_write_buffer_size(rocksdb_options_t *, size_t);
void rocksdb_options_set_default_temperature(rocksdb_options_t *, int);
void rocksdb_options_set_default_write_temperature(rocksdb_options_t *, int);
void rocksdb_options_set_delayed_write_rate(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_delete_obsolete_files_period_micros(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_disable_auto_compactions(rocksdb_options_t *, int);
void rocksdb_options_set_disallow_memtable_writes(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_dump_malloc_stats(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_enable_blob_direct_write(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_enable_blob_files(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_enable_blob_gc(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_enable_pipelined_write(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_enable_thread_tracking(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_enable_write_thread_adaptive_yield(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_enforce_single_del_contracts(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_enforce_write_buffer_manager_during_recovery(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_env(rocksdb_options_t *, rocksdb_env_t *);
void rocksdb_options_set_error_if_exists(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_experimental_mempurge_threshold(rocksdb_options_t *, double);
void rocksdb_options_set_fast_sst_open(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_fifo_compaction_options(rocksdb_options_t *, rocksdb_fifo_compaction_options_t *);
void rocksdb_options_set_file_checksum_gen_factory(rocksdb_options_t *, rocksdb_file_checksum_gen_factory_t *);
void rocksdb_options_set_flush_verify_memtable_count(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_follower_catchup_retry_count(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_follower_catchup_retry_wait_ms(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_follower_refresh_catchup_period_ms(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_force_consistency_checks(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_hard_pending_compaction_bytes_limit(rocksdb_options_t *, size_t);
void rocksdb_options_set_hash_link_list_rep(rocksdb_options_t *, size_t);
void rocksdb_options_set_hash_skip_list_rep(rocksdb_options_t *, size_t, int32_t, int32_t);
void rocksdb_options_set_info_log(rocksdb_options_t *, rocksdb_logger_t *);
void rocksdb_options_set_info_log_level(rocksdb_options_t *, int);
void rocksdb_options_set_inplace_update_num_locks(rocksdb_options_t *, size_t);
void rocksdb_options_set_inplace_update_support(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_is_fd_close_on_exec(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_keep_log_file_num(rocksdb_options_t *, size_t);
void rocksdb_options_set_last_level_temperature(rocksdb_options_t *, int);
void rocksdb_options_set_level0_file_num_compaction_trigger(rocksdb_options_t *, int);
void rocksdb_options_set_level0_slowdown_writes_trigger(rocksdb_options_t *, int);
void rocksdb_options_set_level0_stop_writes_trigger(rocksdb_options_t *, int);
void rocksdb_options_set_level_compaction_dynamic_level_bytes(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_log_file_time_to_roll(rocksdb_options_t *, size_t);
void rocksdb_options_set_log_readahead_size(rocksdb_options_t *, size_t);
void rocksdb_options_set_lowest_used_cache_tier(rocksdb_options_t *, int);
void rocksdb_options_set_manifest_preallocation_size(rocksdb_options_t *, size_t);
void rocksdb_options_set_manual_wal_flush(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_max_background_compactions(rocksdb_options_t *, int);
void rocksdb_options_set_max_background_flushes(rocksdb_options_t *, int);
void rocksdb_options_set_max_background_jobs(rocksdb_options_t *, int);
void rocksdb_options_set_max_bgerror_resume_count(rocksdb_options_t *, int);
void rocksdb_options_set_max_bytes_for_level_base(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_max_bytes_for_level_multiplier(rocksdb_options_t *, double);
void rocksdb_options_set_max_bytes_for_level_multiplier_additional(rocksdb_options_t *, int *, size_t);
void rocksdb_options_set_max_compaction_bytes(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_max_compaction_trigger_wakeup_seconds(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_max_file_opening_threads(rocksdb_options_t *, int);
void rocksdb_options_set_max_log_file_size(rocksdb_options_t *, size_t);
void rocksdb_options_set_max_manifest_file_size(rocksdb_options_t *, size_t);
void rocksdb_options_set_max_manifest_space_amp_pct(rocksdb_options_t *, int);
void rocksdb_options_set_max_open_files(rocksdb_options_t *, int);
void rocksdb_options_set_max_sequential_skip_in_iterations(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_max_subcompactions(rocksdb_options_t *, uint32_t);
void rocksdb_options_set_max_successive_merges(rocksdb_options_t *, size_t);
void rocksdb_options_set_max_total_wal_size(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_max_write_batch_group_size_bytes(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_max_write_buffer_number(rocksdb_options_t *, int);
void rocksdb_options_set_max_write_buffer_size_to_maintain(rocksdb_options_t *, int64_t);
void rocksdb_options_set_memtable_avg_op_scan_flush_trigger(rocksdb_options_t *, uint32_t);
void rocksdb_options_set_memtable_batch_lookup_optimization(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_memtable_huge_page_size(rocksdb_options_t *, size_t);
void rocksdb_options_set_memtable_max_range_deletions(rocksdb_options_t *, uint32_t);
void rocksdb_options_set_memtable_op_scan_flush_trigger(rocksdb_options_t *, uint32_t);
void rocksdb_options_set_memtable_prefix_bloom_size_ratio(rocksdb_options_t *, double);
void rocksdb_options_set_memtable_protection_bytes_per_key(rocksdb_options_t *, uint32_t);
void rocksdb_options_set_memtable_vector_rep(rocksdb_options_t *);
void rocksdb_options_set_memtable_verify_per_key_checksum_on_seek(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_memtable_whole_key_filtering(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_merge_operator(rocksdb_options_t *, rocksdb_mergeoperator_t *);
void rocksdb_options_set_metadata_write_temperature(rocksdb_options_t *, int);
void rocksdb_options_set_min_blob_size(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_min_level_to_compress(rocksdb_options_t *, int);
void rocksdb_options_set_min_tombstones_for_range_conversion(rocksdb_options_t *, uint32_t);
void rocksdb_options_set_min_write_buffer_number_to_merge(rocksdb_options_t *, int);
void rocksdb_options_set_num_levels(rocksdb_options_t *, int);
void rocksdb_options_set_open_files_async(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_optimize_filters_for_hits(rocksdb_options_t *, int);
void rocksdb_options_set_optimize_manifest_for_recovery(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_paranoid_checks(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_paranoid_file_checks(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_paranoid_memory_checks(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_periodic_compaction_seconds(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_persist_stats_to_disk(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_persist_user_defined_timestamps(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_plain_table_factory(rocksdb_options_t *, uint32_t, int, double, size_t, size_t, char, unsigned
    char, unsigned char);
void rocksdb_options_set_preclude_last_level_data_seconds(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_prefix_extractor(rocksdb_options_t *, rocksdb_slicetransform_t *);
void rocksdb_options_set_prefix_seek_opt_in_only(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_prepopulate_blob_cache(rocksdb_options_t *, int);
void rocksdb_options_set_preserve_internal_time_seconds(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_ratelimiter(rocksdb_options_t *, rocksdb_ratelimiter_t *);
void rocksdb_options_set_read_io_executor_threads(rocksdb_options_t *, int);
void rocksdb_options_set_read_triggered_compaction_threshold(rocksdb_options_t *, double);
void rocksdb_options_set_recycle_log_file_num(rocksdb_options_t *, size_t);
void rocksdb_options_set_report_bg_io_stats(rocksdb_options_t *, int);
void rocksdb_options_set_reuse_manifest_on_open(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_row_cache(rocksdb_options_t *, rocksdb_cache_t *);
void rocksdb_options_set_sample_for_compression(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_skip_stats_update_on_db_open(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_soft_pending_compaction_bytes_limit(rocksdb_options_t *, size_t);
void rocksdb_options_set_sst_file_manager(rocksdb_options_t *, rocksdb_sst_file_manager_t *);
void rocksdb_options_set_sst_partitioner_factory(rocksdb_options_t *, rocksdb_sst_partitioner_factory_t *);
void rocksdb_options_set_statistics_level(rocksdb_options_t *, int);
void rocksdb_options_set_stats_dump_period_sec(rocksdb_options_t *, unsigned int);
void rocksdb_options_set_stats_history_buffer_size(rocksdb_options_t *, size_t);
void rocksdb_options_set_stats_persist_period_sec(rocksdb_options_t *, unsigned int);
void rocksdb_options_set_strict_bytes_per_sync(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_strict_max_successive_merges(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_table_cache_numshardbits(rocksdb_options_t *, int);
void rocksdb_options_set_target_file_size_base(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_target_file_size_is_upper_bound(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_target_file_size_multiplier(rocksdb_options_t *, int);
void rocksdb_options_set_track_and_verify_wals(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_track_and_verify_wals_in_manifest(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_ttl(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_two_write_queues(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_uint64add_merge_operator(rocksdb_options_t *);
void rocksdb_options_set_uncache_aggressiveness(rocksdb_options_t *, uint32_t);
void rocksdb_options_set_universal_compaction_options(rocksdb_options_t *, rocksdb_universal_compaction_options_t *);
void rocksdb_options_set_unordered_write(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_use_adaptive_mutex(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_use_direct_io_for_compaction_reads(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_use_direct_io_for_flush_and_compaction(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_use_direct_reads(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_use_fsync(rocksdb_options_t *, int);
void rocksdb_options_set_verify_manifest_content_on_close(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_verify_output_flags(rocksdb_options_t *, int);
void rocksdb_options_set_verify_sst_unique_id_in_manifest(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_wal_bytes_per_sync(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_wal_compression(rocksdb_options_t *, int);
void rocksdb_options_set_wal_dir(rocksdb_options_t *, const char *);
void rocksdb_options_set_wal_filter(rocksdb_options_t *, rocksdb_walfilter_t *);
void rocksdb_options_set_wal_recovery_mode(rocksdb_options_t *, int);
void rocksdb_options_set_wal_write_temperature(rocksdb_options_t *, int);
void rocksdb_options_set_writable_file_max_buffer_size(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_write_buffer_manager(rocksdb_options_t *, rocksdb_write_buffer_manager_t *);
void rocksdb_options_set_write_buffer_size(rocksdb_options_t *, size_t);
void rocksdb_options_set_write_dbid_to_manifest(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_write_identity_file(rocksdb_options_t *, unsigned char);
void rocksdb_options_set_write_thread_max_yield_usec(rocksdb_options_t *, uint64_t);
void rocksdb_options_set_write_thread_slow_yield_usec(rocksdb_options_t *, uint64_t);
void rocksdb_options_statistics_get_histogram_data(rocksdb_options_t *, uint32_t, rocksdb_statistics_histogram_data_t
    *const);
char *rocksdb_options_statistics_get_string(rocksdb_options_t *);
uint64_t rocksdb_options_statistics_get_ticker_count(rocksdb_options_t *, uint32_t);
void rocksdb_pause_background_work(rocksdb_t *, char **);
rocksdb_perfcontext_t *rocksdb_perfcontext_create(void);
void rocksdb_perfcontext_destroy(rocksdb_perfcontext_t *);
uint64_t rocksdb_perfcontext_metric(rocksdb_perfcontext_t *, int);
char *rocksdb_perfcontext_report(rocksdb_perfcontext_t *, unsigned char);
void rocksdb_perfcontext_reset(rocksdb_perfcontext_t *);
void rocksdb_pinnable_handle_destroy(rocksdb_pinnable_handle_t *);
const char *rocksdb_pinnable_handle_get_value(const rocksdb_pinnable_handle_t *, size_t *);
void rocksdb_pinnableslice_destroy(rocksdb_pinnableslice_t *);
const char *rocksdb_pinnableslice_value(const rocksdb_pinnableslice_t *, size_t *);
int rocksdb_property_int(rocksdb_t *, const char *, uint64_t *);
int rocksdb_property_int_cf(rocksdb_t *, rocksdb_column_family_handle_t *, const char *, uint64_t *);
char *rocksdb_property_value(rocksdb_t *, const char *);
char *rocksdb_property_value_cf(rocksdb_t *, rocksdb_column_family_handle_t *, const char *);
void rocksdb_put(rocksdb_t *, const rocksdb_writeoptions_t *, const char *, size_t, const char *, size_t, char **);
void rocksdb_put_cf(rocksdb_t *, const rocksdb_writeoptions_t *, rocksdb_column_family_handle_t *, const char *, size_t,
    const char *, size_t, char **);
void rocksdb_put_cf_with_ts(rocksdb_t *, const rocksdb_writeoptions_t *, rocksdb_column_family_handle_t *, const char *,
    size_t, const char *, size_t, const char *, size_t, char **);
void rocksdb_put_with_ts(rocksdb_t *, const rocksdb_writeoptions_t *, const char *, size_t, const char *, size_t, const
    char *, size_t, char **);
rocksdb_ratelimiter_t *rocksdb_ratelimiter_create(int64_t, int64_t, int32_t);
rocksdb_ratelimiter_t *rocksdb_ratelimiter_create_auto_tuned(int64_t, int64_t, int32_t);
rocksdb_ratelimiter_t *rocksdb_ratelimiter_create_with_mode(int64_t, int64_t, int32_t, int, bool);
void rocksdb_ratelimiter_destroy(rocksdb_ratelimiter_t *);
void rocksdb_readoptions_clear_merge_operand_count_threshold(rocksdb_readoptions_t *);
void rocksdb_readoptions_clear_request_id(rocksdb_readoptions_t *);
void rocksdb_readoptions_clear_table_filter(rocksdb_readoptions_t *);
void rocksdb_readoptions_clear_table_index_factory(rocksdb_readoptions_t *);
rocksdb_readoptions_t *rocksdb_readoptions_create(void);
void rocksdb_readoptions_destroy(rocksdb_readoptions_t *);
unsigned char rocksdb_readoptions_get_adaptive_readahead(rocksdb_readoptions_t *);
unsigned char rocksdb_readoptions_get_allow_unprepared_value(rocksdb_readoptions_t *);
unsigned char rocksdb_readoptions_get_async_io(rocksdb_readoptions_t *);
unsigned char rocksdb_readoptions_get_auto_prefix_mode(rocksdb_readoptions_t *);
unsigned char rocksdb_readoptions_get_auto_readahead_size(rocksdb_readoptions_t *);
unsigned char rocksdb_readoptions_get_auto_refresh_iterator_with_snapshot(rocksdb_readoptions_t *);
unsigned char rocksdb_readoptions_get_background_purge_on_iterator_cleanup(rocksdb_readoptions_t *);
uint64_t rocksdb_readoptions_get_deadline(rocksdb_readoptions_t *);
unsigned char rocksdb_readoptions_get_fill_cache(rocksdb_readoptions_t *);
unsigned char rocksdb_readoptions_get_ignore_range_deletions(rocksdb_readoptions_t *);
int rocksdb_readoptions_get_io_activity(rocksdb_readoptions_t *);
uint64_t rocksdb_readoptions_get_io_timeout(rocksdb_readoptions_t *);
uint64_t rocksdb_readoptions_get_max_skippable_internal_keys(rocksdb_readoptions_t *);
size_t rocksdb_readoptions_get_merge_operand_count_threshold(rocksdb_readoptions_t *);
unsigned char rocksdb_readoptions_get_optimize_multiget_for_io(rocksdb_readoptions_t *);
unsigned char rocksdb_readoptions_get_pin_data(rocksdb_readoptions_t *);
unsigned char rocksdb_readoptions_get_prefix_same_as_start(rocksdb_readoptions_t *);
int rocksdb_readoptions_get_rate_limiter_priority(rocksdb_readoptions_t *);
int rocksdb_readoptions_get_read_tier(rocksdb_readoptions_t *);
size_t rocksdb_readoptions_get_readahead_size(rocksdb_readoptions_t *);
const char *rocksdb_readoptions_get_request_id(rocksdb_readoptions_t *, size_t *);
const char *rocksdb_readoptions_get_table_index_factory_name(const rocksdb_readoptions_t *, size_t *);
unsigned char rocksdb_readoptions_get_tailing(rocksdb_readoptions_t *);
unsigned char rocksdb_readoptions_get_total_order_seek(rocksdb_readoptions_t *);
uint64_t rocksdb_readoptions_get_value_size_soft_limit(rocksdb_readoptions_t *);
unsigned char rocksdb_readoptions_get_verify_checksums(rocksdb_readoptions_t *);
unsigned char rocksdb_readoptions_has_merge_operand_count_threshold(rocksdb_readoptions_t *);
unsigned char rocksdb_readoptions_has_table_filter(const rocksdb_readoptions_t *);
void rocksdb_readoptions_set_adaptive_readahead(rocksdb_readoptions_t *, unsigned char);
void rocksdb_readoptions_set_allow_unprepared_value(rocksdb_readoptions_t *, unsigned char);
void rocksdb_readoptions_set_async_io(rocksdb_readoptions_t *, unsigned char);
void rocksdb_readoptions_set_auto_prefix_mode(rocksdb_readoptions_t *, unsigned char);
void rocksdb_readoptions_set_auto_readahead_size(rocksdb_readoptions_t *, unsigned char);
void rocksdb_readoptions_set_auto_refresh_iterator_with_snapshot(rocksdb_readoptions_t *, unsigned char);
void rocksdb_readoptions_set_background_purge_on_iterator_cleanup(rocksdb_readoptions_t *, unsigned char);
void rocksdb_readoptions_set_deadline(rocksdb_readoptions_t *, uint64_t);
void rocksdb_readoptions_set_fill_cache(rocksdb_readoptions_t *, unsigned char);
void rocksdb_readoptions_set_ignore_range_deletions(rocksdb_readoptions_t *, unsigned char);
void rocksdb_readoptions_set_io_activity(rocksdb_readoptions_t *, int);
void rocksdb_readoptions_set_io_timeout(rocksdb_readoptions_t *, uint64_t);
void rocksdb_readoptions_set_iter_start_ts(rocksdb_readoptions_t *, const char *, size_t);
void rocksdb_readoptions_set_iterate_lower_bound(rocksdb_readoptions_t *, const char *, size_t);
void rocksdb_readoptions_set_iterate_upper_bound(rocksdb_readoptions_t *, const char *, size_t);
void rocksdb_readoptions_set_max_skippable_internal_keys(rocksdb_readoptions_t *, uint64_t);
void rocksdb_readoptions_set_merge_operand_count_threshold(rocksdb_readoptions_t *, size_t);
void rocksdb_readoptions_set_optimize_multiget_for_io(rocksdb_readoptions_t *, unsigned char);
void rocksdb_readoptions_set_pin_data(rocksdb_readoptions_t *, unsigned char);
void rocksdb_readoptions_set_prefix_same_as_start(rocksdb_readoptions_t *, unsigned char);
void rocksdb_readoptions_set_rate_limiter_priority(rocksdb_readoptions_t *, int);
void rocksdb_readoptions_set_read_tier(rocksdb_readoptions_t *, int);
void rocksdb_readoptions_set_readahead_size(rocksdb_readoptions_t *, size_t);
void rocksdb_readoptions_set_request_id(rocksdb_readoptions_t *, const char *, size_t);
void rocksdb_readoptions_set_snapshot(rocksdb_readoptions_t *, const rocksdb_snapshot_t *);
void rocksdb_readoptions_set_table_filter(rocksdb_readoptions_t *, void *, void (*)(void *), unsigned char (*)(void *,
    const rocksdb_table_properties_t *));
void rocksdb_readoptions_set_table_index_factory_from_string(rocksdb_readoptions_t *, const char *, size_t, char **);
void rocksdb_readoptions_set_tailing(rocksdb_readoptions_t *, unsigned char);
void rocksdb_readoptions_set_timestamp(rocksdb_readoptions_t *, const char *, size_t);
void rocksdb_readoptions_set_total_order_seek(rocksdb_readoptions_t *, unsigned char);
void rocksdb_readoptions_set_value_size_soft_limit(rocksdb_readoptions_t *, uint64_t);
void rocksdb_readoptions_set_verify_checksums(rocksdb_readoptions_t *, unsigned char);
void rocksdb_release_snapshot(rocksdb_t *, const rocksdb_snapshot_t *);
void rocksdb_repair_db(const rocksdb_options_t *, const char *, char **);
rocksdb_replay_options_t *rocksdb_replay_options_create(void);
void rocksdb_replay_options_destroy(rocksdb_replay_options_t *);
double rocksdb_replay_options_get_fast_forward(rocksdb_replay_options_t *);
uint32_t rocksdb_replay_options_get_num_threads(rocksdb_replay_options_t *);
void rocksdb_replay_options_set_fast_forward(rocksdb_replay_options_t *, double);
void rocksdb_replay_options_set_num_threads(rocksdb_replay_options_t *, uint32_t);
void rocksdb_replayer_destroy(rocksdb_replayer_t *);
uint64_t rocksdb_replayer_get_header_timestamp(const rocksdb_replayer_t *);
void rocksdb_replayer_prepare(rocksdb_replayer_t *, char **);
void rocksdb_replayer_replay(rocksdb_replayer_t *, const rocksdb_replay_options_t *, char **);
void rocksdb_reset_status(rocksdb_status_ptr_t *);
rocksdb_restore_options_t *rocksdb_restore_options_create(void);
void rocksdb_restore_options_destroy(rocksdb_restore_options_t *);
unsigned char rocksdb_restore_options_get_keep_log_files(rocksdb_restore_options_t *);
int rocksdb_restore_options_get_mode(rocksdb_restore_options_t *);
void rocksdb_restore_options_set_keep_log_files(rocksdb_restore_options_t *, int);
void rocksdb_restore_options_set_mode(rocksdb_restore_options_t *, int);
void rocksdb_set_db_options(rocksdb_t *, int, const char *const *, const char *const *, char **);
void rocksdb_set_options(rocksdb_t *, int, const char *const *, const char *const *, char **);
void rocksdb_set_options_cf(rocksdb_t *, rocksdb_column_family_handle_t *, int, const char *const *, const char *const
    *, char **);
void rocksdb_set_perf_level(int);
void rocksdb_singledelete(rocksdb_t *, const rocksdb_writeoptions_t *, const char *, size_t, char **);
void rocksdb_singledelete_cf(rocksdb_t *, const rocksdb_writeoptions_t *, rocksdb_column_family_handle_t *, const char
    *, size_t, char **);
void rocksdb_singledelete_cf_with_ts(rocksdb_t *, const rocksdb_writeoptions_t *, rocksdb_column_family_handle_t *,
    const char *, size_t, const char *, size_t, char **);
void rocksdb_singledelete_with_ts(rocksdb_t *, const rocksdb_writeoptions_t *, const char *, size_t, const char *,
    size_t, char **);
rocksdb_size_approximation_options_t *rocksdb_size_approximation_options_create(void);
void rocksdb_size_approximation_options_destroy(rocksdb_size_approximation_options_t *);
double rocksdb_size_approximation_options_get_files_size_error_margin(rocksdb_size_approximation_options_t *);
unsigned char rocksdb_size_approximation_options_get_include_blob_files(rocksdb_size_approximation_options_t *);
unsigned char rocksdb_size_approximation_options_get_include_files(rocksdb_size_approximation_options_t *);
unsigned char rocksdb_size_approximation_options_get_include_memtables(rocksdb_size_approximation_options_t *);
void rocksdb_size_approximation_options_set_files_size_error_margin(rocksdb_size_approximation_options_t *, double);
void rocksdb_size_approximation_options_set_include_blob_files(rocksdb_size_approximation_options_t *, unsigned char);
void rocksdb_size_approximation_options_set_include_files(rocksdb_size_approximation_options_t *, unsigned char);
void rocksdb_size_approximation_options_set_include_memtables(rocksdb_size_approximation_options_t *, unsigned char);
rocksdb_slicetransform_t *rocksdb_slicetransform_create(void *, void (*)(void *), char *(*)(void *, const char *,
    size_t, size_t *), unsigned char (*)(void *, const char *, unsigned long int), const char *(*)(void *));
rocksdb_slicetransform_t *rocksdb_slicetransform_create_fixed_prefix(size_t);
rocksdb_slicetransform_t *rocksdb_slicetransform_create_noop(void);
void rocksdb_slicetransform_destroy(rocksdb_slicetransform_t *);
uint64_t rocksdb_snapshot_get_sequence_number(const rocksdb_snapshot_t *);
rocksdb_sst_file_manager_t *rocksdb_sst_file_manager_create(rocksdb_env_t *);
void rocksdb_sst_file_manager_destroy(rocksdb_sst_file_manager_t *);
int64_t rocksdb_sst_file_manager_get_delete_rate_bytes_per_second(rocksdb_sst_file_manager_t *);
double rocksdb_sst_file_manager_get_max_trash_db_ratio(rocksdb_sst_file_manager_t *);
uint64_t rocksdb_sst_file_manager_get_total_size(rocksdb_sst_file_manager_t *);
uint64_t rocksdb_sst_file_manager_get_total_trash_size(rocksdb_sst_file_manager_t *);
bool rocksdb_sst_file_manager_is_max_allowed_space_reached(rocksdb_sst_file_manager_t *);
bool rocksdb_sst_file_manager_is_max_allowed_space_reached_including_compactions(rocksdb_sst_file_manager_t *);
void rocksdb_sst_file_manager_set_compaction_buffer_size(rocksdb_sst_file_manager_t *, uint64_t);
void rocksdb_sst_file_manager_set_delete_rate_bytes_per_second(rocksdb_sst_file_manager_t *, int64_t);
void rocksdb_sst_file_manager_set_max_allowed_space_usage(rocksdb_sst_file_manager_t *, uint64_t);
void rocksdb_sst_file_manager_set_max_trash_db_ratio(rocksdb_sst_file_manager_t *, double);
void rocksdb_sst_file_metadata_destroy(rocksdb_sst_file_metadata_t *);
char *rocksdb_sst_file_metadata_get_directory(rocksdb_sst_file_metadata_t *);
char *rocksdb_sst_file_metadata_get_largestkey(rocksdb_sst_file_metadata_t *, size_t *);
char *rocksdb_sst_file_metadata_get_relative_filename(rocksdb_sst_file_metadata_t *);
uint64_t rocksdb_sst_file_metadata_get_size(rocksdb_sst_file_metadata_t *);
char *rocksdb_sst_file_metadata_get_smallestkey(rocksdb_sst_file_metadata_t *, size_t *);
void rocksdb_sst_partitioner_factory_destroy(rocksdb_sst_partitioner_factory_t *);
rocksdb_sst_partitioner_factory_t *rocksdb_sst_partitioner_fixed_prefix_factory_create(size_t);
void rocksdb_sstfilewriter_add(rocksdb_sstfilewriter_t *, const char *, size_t, const char *, size_t, char **);
rocksdb_sstfilewriter_t *rocksdb_sstfilewriter_create(const rocksdb_envoptions_t *, const rocksdb_options_t *);
rocksdb_sstfilewriter_t *rocksdb_sstfilewriter_create_with_comparator(const rocksdb_envoptions_t *, const
    rocksdb_options_t *, const rocksdb_comparator_t *);
void rocksdb_sstfilewriter_delete(rocksdb_sstfilewriter_t *, const char *, size_t, char **);
void rocksdb_sstfilewriter_delete_range(rocksdb_sstfilewriter_t *, const char *, size_t, const char *, size_t, char **);
void rocksdb_sstfilewriter_delete_with_ts(rocksdb_sstfilewriter_t *, const char *, size_t, const char *, size_t, char
    **);
void rocksdb_sstfilewriter_destroy(rocksdb_sstfilewriter_t *);
void rocksdb_sstfilewriter_file_size(rocksdb_sstfilewriter_t *, uint64_t *);
void rocksdb_sstfilewriter_finish(rocksdb_sstfilewriter_t *, char **);
void rocksdb_sstfilewriter_merge(rocksdb_sstfilewriter_t *, const char *, size_t, const char *, size_t, char **);
void rocksdb_sstfilewriter_open(rocksdb_sstfilewriter_t *, const char *, char **);
void rocksdb_sstfilewriter_put(rocksdb_sstfilewriter_t *, const char *, size_t, const char *, size_t, char **);
void rocksdb_sstfilewriter_put_with_ts(rocksdb_sstfilewriter_t *, const char *, size_t, const char *, size_t, const char
    *, size_t, char **);
void rocksdb_start_block_cache_trace(rocksdb_t *, rocksdb_env_t *, const rocksdb_envoptions_t *, const
    rocksdb_trace_options_t *, const char *, char **);
void rocksdb_start_block_cache_trace_with_options(rocksdb_t *, rocksdb_env_t *, const rocksdb_envoptions_t *, const
    rocksdb_block_cache_trace_options_t *, const rocksdb_block_cache_trace_writer_options_t *, const char *, char **);
void rocksdb_start_io_trace(rocksdb_t *, rocksdb_env_t *, const rocksdb_envoptions_t *, const rocksdb_trace_options_t *,
    const char *, char **);
void rocksdb_start_trace(rocksdb_t *, rocksdb_env_t *, const rocksdb_envoptions_t *, const rocksdb_trace_options_t *,
    const char *, char **);
rocksdb_statistics_histogram_data_t *rocksdb_statistics_histogram_data_create(void);
void rocksdb_statistics_histogram_data_destroy(rocksdb_statistics_histogram_data_t *);
double rocksdb_statistics_histogram_data_get_average(rocksdb_statistics_histogram_data_t *);
uint64_t rocksdb_statistics_histogram_data_get_count(rocksdb_statistics_histogram_data_t *);
double rocksdb_statistics_histogram_data_get_max(rocksdb_statistics_histogram_data_t *);
double rocksdb_statistics_histogram_data_get_median(rocksdb_statistics_histogram_data_t *);
double rocksdb_statistics_histogram_data_get_min(rocksdb_statistics_histogram_data_t *);
double rocksdb_statistics_histogram_data_get_p95(rocksdb_statistics_histogram_data_t *);
double rocksdb_statistics_histogram_data_get_p99(rocksdb_statistics_histogram_data_t *);
double rocksdb_statistics_histogram_data_get_std_dev(rocksdb_statistics_histogram_data_t *);
uint64_t rocksdb_statistics_histogram_data_get_sum(rocksdb_statistics_histogram_data_t *);
void rocksdb_status_ptr_get_error(rocksdb_status_ptr_t *, char **);
int rocksdb_subcompactionjobinfo_base_input_level(const rocksdb_subcompactionjobinfo_t *);
uint32_t rocksdb_subcompactionjobinfo_blob_compression_type(const rocksdb_subcompactionjobinfo_t *);
uint32_t rocksdb_subcompactionjobinfo_cf_id(const rocksdb_subcompactionjobinfo_t *);
const char *rocksdb_subcompactionjobinfo_cf_name(const rocksdb_subcompactionjobinfo_t *, size_t *);
uint32_t rocksdb_subcompactionjobinfo_compaction_reason(const rocksdb_subcompactionjobinfo_t *);
uint32_t rocksdb_subcompactionjobinfo_compression(const rocksdb_subcompactionjobinfo_t *);
int rocksdb_subcompactionjobinfo_job_id(const rocksdb_subcompactionjobinfo_t *);
int rocksdb_subcompactionjobinfo_output_level(const rocksdb_subcompactionjobinfo_t *);
const rocksdb_compaction_job_stats_t *rocksdb_subcompactionjobinfo_stats(const rocksdb_subcompactionjobinfo_t *);
void rocksdb_subcompactionjobinfo_status(const rocksdb_subcompactionjobinfo_t *, char **);
int rocksdb_subcompactionjobinfo_subcompaction_job_id(const rocksdb_subcompactionjobinfo_t *);
uint64_t rocksdb_subcompactionjobinfo_thread_id(const rocksdb_subcompactionjobinfo_t *);
void rocksdb_suggest_compact_range(rocksdb_t *, const char *, size_t, const char *, size_t, char **);
void rocksdb_suggest_compact_range_cf(rocksdb_t *, rocksdb_column_family_handle_t *, const char *, size_t, const char *,
    size_t, char **);
void rocksdb_table_properties_collector_factory_destroy(rocksdb_table_properties_collector_factory_t *);
uint64_t rocksdb_table_properties_column_family_id(const rocksdb_table_properties_t *);
const char *rocksdb_table_properties_column_family_name(const rocksdb_table_properties_t *, size_t *);
const char *rocksdb_table_properties_comparator_name(const rocksdb_table_properties_t *, size_t *);
const char *rocksdb_table_properties_compression_name(const rocksdb_table_properties_t *, size_t *);
const char *rocksdb_table_properties_compression_options(const rocksdb_table_properties_t *, size_t *);
uint64_t rocksdb_table_properties_creation_time(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_data_block_restart_interval(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_data_size(const rocksdb_table_properties_t *);
const char *rocksdb_table_properties_db_host_id(const rocksdb_table_properties_t *, size_t *);
const char *rocksdb_table_properties_db_id(const rocksdb_table_properties_t *, size_t *);
const char *rocksdb_table_properties_db_session_id(const rocksdb_table_properties_t *, size_t *);
uint64_t rocksdb_table_properties_external_sst_file_global_seqno_offset(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_fast_compression_estimated_data_size(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_file_creation_time(const rocksdb_table_properties_t *);
const char *rocksdb_table_properties_filter_policy_name(const rocksdb_table_properties_t *, size_t *);
uint64_t rocksdb_table_properties_filter_size(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_fixed_key_len(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_format_version(const rocksdb_table_properties_t *);
unsigned char rocksdb_table_properties_has_key_largest_seqno(const rocksdb_table_properties_t *);
unsigned char rocksdb_table_properties_has_key_smallest_seqno(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_index_block_restart_interval(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_index_key_is_user_key(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_index_partitions(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_index_size(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_index_value_is_delta_encoded(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_key_largest_seqno(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_key_smallest_seqno(const rocksdb_table_properties_t *);
const char *rocksdb_table_properties_merge_operator_name(const rocksdb_table_properties_t *, size_t *);
uint64_t rocksdb_table_properties_newest_key_time(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_num_data_blocks(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_num_data_blocks_compression_bypassed(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_num_data_blocks_compression_rejected(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_num_deletions(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_num_entries(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_num_filter_entries(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_num_merge_operands(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_num_range_deletions(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_num_uniform_blocks(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_oldest_key_time(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_orig_file_number(const rocksdb_table_properties_t *);
const char *rocksdb_table_properties_prefix_extractor_name(const rocksdb_table_properties_t *, size_t *);
const char *rocksdb_table_properties_property_collectors_names(const rocksdb_table_properties_t *, size_t *);
uint64_t rocksdb_table_properties_raw_key_size(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_raw_value_size(const rocksdb_table_properties_t *);
size_t rocksdb_table_properties_readable_properties_count(const rocksdb_table_properties_t *);
const char *rocksdb_table_properties_readable_properties_key_at(const rocksdb_table_properties_t *, size_t, size_t *);
const char *rocksdb_table_properties_readable_properties_value_at(const rocksdb_table_properties_t *, size_t, size_t *);
uint64_t rocksdb_table_properties_separate_key_value_in_data_block(const rocksdb_table_properties_t *);
const char *rocksdb_table_properties_seqno_to_time_mapping(const rocksdb_table_properties_t *, size_t *);
uint64_t rocksdb_table_properties_slow_compression_estimated_data_size(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_tail_start_offset(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_top_level_index_size(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_udi_is_primary_index(const rocksdb_table_properties_t *);
uint64_t rocksdb_table_properties_uncompressed_data_size(const rocksdb_table_properties_t *);
size_t rocksdb_table_properties_user_collected_properties_count(const rocksdb_table_properties_t *);
const char *rocksdb_table_properties_user_collected_properties_key_at(const rocksdb_table_properties_t *, size_t, size_t
    *);
const char *rocksdb_table_properties_user_collected_properties_value_at(const rocksdb_table_properties_t *, size_t,
    size_t *);
uint64_t rocksdb_table_properties_user_defined_timestamps_persisted(const rocksdb_table_properties_t *);
rocksdb_trace_options_t *rocksdb_trace_options_create(void);
void rocksdb_trace_options_destroy(rocksdb_trace_options_t *);
uint64_t rocksdb_trace_options_get_filter(rocksdb_trace_options_t *);
uint64_t rocksdb_trace_options_get_max_trace_file_size(rocksdb_trace_options_t *);
unsigned char rocksdb_trace_options_get_preserve_write_order(rocksdb_trace_options_t *);
uint64_t rocksdb_trace_options_get_sampling_frequency(rocksdb_trace_options_t *);
void rocksdb_trace_options_set_filter(rocksdb_trace_options_t *, uint64_t);
void rocksdb_trace_options_set_max_trace_file_size(rocksdb_trace_options_t *, uint64_t);
void rocksdb_trace_options_set_preserve_write_order(rocksdb_trace_options_t *, unsigned char);
void rocksdb_trace_options_set_sampling_frequency(rocksdb_trace_options_t *, uint64_t);
void rocksdb_trace_reader_close(rocksdb_trace_reader_t *, char **);
rocksdb_trace_reader_t *rocksdb_trace_reader_create(rocksdb_env_t *, const rocksdb_envoptions_t *, const char *, char
    **);
void rocksdb_trace_reader_destroy(rocksdb_trace_reader_t *);
char *rocksdb_trace_reader_read(rocksdb_trace_reader_t *, size_t *, char **);
void rocksdb_trace_reader_reset(rocksdb_trace_reader_t *, char **);
rocksdb_transaction_t *rocksdb_transaction_begin(rocksdb_transactiondb_t *, const rocksdb_writeoptions_t *, const
    rocksdb_transaction_options_t *, rocksdb_transaction_t *);
void rocksdb_transaction_commit(rocksdb_transaction_t *, char **);
rocksdb_iterator_t *rocksdb_transaction_create_iterator(rocksdb_transaction_t *, const rocksdb_readoptions_t *);
rocksdb_iterator_t *rocksdb_transaction_create_iterator_cf(rocksdb_transaction_t *, const rocksdb_readoptions_t *,
    rocksdb_column_family_handle_t *);
void rocksdb_transaction_delete(rocksdb_transaction_t *, const char *, size_t, char **);
void rocksdb_transaction_delete_cf(rocksdb_transaction_t *, rocksdb_column_family_handle_t *, const char *, size_t, char
    **);
void rocksdb_transaction_destroy(rocksdb_transaction_t *);
char *rocksdb_transaction_get(rocksdb_transaction_t *, const rocksdb_readoptions_t *, const char *, size_t, size_t *,
    char **);
char *rocksdb_transaction_get_cf(rocksdb_transaction_t *, const rocksdb_readoptions_t *, rocksdb_column_family_handle_t
    *, const char *, size_t, size_t *, char **);
char *rocksdb_transaction_get_for_update(rocksdb_transaction_t *, const rocksdb_readoptions_t *, const char *, size_t,
    size_t *, unsigned char, char **);
char *rocksdb_transaction_get_for_update_cf(rocksdb_transaction_t *, const rocksdb_readoptions_t *,
    rocksdb_column_family_handle_t *, const char *, size_t, size_t *, unsigned char, char **);
char *rocksdb_transaction_get_name(rocksdb_transaction_t *, size_t *);
rocksdb_pinnableslice_t *rocksdb_transaction_get_pinned(rocksdb_transaction_t *, const rocksdb_readoptions_t *, const
    char *, size_t, char **);
rocksdb_pinnableslice_t *rocksdb_transaction_get_pinned_cf(rocksdb_transaction_t *, const rocksdb_readoptions_t *,
    rocksdb_column_family_handle_t *, const char *, size_t, char **);
rocksdb_pinnableslice_t *rocksdb_transaction_get_pinned_for_update(rocksdb_transaction_t *, const rocksdb_readoptions_t
    *, const char *, size_t, unsigned char, char **);
rocksdb_pinnableslice_t *rocksdb_transaction_get_pinned_for_update_cf(rocksdb_transaction_t *, const
    rocksdb_readoptions_t *, rocksdb_column_family_handle_t *, const char *, size_t, unsigned char, char **);
const rocksdb_snapshot_t *rocksdb_transaction_get_snapshot(rocksdb_transaction_t *);
rocksdb_writebatch_wi_t *rocksdb_transaction_get_writebatch_wi(rocksdb_transaction_t *);
void rocksdb_transaction_merge(rocksdb_transaction_t *, const char *, size_t, const char *, size_t, char **);
void rocksdb_transaction_merge_cf(rocksdb_transaction_t *, rocksdb_column_family_handle_t *, const char *, size_t, const
    char *, size_t, char **);
void rocksdb_transaction_multi_get(rocksdb_transaction_t *, const rocksdb_readoptions_t *, size_t, const char *const *,
    const size_t *, char **, size_t *, char **);
void rocksdb_transaction_multi_get_cf(rocksdb_transaction_t *, const rocksdb_readoptions_t *, const
    rocksdb_column_family_handle_t *const *, size_t, const char *const *, const size_t *, char **, size_t *, char **);
void rocksdb_transaction_multi_get_for_update(rocksdb_transaction_t *, const rocksdb_readoptions_t *, size_t, const char
    *const *, const size_t *, char **, size_t *, char **);
void rocksdb_transaction_multi_get_for_update_cf(rocksdb_transaction_t *, const rocksdb_readoptions_t *, const
    rocksdb_column_family_handle_t *const *, size_t, const char *const *, const size_t *, char **, size_t *, char **);
rocksdb_transaction_options_t *rocksdb_transaction_options_create(void);
void rocksdb_transaction_options_destroy(rocksdb_transaction_options_t *);
unsigned char rocksdb_transaction_options_get_commit_bypass_memtable(rocksdb_transaction_options_t *);
unsigned char rocksdb_transaction_options_get_deadlock_detect(rocksdb_transaction_options_t *);
int64_t rocksdb_transaction_options_get_deadlock_detect_depth(rocksdb_transaction_options_t *);
int64_t rocksdb_transaction_options_get_deadlock_timeout_us(rocksdb_transaction_options_t *);
int64_t rocksdb_transaction_options_get_expiration(rocksdb_transaction_options_t *);
uint64_t rocksdb_transaction_options_get_large_txn_commit_optimize_byte_threshold(rocksdb_transaction_options_t *);
uint32_t rocksdb_transaction_options_get_large_txn_commit_optimize_threshold(rocksdb_transaction_options_t *);
int64_t rocksdb_transaction_options_get_lock_timeout(rocksdb_transaction_options_t *);
size_t rocksdb_transaction_options_get_max_write_batch_size(rocksdb_transaction_options_t *);
unsigned char rocksdb_transaction_options_get_set_snapshot(rocksdb_transaction_options_t *);
unsigned char rocksdb_transaction_options_get_skip_concurrency_control(rocksdb_transaction_options_t *);
unsigned char rocksdb_transaction_options_get_skip_prepare(rocksdb_transaction_options_t *);
unsigned char
    rocksdb_transaction_options_get_use_only_the_last_commit_time_batch_for_recovery(rocksdb_transaction_options_t *);
int64_t rocksdb_transaction_options_get_write_batch_flush_threshold(rocksdb_transaction_options_t *);
unsigned char rocksdb_transaction_options_get_write_batch_track_timestamp_size(rocksdb_transaction_options_t *);
void rocksdb_transaction_options_set_commit_bypass_memtable(rocksdb_transaction_options_t *, unsigned char);
void rocksdb_transaction_options_set_deadlock_detect(rocksdb_transaction_options_t *, unsigned char);
void rocksdb_transaction_options_set_deadlock_detect_depth(rocksdb_transaction_options_t *, int64_t);
void rocksdb_transaction_options_set_deadlock_timeout_us(rocksdb_transaction_options_t *, int64_t);
void rocksdb_transaction_options_set_expiration(rocksdb_transaction_options_t *, int64_t);
void rocksdb_transaction_options_set_large_txn_commit_optimize_byte_threshold(rocksdb_transaction_options_t *,
    uint64_t);
void rocksdb_transaction_options_set_large_txn_commit_optimize_threshold(rocksdb_transaction_options_t *, uint32_t);
void rocksdb_transaction_options_set_lock_timeout(rocksdb_transaction_options_t *, int64_t);
void rocksdb_transaction_options_set_max_write_batch_size(rocksdb_transaction_options_t *, size_t);
void rocksdb_transaction_options_set_set_snapshot(rocksdb_transaction_options_t *, unsigned char);
void rocksdb_transaction_options_set_skip_concurrency_control(rocksdb_transaction_options_t *, unsigned char);
void rocksdb_transaction_options_set_skip_prepare(rocksdb_transaction_options_t *, unsigned char);
void rocksdb_transaction_options_set_use_only_the_last_commit_time_batch_for_recovery(rocksdb_transaction_options_t *,
    unsigned char);
void rocksdb_transaction_options_set_write_batch_flush_threshold(rocksdb_transaction_options_t *, int64_t);
void rocksdb_transaction_options_set_write_batch_track_timestamp_size(rocksdb_transaction_options_t *, unsigned char);
void rocksdb_transaction_prepare(rocksdb_transaction_t *, char **);
void rocksdb_transaction_put(rocksdb_transaction_t *, const char *, size_t, const char *, size_t, char **);
void rocksdb_transaction_put_cf(rocksdb_transaction_t *, rocksdb_column_family_handle_t *, const char *, size_t, const
    char *, size_t, char **);
void rocksdb_transaction_put_log_data(rocksdb_transaction_t *, const char *, size_t);
void rocksdb_transaction_rebuild_from_writebatch(rocksdb_transaction_t *, rocksdb_writebatch_t *, char **);
void rocksdb_transaction_rebuild_from_writebatch_wi(rocksdb_transaction_t *, rocksdb_writebatch_wi_t *, char **);
void rocksdb_transaction_rollback(rocksdb_transaction_t *, char **);
void rocksdb_transaction_rollback_to_savepoint(rocksdb_transaction_t *, char **);
void rocksdb_transaction_set_commit_timestamp(rocksdb_transaction_t *, uint64_t);
void rocksdb_transaction_set_name(rocksdb_transaction_t *, const char *, size_t, char **);
void rocksdb_transaction_set_read_timestamp_for_validation(rocksdb_transaction_t *, uint64_t);
void rocksdb_transaction_set_savepoint(rocksdb_transaction_t *);
rocksdb_checkpoint_t *rocksdb_transactiondb_checkpoint_object_create(rocksdb_transactiondb_t *, char **);
void rocksdb_transactiondb_close(rocksdb_transactiondb_t *);
void rocksdb_transactiondb_close_base_db(rocksdb_t *);
rocksdb_column_family_handle_t *rocksdb_transactiondb_create_column_family(rocksdb_transactiondb_t *, const
    rocksdb_options_t *, const char *, char **);
rocksdb_iterator_t *rocksdb_transactiondb_create_iterator(rocksdb_transactiondb_t *, const rocksdb_readoptions_t *);
rocksdb_iterator_t *rocksdb_transactiondb_create_iterator_cf(rocksdb_transactiondb_t *, const rocksdb_readoptions_t *,
    rocksdb_column_family_handle_t *);
const rocksdb_snapshot_t *rocksdb_transactiondb_create_snapshot(rocksdb_transactiondb_t *);
void rocksdb_transactiondb_delete(rocksdb_transactiondb_t *, const rocksdb_writeoptions_t *, const char *, size_t, char
    **);
void rocksdb_transactiondb_delete_cf(rocksdb_transactiondb_t *, const rocksdb_writeoptions_t *,
    rocksdb_column_family_handle_t *, const char *, size_t, char **);
void rocksdb_transactiondb_flush(rocksdb_transactiondb_t *, const rocksdb_flushoptions_t *, char **);
void rocksdb_transactiondb_flush_cf(rocksdb_transactiondb_t *, const rocksdb_flushoptions_t *,
    rocksdb_column_family_handle_t *, char **);
void rocksdb_transactiondb_flush_cfs(rocksdb_transactiondb_t *, const rocksdb_flushoptions_t *,
    rocksdb_column_family_handle_t **, int, char **);
void rocksdb_transactiondb_flush_wal(rocksdb_transactiondb_t *, unsigned char, char **);
void rocksdb_transactiondb_flush_wal_with_options(rocksdb_transactiondb_t *, const rocksdb_flushwaloptions_t *, char
    **);
char *rocksdb_transactiondb_get(rocksdb_transactiondb_t *, const rocksdb_readoptions_t *, const char *, size_t, size_t
    *, char **);
rocksdb_t *rocksdb_transactiondb_get_base_db(rocksdb_transactiondb_t *);
char *rocksdb_transactiondb_get_cf(rocksdb_transactiondb_t *, const rocksdb_readoptions_t *,
    rocksdb_column_family_handle_t *, const char *, size_t, size_t *, char **);
rocksdb_pinnableslice_t *rocksdb_transactiondb_get_pinned(rocksdb_transactiondb_t *, const rocksdb_readoptions_t *,
    const char *, size_t, char **);
rocksdb_pinnableslice_t *rocksdb_transactiondb_get_pinned_cf(rocksdb_transactiondb_t *, const rocksdb_readoptions_t *,
    rocksdb_column_family_handle_t *, const char *, size_t, char **);
rocksdb_transaction_t **rocksdb_transactiondb_get_prepared_transactions(rocksdb_transactiondb_t *, size_t *);
void rocksdb_transactiondb_merge(rocksdb_transactiondb_t *, const rocksdb_writeoptions_t *, const char *, size_t, const
    char *, size_t, char **);
void rocksdb_transactiondb_merge_cf(rocksdb_transactiondb_t *, const rocksdb_writeoptions_t *,
    rocksdb_column_family_handle_t *, const char *, size_t, const char *, size_t, char **);
void rocksdb_transactiondb_multi_get(rocksdb_transactiondb_t *, const rocksdb_readoptions_t *, size_t, const char *const
    *, const size_t *, char **, size_t *, char **);
void rocksdb_transactiondb_multi_get_cf(rocksdb_transactiondb_t *, const rocksdb_readoptions_t *, const
    rocksdb_column_family_handle_t *const *, size_t, const char *const *, const size_t *, char **, size_t *, char **);
rocksdb_transactiondb_t *rocksdb_transactiondb_open(const rocksdb_options_t *, const rocksdb_transactiondb_options_t *,
    const char *, char **);
rocksdb_transactiondb_t *rocksdb_transactiondb_open_column_families(const rocksdb_options_t *, const
    rocksdb_transactiondb_options_t *, const char *, int, const char *const *, const rocksdb_options_t *const *,
    rocksdb_column_family_handle_t **, char **);
rocksdb_transactiondb_options_t *rocksdb_transactiondb_options_create(void);
void rocksdb_transactiondb_options_destroy(rocksdb_transactiondb_options_t *);
int64_t rocksdb_transactiondb_options_get_default_lock_timeout(rocksdb_transactiondb_options_t *);
int64_t rocksdb_transactiondb_options_get_default_write_batch_flush_threshold(rocksdb_transactiondb_options_t *);
unsigned char rocksdb_transactiondb_options_get_enable_udt_validation(rocksdb_transactiondb_options_t *);
uint32_t rocksdb_transactiondb_options_get_max_num_deadlocks(rocksdb_transactiondb_options_t *);
int64_t rocksdb_transactiondb_options_get_max_num_locks(rocksdb_transactiondb_options_t *);
size_t rocksdb_transactiondb_options_get_num_stripes(rocksdb_transactiondb_options_t *);
unsigned char rocksdb_transactiondb_options_get_rollback_merge_operands(rocksdb_transactiondb_options_t *);
unsigned char rocksdb_transactiondb_options_get_skip_concurrency_control(rocksdb_transactiondb_options_t *);
int64_t rocksdb_transactiondb_options_get_transaction_lock_timeout(rocksdb_transactiondb_options_t *);
uint32_t rocksdb_transactiondb_options_get_txn_commit_bypass_memtable_threshold(rocksdb_transactiondb_options_t *);
unsigned char rocksdb_transactiondb_options_get_use_per_key_point_lock_mgr(rocksdb_transactiondb_options_t *);
int rocksdb_transactiondb_options_get_write_policy(rocksdb_transactiondb_options_t *);
void rocksdb_transactiondb_options_set_default_lock_timeout(rocksdb_transactiondb_options_t *, int64_t);
void rocksdb_transactiondb_options_set_default_write_batch_flush_threshold(rocksdb_transactiondb_options_t *, int64_t);
void rocksdb_transactiondb_options_set_enable_udt_validation(rocksdb_transactiondb_options_t *, unsigned char);
void rocksdb_transactiondb_options_set_max_num_deadlocks(rocksdb_transactiondb_options_t *, uint32_t);
void rocksdb_transactiondb_options_set_max_num_locks(rocksdb_transactiondb_options_t *, int64_t);
void rocksdb_transactiondb_options_set_num_stripes(rocksdb_transactiondb_options_t *, size_t);
void rocksdb_transactiondb_options_set_rollback_merge_operands(rocksdb_transactiondb_options_t *, unsigned char);
void rocksdb_transactiondb_options_set_skip_concurrency_control(rocksdb_transactiondb_options_t *, unsigned char);
void rocksdb_transactiondb_options_set_transaction_lock_timeout(rocksdb_transactiondb_options_t *, int64_t);
void rocksdb_transactiondb_options_set_txn_commit_bypass_memtable_threshold(rocksdb_transactiondb_options_t *,
    uint32_t);
void rocksdb_transactiondb_options_set_use_per_key_point_lock_mgr(rocksdb_transactiondb_options_t *, unsigned char);
void rocksdb_transactiondb_options_set_write_policy(rocksdb_transactiondb_options_t *, int);
int rocksdb_transactiondb_property_int(rocksdb_transactiondb_t *, const char *, uint64_t *);
char *rocksdb_transactiondb_property_value(rocksdb_transactiondb_t *, const char *);
void rocksdb_transactiondb_put(rocksdb_transactiondb_t *, const rocksdb_writeoptions_t *, const char *, size_t, const
    char *, size_t, char **);
void rocksdb_transactiondb_put_cf(rocksdb_transactiondb_t *, const rocksdb_writeoptions_t *,
    rocksdb_column_family_handle_t *, const char *, size_t, const char *, size_t, char **);
void rocksdb_transactiondb_release_snapshot(rocksdb_transactiondb_t *, const rocksdb_snapshot_t *);
void rocksdb_transactiondb_write(rocksdb_transactiondb_t *, const rocksdb_writeoptions_t *, rocksdb_writebatch_t *, char
    **);
void rocksdb_try_catch_up_with_primary(rocksdb_t *, char **);
rocksdb_universal_compaction_options_t *rocksdb_universal_compaction_options_create(void);
void rocksdb_universal_compaction_options_destroy(rocksdb_universal_compaction_options_t *);
unsigned char rocksdb_universal_compaction_options_get_allow_trivial_move(rocksdb_universal_compaction_options_t *);
int rocksdb_universal_compaction_options_get_compression_size_percent(rocksdb_universal_compaction_options_t *);
unsigned char rocksdb_universal_compaction_options_get_incremental(rocksdb_universal_compaction_options_t *);
int rocksdb_universal_compaction_options_get_max_merge_width(rocksdb_universal_compaction_options_t *);
int rocksdb_universal_compaction_options_get_max_read_amp(rocksdb_universal_compaction_options_t *);
int rocksdb_universal_compaction_options_get_max_size_amplification_percent(rocksdb_universal_compaction_options_t *);
int rocksdb_universal_compaction_options_get_min_merge_width(rocksdb_universal_compaction_options_t *);
unsigned char rocksdb_universal_compaction_options_get_reduce_file_locking(rocksdb_universal_compaction_options_t *);
int rocksdb_universal_compaction_options_get_size_ratio(rocksdb_universal_compaction_options_t *);
int rocksdb_universal_compaction_options_get_stop_style(rocksdb_universal_compaction_options_t *);
void rocksdb_universal_compaction_options_set_allow_trivial_move(rocksdb_universal_compaction_options_t *, unsigned
    char);
void rocksdb_universal_compaction_options_set_compression_size_percent(rocksdb_universal_compaction_options_t *, int);
void rocksdb_universal_compaction_options_set_incremental(rocksdb_universal_compaction_options_t *, unsigned char);
void rocksdb_universal_compaction_options_set_max_merge_width(rocksdb_universal_compaction_options_t *, int);
void rocksdb_universal_compaction_options_set_max_read_amp(rocksdb_universal_compaction_options_t *, int);
void rocksdb_universal_compaction_options_set_max_size_amplification_percent(rocksdb_universal_compaction_options_t *,
    int);
void rocksdb_universal_compaction_options_set_min_merge_width(rocksdb_universal_compaction_options_t *, int);
void rocksdb_universal_compaction_options_set_reduce_file_locking(rocksdb_universal_compaction_options_t *, unsigned
    char);
void rocksdb_universal_compaction_options_set_size_ratio(rocksdb_universal_compaction_options_t *, int);
void rocksdb_universal_compaction_options_set_stop_style(rocksdb_universal_compaction_options_t *, int);
void rocksdb_verify_checksum(rocksdb_t *, char **);
void rocksdb_verify_checksum_with_options(rocksdb_t *, const rocksdb_readoptions_t *, char **);
void rocksdb_verify_file_checksums(rocksdb_t *, char **);
void rocksdb_verify_file_checksums_with_options(rocksdb_t *, const rocksdb_readoptions_t *, char **);
void rocksdb_wait_for_compact(rocksdb_t *, rocksdb_wait_for_compact_options_t *, char **);
rocksdb_wait_for_compact_options_t *rocksdb_wait_for_compact_options_create(void);
void rocksdb_wait_for_compact_options_destroy(rocksdb_wait_for_compact_options_t *);
unsigned char rocksdb_wait_for_compact_options_get_abort_on_pause(rocksdb_wait_for_compact_options_t *);
unsigned char rocksdb_wait_for_compact_options_get_close_db(rocksdb_wait_for_compact_options_t *);
unsigned char rocksdb_wait_for_compact_options_get_flush(rocksdb_wait_for_compact_options_t *);
uint64_t rocksdb_wait_for_compact_options_get_timeout(rocksdb_wait_for_compact_options_t *);
unsigned char rocksdb_wait_for_compact_options_get_wait_for_purge(rocksdb_wait_for_compact_options_t *);
void rocksdb_wait_for_compact_options_set_abort_on_pause(rocksdb_wait_for_compact_options_t *, unsigned char);
void rocksdb_wait_for_compact_options_set_close_db(rocksdb_wait_for_compact_options_t *, unsigned char);
void rocksdb_wait_for_compact_options_set_flush(rocksdb_wait_for_compact_options_t *, unsigned char);
void rocksdb_wait_for_compact_options_set_timeout(rocksdb_wait_for_compact_options_t *, uint64_t);
void rocksdb_wait_for_compact_options_set_wait_for_purge(rocksdb_wait_for_compact_options_t *, unsigned char);
void rocksdb_wal_file_destroy(rocksdb_wal_file_t *);
uint64_t rocksdb_wal_file_log_number(const rocksdb_wal_file_t *);
const char *rocksdb_wal_file_path_name(const rocksdb_wal_file_t *);
uint64_t rocksdb_wal_file_size_file_bytes(const rocksdb_wal_file_t *);
uint64_t rocksdb_wal_file_start_sequence(const rocksdb_wal_file_t *);
int rocksdb_wal_file_type(const rocksdb_wal_file_t *);
size_t rocksdb_wal_files_count(const rocksdb_wal_files_t *);
void rocksdb_wal_files_destroy(rocksdb_wal_files_t *);
const rocksdb_wal_file_t *rocksdb_wal_files_get_wal_file(const rocksdb_wal_files_t *, size_t);
void rocksdb_wal_iter_destroy(const rocksdb_wal_iterator_t *);
rocksdb_writebatch_t *rocksdb_wal_iter_get_batch(const rocksdb_wal_iterator_t *, uint64_t *);
void rocksdb_wal_iter_next(rocksdb_wal_iterator_t *);
void rocksdb_wal_iter_status(const rocksdb_wal_iterator_t *, char **);
unsigned char rocksdb_wal_iter_valid(const rocksdb_wal_iterator_t *);
rocksdb_wal_readoptions_t *rocksdb_wal_readoptions_create(void);
void rocksdb_wal_readoptions_destroy(rocksdb_wal_readoptions_t *);
unsigned char rocksdb_wal_readoptions_get_verify_checksums(rocksdb_wal_readoptions_t *);
void rocksdb_wal_readoptions_set_verify_checksums(rocksdb_wal_readoptions_t *, unsigned char);
rocksdb_walfilter_t *rocksdb_walfilter_create(void *, void (*)(void *), void (*)(void *, const uint32_t *, const
    uint64_t *, size_t, const char *const *, const size_t *, const uint32_t *, size_t), int (*)(void *, unsigned long
    long int, const char *, size_t, const rocksdb_writebatch_t *, rocksdb_writebatch_t *, unsigned char *), const char
    *(*)(void *));
void rocksdb_walfilter_destroy(rocksdb_walfilter_t *);
void rocksdb_write(rocksdb_t *, const rocksdb_writeoptions_t *, rocksdb_writebatch_t *, char **);
size_t rocksdb_write_buffer_manager_buffer_size(rocksdb_write_buffer_manager_t *);
bool rocksdb_write_buffer_manager_cost_to_cache(rocksdb_write_buffer_manager_t *);
rocksdb_write_buffer_manager_t *rocksdb_write_buffer_manager_create(size_t, bool);
rocksdb_write_buffer_manager_t *rocksdb_write_buffer_manager_create_with_cache(size_t, const rocksdb_cache_t *, bool);
void rocksdb_write_buffer_manager_destroy(rocksdb_write_buffer_manager_t *);
size_t rocksdb_write_buffer_manager_dummy_entries_in_cache_usage(rocksdb_write_buffer_manager_t *);
bool rocksdb_write_buffer_manager_enabled(rocksdb_write_buffer_manager_t *);
size_t rocksdb_write_buffer_manager_memory_usage(rocksdb_write_buffer_manager_t *);
size_t rocksdb_write_buffer_manager_mutable_memtable_memory_usage(rocksdb_write_buffer_manager_t *);
void rocksdb_write_buffer_manager_set_allow_stall(rocksdb_write_buffer_manager_t *, bool);
void rocksdb_write_buffer_manager_set_buffer_size(rocksdb_write_buffer_manager_t *, size_t);
void rocksdb_write_writebatch_wi(rocksdb_t *, const rocksdb_writeoptions_t *, rocksdb_writebatch_wi_t *, char **);
void rocksdb_writebatch_clear(rocksdb_writebatch_t *);
int rocksdb_writebatch_count(rocksdb_writebatch_t *);
rocksdb_writebatch_t *rocksdb_writebatch_create(void);
rocksdb_writebatch_t *rocksdb_writebatch_create_from(const char *, size_t);
rocksdb_writebatch_t *rocksdb_writebatch_create_with_params(size_t, size_t, size_t, size_t);
const char *rocksdb_writebatch_data(rocksdb_writebatch_t *, size_t *);
void rocksdb_writebatch_delete(rocksdb_writebatch_t *, const char *, size_t);
void rocksdb_writebatch_delete_cf(rocksdb_writebatch_t *, rocksdb_column_family_handle_t *, const char *, size_t);
void rocksdb_writebatch_delete_cf_with_ts(rocksdb_writebatch_t *, rocksdb_column_family_handle_t *, const char *,
    size_t, const char *, size_t);
void rocksdb_writebatch_delete_range(rocksdb_writebatch_t *, const char *, size_t, const char *, size_t);
void rocksdb_writebatch_delete_range_cf(rocksdb_writebatch_t *, rocksdb_column_family_handle_t *, const char *, size_t,
    const char *, size_t);
void rocksdb_writebatch_delete_rangev(rocksdb_writebatch_t *, int, const char *const *, const size_t *, const char
    *const *, const size_t *);
void rocksdb_writebatch_delete_rangev_cf(rocksdb_writebatch_t *, rocksdb_column_family_handle_t *, int, const char
    *const *, const size_t *, const char *const *, const size_t *);
void rocksdb_writebatch_deletev(rocksdb_writebatch_t *, int, const char *const *, const size_t *);
void rocksdb_writebatch_deletev_cf(rocksdb_writebatch_t *, rocksdb_column_family_handle_t *, int, const char *const *,
    const size_t *);
void rocksdb_writebatch_destroy(rocksdb_writebatch_t *);
void rocksdb_writebatch_iterate(rocksdb_writebatch_t *, void *, void (*)(void *, const char *, size_t, const char *,
    size_t), void (*)(void *, const char *, size_t));
void rocksdb_writebatch_iterate_cf(rocksdb_writebatch_t *, void *, void (*)(void *, uint32_t, const char *, size_t,
    const char *, size_t), void (*)(void *, uint32_t, const char *, size_t), void (*)(void *, uint32_t, const char *,
    size_t, const char *, size_t));
void rocksdb_writebatch_iterate_cf_ld(rocksdb_writebatch_t *, void *, void (*)(void *, uint32_t, const char *, size_t,
    const char *, size_t), void (*)(void *, uint32_t, const char *, size_t), void (*)(void *, uint32_t, const char *,
    size_t, const char *, size_t), void (*)(void *, const char *, size_t));
void rocksdb_writebatch_iterate_ld(rocksdb_writebatch_t *, void *, void (*)(void *, const char *, size_t, const char *,
    size_t), void (*)(void *, const char *, size_t), void (*)(void *, const char *, size_t));
void rocksdb_writebatch_merge(rocksdb_writebatch_t *, const char *, size_t, const char *, size_t);
void rocksdb_writebatch_merge_cf(rocksdb_writebatch_t *, rocksdb_column_family_handle_t *, const char *, size_t, const
    char *, size_t);
void rocksdb_writebatch_mergev(rocksdb_writebatch_t *, int, const char *const *, const size_t *, int, const char *const
    *, const size_t *);
void rocksdb_writebatch_mergev_cf(rocksdb_writebatch_t *, rocksdb_column_family_handle_t *, int, const char *const *,
    const size_t *, int, const char *const *, const size_t *);
void rocksdb_writebatch_pop_save_point(rocksdb_writebatch_t *, char **);
void rocksdb_writebatch_put(rocksdb_writebatch_t *, const char *, size_t, const char *, size_t);
void rocksdb_writebatch_put_cf(rocksdb_writebatch_t *, rocksdb_column_family_handle_t *, const char *, size_t, const
    char *, size_t);
void rocksdb_writebatch_put_cf_with_ts(rocksdb_writebatch_t *, rocksdb_column_family_handle_t *, const char *, size_t,
    const char *, size_t, const char *, size_t);
void rocksdb_writebatch_put_log_data(rocksdb_writebatch_t *, const char *, size_t);
void rocksdb_writebatch_putv(rocksdb_writebatch_t *, int, const char *const *, const size_t *, int, const char *const *,
    const size_t *);
void rocksdb_writebatch_putv_cf(rocksdb_writebatch_t *, rocksdb_column_family_handle_t *, int, const char *const *,
    const size_t *, int, const char *const *, const size_t *);
void rocksdb_writebatch_rollback_to_save_point(rocksdb_writebatch_t *, char **);
void rocksdb_writebatch_set_save_point(rocksdb_writebatch_t *);
void rocksdb_writebatch_singledelete(rocksdb_writebatch_t *, const char *, size_t);
void rocksdb_writebatch_singledelete_cf(rocksdb_writebatch_t *, rocksdb_column_family_handle_t *, const char *, size_t);
void rocksdb_writebatch_singledelete_cf_with_ts(rocksdb_writebatch_t *, rocksdb_column_family_handle_t *, const char *,
    size_t, const char *, size_t);
void rocksdb_writebatch_update_timestamps(rocksdb_writebatch_t *, const char *, size_t, void *, size_t (*)(void *,
    uint32_t), char **);
void rocksdb_writebatch_verify_checksum(rocksdb_writebatch_t *, char **);
void rocksdb_writebatch_wi_clear(rocksdb_writebatch_wi_t *);
int rocksdb_writebatch_wi_count(rocksdb_writebatch_wi_t *);
rocksdb_writebatch_wi_t *rocksdb_writebatch_wi_create(size_t, unsigned char);
rocksdb_iterator_t *rocksdb_writebatch_wi_create_iterator_with_base(rocksdb_writebatch_wi_t *, rocksdb_iterator_t *);
rocksdb_iterator_t *rocksdb_writebatch_wi_create_iterator_with_base_cf(rocksdb_writebatch_wi_t *, rocksdb_iterator_t *,
    rocksdb_column_family_handle_t *);
rocksdb_iterator_t *rocksdb_writebatch_wi_create_iterator_with_base_cf_readopts(rocksdb_writebatch_wi_t *,
    rocksdb_iterator_t *, rocksdb_column_family_handle_t *, const rocksdb_readoptions_t *);
rocksdb_iterator_t *rocksdb_writebatch_wi_create_iterator_with_base_readopts(rocksdb_writebatch_wi_t *,
    rocksdb_iterator_t *, const rocksdb_readoptions_t *);
rocksdb_writebatch_wi_t *rocksdb_writebatch_wi_create_with_params(rocksdb_comparator_t *, size_t, unsigned char, size_t,
    size_t);
const char *rocksdb_writebatch_wi_data(rocksdb_writebatch_wi_t *, size_t *);
void rocksdb_writebatch_wi_delete(rocksdb_writebatch_wi_t *, const char *, size_t);
void rocksdb_writebatch_wi_delete_cf(rocksdb_writebatch_wi_t *, rocksdb_column_family_handle_t *, const char *, size_t);
void rocksdb_writebatch_wi_delete_range(rocksdb_writebatch_wi_t *, const char *, size_t, const char *, size_t);
void rocksdb_writebatch_wi_delete_range_cf(rocksdb_writebatch_wi_t *, rocksdb_column_family_handle_t *, const char *,
    size_t, const char *, size_t);
void rocksdb_writebatch_wi_delete_rangev(rocksdb_writebatch_wi_t *, int, const char *const *, const size_t *, const char
    *const *, const size_t *);
void rocksdb_writebatch_wi_delete_rangev_cf(rocksdb_writebatch_wi_t *, rocksdb_column_family_handle_t *, int, const char
    *const *, const size_t *, const char *const *, const size_t *);
void rocksdb_writebatch_wi_deletev(rocksdb_writebatch_wi_t *, int, const char *const *, const size_t *);
void rocksdb_writebatch_wi_deletev_cf(rocksdb_writebatch_wi_t *, rocksdb_column_family_handle_t *, int, const char
    *const *, const size_t *);
void rocksdb_writebatch_wi_destroy(rocksdb_writebatch_wi_t *);
char *rocksdb_writebatch_wi_get_from_batch(rocksdb_writebatch_wi_t *, const rocksdb_options_t *, const char *, size_t,
    size_t *, char **);
char *rocksdb_writebatch_wi_get_from_batch_and_db(rocksdb_writebatch_wi_t *, rocksdb_t *, const rocksdb_readoptions_t *,
    const char *, size_t, size_t *, char **);
char *rocksdb_writebatch_wi_get_from_batch_and_db_cf(rocksdb_writebatch_wi_t *, rocksdb_t *, const rocksdb_readoptions_t
    *, rocksdb_column_family_handle_t *, const char *, size_t, size_t *, char **);
char *rocksdb_writebatch_wi_get_from_batch_cf(rocksdb_writebatch_wi_t *, const rocksdb_options_t *,
    rocksdb_column_family_handle_t *, const char *, size_t, size_t *, char **);
rocksdb_pinnableslice_t *rocksdb_writebatch_wi_get_pinned_from_batch_and_db(rocksdb_writebatch_wi_t *, rocksdb_t *,
    const rocksdb_readoptions_t *, const char *, size_t, char **);
rocksdb_pinnableslice_t *rocksdb_writebatch_wi_get_pinned_from_batch_and_db_cf(rocksdb_writebatch_wi_t *, rocksdb_t *,
    const rocksdb_readoptions_t *, rocksdb_column_family_handle_t *, const char *, size_t, char **);
void rocksdb_writebatch_wi_iterate(rocksdb_writebatch_wi_t *, void *, void (*)(void *, const char *, size_t, const char
    *, size_t), void (*)(void *, const char *, size_t));
void rocksdb_writebatch_wi_merge(rocksdb_writebatch_wi_t *, const char *, size_t, const char *, size_t);
void rocksdb_writebatch_wi_merge_cf(rocksdb_writebatch_wi_t *, rocksdb_column_family_handle_t *, const char *, size_t,
    const char *, size_t);
void rocksdb_writebatch_wi_mergev(rocksdb_writebatch_wi_t *, int, const char *const *, const size_t *, int, const char
    *const *, const size_t *);
void rocksdb_writebatch_wi_mergev_cf(rocksdb_writebatch_wi_t *, rocksdb_column_family_handle_t *, int, const char *const
    *, const size_t *, int, const char *const *, const size_t *);
void rocksdb_writebatch_wi_put(rocksdb_writebatch_wi_t *, const char *, size_t, const char *, size_t);
void rocksdb_writebatch_wi_put_cf(rocksdb_writebatch_wi_t *, rocksdb_column_family_handle_t *, const char *, size_t,
    const char *, size_t);
void rocksdb_writebatch_wi_put_log_data(rocksdb_writebatch_wi_t *, const char *, size_t);
void rocksdb_writebatch_wi_putv(rocksdb_writebatch_wi_t *, int, const char *const *, const size_t *, int, const char
    *const *, const size_t *);
void rocksdb_writebatch_wi_putv_cf(rocksdb_writebatch_wi_t *, rocksdb_column_family_handle_t *, int, const char *const
    *, const size_t *, int, const char *const *, const size_t *);
void rocksdb_writebatch_wi_rollback_to_save_point(rocksdb_writebatch_wi_t *, char **);
void rocksdb_writebatch_wi_set_save_point(rocksdb_writebatch_wi_t *);
void rocksdb_writebatch_wi_singledelete(rocksdb_writebatch_wi_t *, const char *, size_t);
void rocksdb_writebatch_wi_singledelete_cf(rocksdb_writebatch_wi_t *, rocksdb_column_family_handle_t *, const char *,
    size_t);
void rocksdb_writebatch_wi_update_timestamps(rocksdb_writebatch_wi_t *, const char *, size_t, void *, size_t (*)(void *,
    uint32_t), char **);
rocksdb_writeoptions_t *rocksdb_writeoptions_create(void);
void rocksdb_writeoptions_destroy(rocksdb_writeoptions_t *);
void rocksdb_writeoptions_disable_WAL(rocksdb_writeoptions_t *, int);
unsigned char rocksdb_writeoptions_get_disable_WAL(rocksdb_writeoptions_t *);
unsigned char rocksdb_writeoptions_get_ignore_missing_column_families(rocksdb_writeoptions_t *);
int rocksdb_writeoptions_get_io_activity(rocksdb_writeoptions_t *);
unsigned char rocksdb_writeoptions_get_low_pri(rocksdb_writeoptions_t *);
unsigned char rocksdb_writeoptions_get_memtable_insert_hint_per_batch(rocksdb_writeoptions_t *);
unsigned char rocksdb_writeoptions_get_no_slowdown(rocksdb_writeoptions_t *);
size_t rocksdb_writeoptions_get_protection_bytes_per_key(rocksdb_writeoptions_t *);
int rocksdb_writeoptions_get_rate_limiter_priority(rocksdb_writeoptions_t *);
unsigned char rocksdb_writeoptions_get_sync(rocksdb_writeoptions_t *);
void rocksdb_writeoptions_set_ignore_missing_column_families(rocksdb_writeoptions_t *, unsigned char);
void rocksdb_writeoptions_set_io_activity(rocksdb_writeoptions_t *, int);
void rocksdb_writeoptions_set_low_pri(rocksdb_writeoptions_t *, unsigned char);
void rocksdb_writeoptions_set_memtable_insert_hint_per_batch(rocksdb_writeoptions_t *, unsigned char);
void rocksdb_writeoptions_set_no_slowdown(rocksdb_writeoptions_t *, unsigned char);
void rocksdb_writeoptions_set_protection_bytes_per_key(rocksdb_writeoptions_t *, size_t);
void rocksdb_writeoptions_set_rate_limiter_priority(rocksdb_writeoptions_t *, int);
void rocksdb_writeoptions_set_sync(rocksdb_writeoptions_t *, unsigned char);
const char *rocksdb_writestallinfo_cf_name(const rocksdb_writestallinfo_t *, size_t *);
const rocksdb_writestallcondition_t *rocksdb_writestallinfo_cur(const rocksdb_writestallinfo_t *);
const rocksdb_writestallcondition_t *rocksdb_writestallinfo_prev(const rocksdb_writestallinfo_t *);
