/* The functions of libcambium.so.1. Written by tools/check_abi.sh --renew. */
#include <stddef.h>
#include <stdint.h>

typedef struct cambium_asyncreader_t cambium_asyncreader_t;
typedef struct cambium_backgrounderrorinfo_t cambium_backgrounderrorinfo_t;
typedef struct cambium_backup_engine_info_t cambium_backup_engine_info_t;
typedef struct cambium_backup_engine_t cambium_backup_engine_t;
typedef struct cambium_blobfilecreationinfo_t cambium_blobfilecreationinfo_t;
typedef struct cambium_blobfiledeletioninfo_t cambium_blobfiledeletioninfo_t;
typedef struct cambium_cache_t cambium_cache_t;
typedef struct cambium_checkpoint_t cambium_checkpoint_t;
typedef struct cambium_column_family_handle_t cambium_column_family_handle_t;
typedef struct cambium_compactionfilter_t cambium_compactionfilter_t;
typedef struct cambium_compactionfilteranswer_t cambium_compactionfilteranswer_t;
typedef struct cambium_compactionfiltercontext_t cambium_compactionfiltercontext_t;
typedef struct cambium_compactionfilterfactory_t cambium_compactionfilterfactory_t;
typedef struct cambium_compactionjobinfo_t cambium_compactionjobinfo_t;
typedef struct cambium_compactoptions_t cambium_compactoptions_t;
typedef struct cambium_comparator_t cambium_comparator_t;
typedef struct cambium_env_t cambium_env_t;
typedef struct cambium_eventlistener_t cambium_eventlistener_t;
typedef struct cambium_filterpolicy_t cambium_filterpolicy_t;
typedef struct cambium_flushjobinfo_t cambium_flushjobinfo_t;
typedef struct cambium_flushoptions_t cambium_flushoptions_t;
typedef struct cambium_iterator_t cambium_iterator_t;
typedef struct cambium_loggcjobinfo_t cambium_loggcjobinfo_t;
typedef struct cambium_logger_t cambium_logger_t;
typedef struct cambium_memtableinfo_t cambium_memtableinfo_t;
typedef struct cambium_optimistictransaction_options_t cambium_optimistictransaction_options_t;
typedef struct cambium_optimistictransactiondb_t cambium_optimistictransactiondb_t;
typedef struct cambium_options_t cambium_options_t;
typedef struct cambium_pinnableslice_t cambium_pinnableslice_t;
typedef struct cambium_ratelimiter_t cambium_ratelimiter_t;
typedef struct cambium_readoptions_t cambium_readoptions_t;
typedef struct cambium_snapshot_t cambium_snapshot_t;
typedef struct cambium_statistics_histogram_data_t cambium_statistics_histogram_data_t;
typedef struct cambium_t cambium_t;
typedef struct cambium_tablefilecreationinfo_t cambium_tablefilecreationinfo_t;
typedef struct cambium_tablefiledeletioninfo_t cambium_tablefiledeletioninfo_t;
typedef struct cambium_traceoptions_t cambium_traceoptions_t;
typedef struct cambium_transaction_options_t cambium_transaction_options_t;
typedef struct cambium_transaction_t cambium_transaction_t;
typedef struct cambium_transactiondb_options_t cambium_transactiondb_options_t;
typedef struct cambium_transactiondb_t cambium_transactiondb_t;
typedef struct cambium_write_buffer_manager_t cambium_write_buffer_manager_t;
typedef struct cambium_writebatch_t cambium_writebatch_t;
typedef struct cambium_writebatch_wi_t cambium_writebatch_wi_t;
typedef struct cambium_writeconditions_t cambium_writeconditions_t;
typedef struct cambium_writeoptions_t cambium_writeoptions_t;
typedef struct cambium_writestallinfo_t cambium_writestallinfo_t;

int cambium_abi_version(void);
void cambium_approximate_sizes(cambium_t *, int, const char *const *, const size_t *, const char *const *, const size_t
    *, uint64_t *);
void cambium_approximate_sizes_cf(cambium_t *, cambium_column_family_handle_t *, int, const char *const *, const size_t
    *, const char *const *, const size_t *, uint64_t *, char **);
void cambium_approximate_sizes_cf_with_flags(cambium_t *, cambium_column_family_handle_t *, int, const char *const *,
    const size_t *, const char *const *, const size_t *, unsigned char, uint64_t *, char **);
cambium_asyncreader_t *cambium_asyncreader_create(cambium_t *, size_t, uint64_t, unsigned char, char **);
void cambium_asyncreader_destroy(cambium_asyncreader_t *);
int cambium_asyncreader_event_fd(cambium_asyncreader_t *, char **);
unsigned char cambium_asyncreader_get(cambium_asyncreader_t *, const cambium_readoptions_t *, const char *, size_t, void
    (*)(void *, const char *, size_t, const char *), void *, char **);
unsigned char cambium_asyncreader_get_cf(cambium_asyncreader_t *, const cambium_readoptions_t *,
    cambium_column_family_handle_t *, const char *, size_t, void (*)(void *, const char *, size_t, const char *), void
    *, char **);
size_t cambium_asyncreader_in_flight(const cambium_asyncreader_t *);
unsigned char cambium_asyncreader_multi_get_cf(cambium_asyncreader_t *, const cambium_readoptions_t *, const
    cambium_column_family_handle_t *const *, size_t, const char *const *, const size_t *, void (*)(void *, size_t, const
    char *const *, const size_t *, const char *const *), void *, char **);
size_t cambium_asyncreader_poll(cambium_asyncreader_t *, size_t, uint64_t);
void cambium_asyncreader_submit(cambium_asyncreader_t *);
const char *cambium_backgrounderrorinfo_db_name(const cambium_backgrounderrorinfo_t *, size_t *);
int cambium_backgrounderrorinfo_reason(const cambium_backgrounderrorinfo_t *);
void cambium_backgrounderrorinfo_status(const cambium_backgrounderrorinfo_t *, char **);
void cambium_backup_engine_close(cambium_backup_engine_t *);
void cambium_backup_engine_create_new_backup(cambium_backup_engine_t *, cambium_t *, char **);
void cambium_backup_engine_create_new_backup_flush(cambium_backup_engine_t *, cambium_t *, unsigned char, char **);
void cambium_backup_engine_create_new_backup_offline(cambium_backup_engine_t *, const char *, char **);
void cambium_backup_engine_delete_backup(cambium_backup_engine_t *, uint32_t, char **);
void cambium_backup_engine_garbage_collect(cambium_backup_engine_t *, char **);
const cambium_backup_engine_info_t *cambium_backup_engine_get_backup_info(cambium_backup_engine_t *);
uint32_t *cambium_backup_engine_get_corrupted_backups(cambium_backup_engine_t *, size_t *);
uint32_t cambium_backup_engine_info_backup_id(const cambium_backup_engine_info_t *, int);
int cambium_backup_engine_info_count(const cambium_backup_engine_info_t *);
void cambium_backup_engine_info_destroy(const cambium_backup_engine_info_t *);
unsigned char cambium_backup_engine_info_is_checked(const cambium_backup_engine_info_t *, int);
uint32_t cambium_backup_engine_info_number_files(const cambium_backup_engine_info_t *, int);
uint64_t cambium_backup_engine_info_sequence_number(const cambium_backup_engine_info_t *, int);
uint64_t cambium_backup_engine_info_size(const cambium_backup_engine_info_t *, int);
int64_t cambium_backup_engine_info_timestamp(const cambium_backup_engine_info_t *, int);
cambium_backup_engine_t *cambium_backup_engine_open(const cambium_options_t *, const char *, char **);
cambium_backup_engine_t *cambium_backup_engine_open_for_read_only(const cambium_options_t *, const char *, char **);
void cambium_backup_engine_purge_old_backups(cambium_backup_engine_t *, uint32_t, char **);
void cambium_backup_engine_restore_db_from_backup(cambium_backup_engine_t *, const char *, uint32_t, char **);
void cambium_backup_engine_restore_db_from_latest_backup(cambium_backup_engine_t *, const char *, char **);
void cambium_backup_engine_set_verify_checksums(cambium_backup_engine_t *, unsigned char);
void cambium_backup_engine_stop_backup(cambium_backup_engine_t *);
void cambium_backup_engine_verify_backup(cambium_backup_engine_t *, uint32_t, unsigned char, char **);
void cambium_batched_multi_get_cf(cambium_t *, const cambium_readoptions_t *, cambium_column_family_handle_t *, size_t,
    const char *const *, const size_t *, cambium_pinnableslice_t **, char **, unsigned char);
cambium_transaction_t *cambium_begin_optimistic_transaction(cambium_t *, const cambium_writeoptions_t *, const
    cambium_optimistictransaction_options_t *, char **);
const char *cambium_blobfilecreationinfo_db_name(const cambium_blobfilecreationinfo_t *, size_t *);
uint64_t cambium_blobfilecreationinfo_file_number(const cambium_blobfilecreationinfo_t *);
const char *cambium_blobfilecreationinfo_file_path(const cambium_blobfilecreationinfo_t *, size_t *);
uint64_t cambium_blobfilecreationinfo_file_size(const cambium_blobfilecreationinfo_t *);
int cambium_blobfilecreationinfo_reason(const cambium_blobfilecreationinfo_t *);
void cambium_blobfilecreationinfo_status(const cambium_blobfilecreationinfo_t *, char **);
const char *cambium_blobfiledeletioninfo_db_name(const cambium_blobfiledeletioninfo_t *, size_t *);
uint64_t cambium_blobfiledeletioninfo_file_number(const cambium_blobfiledeletioninfo_t *);
const char *cambium_blobfiledeletioninfo_file_path(const cambium_blobfiledeletioninfo_t *, size_t *);
cambium_cache_t *cambium_cache_create_lru(size_t);
void cambium_cache_destroy(cambium_cache_t *);
void cambium_checkpoint_create(cambium_checkpoint_t *, const char *, uint64_t, char **);
cambium_checkpoint_t *cambium_checkpoint_object_create(cambium_t *, char **);
void cambium_checkpoint_object_destroy(cambium_checkpoint_t *);
void cambium_checkpoint_offline(const cambium_options_t *, const char *, const char *, char **);
void cambium_close(cambium_t *);
unsigned char cambium_close_with_status(cambium_t *, char **);
void cambium_column_family_handle_destroy(cambium_column_family_handle_t *);
uint32_t cambium_column_family_handle_get_id(const cambium_column_family_handle_t *);
char *cambium_column_family_handle_get_name(const cambium_column_family_handle_t *, size_t *);
void cambium_compact_range(cambium_t *, const char *, size_t, const char *, size_t);
void cambium_compact_range_cf(cambium_t *, cambium_column_family_handle_t *, const char *, size_t, const char *,
    size_t);
void cambium_compact_range_cf_opt(cambium_t *, cambium_column_family_handle_t *, const cambium_compactoptions_t *, const
    char *, size_t, const char *, size_t, char **);
void cambium_compact_range_opt(cambium_t *, const cambium_compactoptions_t *, const char *, size_t, const char *,
    size_t, char **);
cambium_compactionfilter_t *cambium_compactionfilter_create(void *, void (*)(void *), unsigned char (*)(void *, int,
    const char *, size_t, const char *, size_t, char **, size_t *, unsigned char *), const char *(*)(void *));
cambium_compactionfilter_t *cambium_compactionfilter_create_v2(void *, void (*)(void *), int (*)(void *, int, const char
    *, size_t, cambium_compactionfilteranswer_t *), int (*)(void *, int, const char *, size_t, const char *, size_t,
    cambium_compactionfilteranswer_t *), const char *(*)(void *));
void cambium_compactionfilter_destroy(cambium_compactionfilter_t *);
void cambium_compactionfilter_set_ignore_snapshots(cambium_compactionfilter_t *, unsigned char);
void cambium_compactionfilteranswer_set_value(cambium_compactionfilteranswer_t *, const char *, size_t);
void cambium_compactionfilteranswer_skip_until(cambium_compactionfilteranswer_t *, const char *, size_t);
uint32_t cambium_compactionfiltercontext_column_family_id(const cambium_compactionfiltercontext_t *);
unsigned char cambium_compactionfiltercontext_is_full_compaction(const cambium_compactionfiltercontext_t *);
unsigned char cambium_compactionfiltercontext_is_manual_compaction(const cambium_compactionfiltercontext_t *);
cambium_compactionfilterfactory_t *cambium_compactionfilterfactory_create(void *, void (*)(void *),
    cambium_compactionfilter_t *(*)(void *, cambium_compactionfiltercontext_t *), const char *(*)(void *));
void cambium_compactionfilterfactory_destroy(cambium_compactionfilterfactory_t *);
int cambium_compactionjobinfo_base_input_level(const cambium_compactionjobinfo_t *);
uint64_t cambium_compactionjobinfo_bytes_read(const cambium_compactionjobinfo_t *);
uint64_t cambium_compactionjobinfo_bytes_written(const cambium_compactionjobinfo_t *);
uint32_t cambium_compactionjobinfo_cf_id(const cambium_compactionjobinfo_t *);
const char *cambium_compactionjobinfo_cf_name(const cambium_compactionjobinfo_t *, size_t *);
int cambium_compactionjobinfo_compaction_reason(const cambium_compactionjobinfo_t *);
const char *cambium_compactionjobinfo_db_name(const cambium_compactionjobinfo_t *, size_t *);
uint64_t cambium_compactionjobinfo_elapsed_micros(const cambium_compactionjobinfo_t *);
uint64_t cambium_compactionjobinfo_entries_dropped(const cambium_compactionjobinfo_t *);
uint64_t cambium_compactionjobinfo_entries_merged(const cambium_compactionjobinfo_t *);
const char *cambium_compactionjobinfo_input_file_at(const cambium_compactionjobinfo_t *, size_t, size_t *);
size_t cambium_compactionjobinfo_input_files_count(const cambium_compactionjobinfo_t *);
int cambium_compactionjobinfo_job_id(const cambium_compactionjobinfo_t *);
const char *cambium_compactionjobinfo_output_file_at(const cambium_compactionjobinfo_t *, size_t, size_t *);
size_t cambium_compactionjobinfo_output_files_count(const cambium_compactionjobinfo_t *);
int cambium_compactionjobinfo_output_level(const cambium_compactionjobinfo_t *);
void cambium_compactionjobinfo_status(const cambium_compactionjobinfo_t *, char **);
cambium_compactoptions_t *cambium_compactoptions_create(void);
void cambium_compactoptions_destroy(cambium_compactoptions_t *);
double cambium_compactoptions_get_blob_garbage_collection_age_cutoff(const cambium_compactoptions_t *);
int cambium_compactoptions_get_blob_garbage_collection_policy(const cambium_compactoptions_t *);
unsigned char cambium_compactoptions_get_cluster_values(const cambium_compactoptions_t *);
void cambium_compactoptions_set_blob_garbage_collection_age_cutoff(cambium_compactoptions_t *, double);
void cambium_compactoptions_set_blob_garbage_collection_policy(cambium_compactoptions_t *, int);
void cambium_compactoptions_set_cluster_values(cambium_compactoptions_t *, unsigned char);
cambium_comparator_t *cambium_comparator_create(void *, void (*)(void *), int (*)(void *, const char *, unsigned long
    int, const char *, unsigned long int), const char *(*)(void *));
cambium_comparator_t *cambium_comparator_create_bytewise(void);
cambium_comparator_t *cambium_comparator_create_reverse_bytewise(void);
void cambium_comparator_destroy(cambium_comparator_t *);
void cambium_comparator_set_equal_means_same_bytes(cambium_comparator_t *, unsigned char);
unsigned char cambium_compare_and_delete(cambium_t *, const cambium_writeoptions_t *, const char *, size_t, const char
    *, size_t, char **);
unsigned char cambium_compare_and_delete_cf(cambium_t *, const cambium_writeoptions_t *, cambium_column_family_handle_t
    *, const char *, size_t, const char *, size_t, char **);
unsigned char cambium_compare_and_set(cambium_t *, const cambium_writeoptions_t *, const char *, size_t, const char *,
    size_t, const char *, size_t, char **);
unsigned char cambium_compare_and_set_cf(cambium_t *, const cambium_writeoptions_t *, cambium_column_family_handle_t *,
    const char *, size_t, const char *, size_t, const char *, size_t, char **);
cambium_column_family_handle_t *cambium_create_column_family(cambium_t *, const cambium_options_t *, const char *, char
    **);
cambium_env_t *cambium_create_default_env(void);
cambium_iterator_t *cambium_create_iterator(cambium_t *, const cambium_readoptions_t *);
cambium_iterator_t *cambium_create_iterator_cf(cambium_t *, const cambium_readoptions_t *,
    cambium_column_family_handle_t *);
void cambium_create_iterators(cambium_t *, const cambium_readoptions_t *, cambium_column_family_handle_t *const *,
    cambium_iterator_t **, size_t, char **);
const cambium_snapshot_t *cambium_create_snapshot(cambium_t *);
void cambium_delete(cambium_t *, const cambium_writeoptions_t *, const char *, size_t, char **);
void cambium_delete_cf(cambium_t *, const cambium_writeoptions_t *, cambium_column_family_handle_t *, const char *,
    size_t, char **);
unsigned char cambium_delete_if_unchanged(cambium_t *, const cambium_writeoptions_t *, const char *, size_t, uint64_t,
    char **);
unsigned char cambium_delete_if_unchanged_cf(cambium_t *, const cambium_writeoptions_t *, cambium_column_family_handle_t
    *, const char *, size_t, uint64_t, char **);
void cambium_delete_range(cambium_t *, const cambium_writeoptions_t *, const char *, size_t, const char *, size_t, char
    **);
void cambium_delete_range_cf(cambium_t *, const cambium_writeoptions_t *, cambium_column_family_handle_t *, const char
    *, size_t, const char *, size_t, char **);
void cambium_destroy_db(const cambium_options_t *, const char *, char **);
void cambium_drop_column_family(cambium_t *, cambium_column_family_handle_t *, char **);
void cambium_end_trace(cambium_t *, char **);
void cambium_env_destroy(cambium_env_t *);
char *cambium_env_get_test_directory(cambium_env_t *);
int cambium_error_code(const char *);
const char *cambium_error_message(const char *);
int cambium_error_severity(const char *);
int cambium_error_subcode(const char *);
cambium_eventlistener_t *cambium_eventlistener_create(void *, void (*)(void *), void (*)(void *, cambium_t *, const
    cambium_flushjobinfo_t *), void (*)(void *, cambium_t *, const cambium_flushjobinfo_t *), void (*)(void *, cambium_t
    *, const cambium_compactionjobinfo_t *), void (*)(void *, cambium_t *, const cambium_compactionjobinfo_t *), void
    (*)(void *, const cambium_backgrounderrorinfo_t *), void (*)(void *, const cambium_writestallinfo_t *), void
    (*)(void *, const cambium_memtableinfo_t *));
void cambium_eventlistener_destroy(cambium_eventlistener_t *);
void cambium_eventlistener_set_on_blob_files(cambium_eventlistener_t *, void (*)(void *, const
    cambium_blobfilecreationinfo_t *), void (*)(void *, const cambium_blobfilecreationinfo_t *), void (*)(void *, const
    cambium_blobfiledeletioninfo_t *));
void cambium_eventlistener_set_on_log_gc_completed(cambium_eventlistener_t *, void (*)(void *, cambium_t *, const
    cambium_loggcjobinfo_t *));
void cambium_eventlistener_set_on_table_files(cambium_eventlistener_t *, void (*)(void *, const
    cambium_tablefilecreationinfo_t *), void (*)(void *, const cambium_tablefilecreationinfo_t *), void (*)(void *,
    const cambium_tablefiledeletioninfo_t *));
cambium_filterpolicy_t *cambium_filterpolicy_create(void *, void (*)(void *), char *(*)(void *, const char *const *,
    const size_t *, int, size_t *), unsigned char (*)(void *, const char *, size_t, const char *, size_t), const char
    *(*)(void *));
cambium_filterpolicy_t *cambium_filterpolicy_create_bloom(int);
void cambium_filterpolicy_destroy(cambium_filterpolicy_t *);
void cambium_flush(cambium_t *, const cambium_flushoptions_t *, char **);
void cambium_flush_cf(cambium_t *, const cambium_flushoptions_t *, cambium_column_family_handle_t *, char **);
void cambium_flush_wal(cambium_t *, unsigned char, char **);
uint64_t cambium_flushjobinfo_bytes_written(const cambium_flushjobinfo_t *);
uint32_t cambium_flushjobinfo_cf_id(const cambium_flushjobinfo_t *);
const char *cambium_flushjobinfo_cf_name(const cambium_flushjobinfo_t *, size_t *);
const char *cambium_flushjobinfo_db_name(const cambium_flushjobinfo_t *, size_t *);
uint64_t cambium_flushjobinfo_elapsed_micros(const cambium_flushjobinfo_t *);
int cambium_flushjobinfo_flush_reason(const cambium_flushjobinfo_t *);
int cambium_flushjobinfo_job_id(const cambium_flushjobinfo_t *);
uint64_t cambium_flushjobinfo_largest_seqno(const cambium_flushjobinfo_t *);
unsigned char cambium_flushjobinfo_merged_into_tree(const cambium_flushjobinfo_t *);
uint64_t cambium_flushjobinfo_num_entries(const cambium_flushjobinfo_t *);
const char *cambium_flushjobinfo_output_file_at(const cambium_flushjobinfo_t *, size_t, size_t *);
size_t cambium_flushjobinfo_output_files_count(const cambium_flushjobinfo_t *);
void cambium_flushjobinfo_status(const cambium_flushjobinfo_t *, char **);
cambium_flushoptions_t *cambium_flushoptions_create(void);
void cambium_flushoptions_destroy(cambium_flushoptions_t *);
unsigned char cambium_flushoptions_get_wait(const cambium_flushoptions_t *);
void cambium_flushoptions_set_wait(cambium_flushoptions_t *, unsigned char);
void cambium_free(void *);
char *cambium_get(cambium_t *, const cambium_readoptions_t *, const char *, size_t, size_t *, char **);
char *cambium_get_cf(cambium_t *, const cambium_readoptions_t *, cambium_column_family_handle_t *, const char *, size_t,
    size_t *, char **);
char *cambium_get_db_identity(cambium_t *, size_t *);
cambium_column_family_handle_t *cambium_get_default_column_family_handle(cambium_t *);
unsigned char cambium_get_into_buffer(cambium_t *, const cambium_readoptions_t *, const char *, size_t, char *, size_t,
    size_t *, unsigned char *, char **);
unsigned char cambium_get_into_buffer_cf(cambium_t *, const cambium_readoptions_t *, cambium_column_family_handle_t *,
    const char *, size_t, char *, size_t, size_t *, unsigned char *, char **);
uint64_t cambium_get_latest_sequence_number(cambium_t *);
cambium_options_t *cambium_get_options(cambium_t *);
cambium_options_t *cambium_get_options_cf(cambium_t *, cambium_column_family_handle_t *);
void cambium_get_options_from_string(const cambium_options_t *, const char *, cambium_options_t *, char **);
cambium_pinnableslice_t *cambium_get_pinned(cambium_t *, const cambium_readoptions_t *, const char *, size_t, char **);
cambium_pinnableslice_t *cambium_get_pinned_cf(cambium_t *, const cambium_readoptions_t *,
    cambium_column_family_handle_t *, const char *, size_t, char **);
char *cambium_get_with_version(cambium_t *, const cambium_readoptions_t *, const char *, size_t, size_t *, uint64_t *,
    char **);
char *cambium_get_with_version_cf(cambium_t *, const cambium_readoptions_t *, cambium_column_family_handle_t *, const
    char *, size_t, size_t *, uint64_t *, char **);
void cambium_iter_destroy(cambium_iterator_t *);
void cambium_iter_get_error(const cambium_iterator_t *, char **);
const char *cambium_iter_key(const cambium_iterator_t *, size_t *);
void cambium_iter_next(cambium_iterator_t *);
unsigned char cambium_iter_prepare_value(cambium_iterator_t *);
void cambium_iter_prev(cambium_iterator_t *);
void cambium_iter_seek(cambium_iterator_t *, const char *, size_t);
void cambium_iter_seek_for_prev(cambium_iterator_t *, const char *, size_t);
void cambium_iter_seek_to_first(cambium_iterator_t *);
void cambium_iter_seek_to_last(cambium_iterator_t *);
unsigned char cambium_iter_valid(const cambium_iterator_t *);
const char *cambium_iter_value(const cambium_iterator_t *, size_t *);
uint64_t cambium_iter_value_size(const cambium_iterator_t *);
char **cambium_list_column_families(const cambium_options_t *, const char *, size_t *, char **);
void cambium_list_column_families_destroy(char **, size_t);
void cambium_load_latest_options(const char *, unsigned char, const cambium_comparator_t *const *, size_t,
    cambium_options_t **, size_t *, char ***, cambium_options_t ***, char **);
void cambium_load_latest_options_destroy(cambium_options_t *, char **, cambium_options_t **, size_t);
uint64_t cambium_loggcjobinfo_bytes_freed(const cambium_loggcjobinfo_t *);
uint64_t cambium_loggcjobinfo_bytes_read(const cambium_loggcjobinfo_t *);
uint64_t cambium_loggcjobinfo_bytes_written(const cambium_loggcjobinfo_t *);
const char *cambium_loggcjobinfo_db_name(const cambium_loggcjobinfo_t *, size_t *);
uint64_t cambium_loggcjobinfo_elapsed_micros(const cambium_loggcjobinfo_t *);
const char *cambium_loggcjobinfo_emptied_file_at(const cambium_loggcjobinfo_t *, size_t, size_t *);
size_t cambium_loggcjobinfo_emptied_files_count(const cambium_loggcjobinfo_t *);
const char *cambium_loggcjobinfo_input_file_at(const cambium_loggcjobinfo_t *, size_t, size_t *);
size_t cambium_loggcjobinfo_input_files_count(const cambium_loggcjobinfo_t *);
int cambium_loggcjobinfo_job_id(const cambium_loggcjobinfo_t *);
uint64_t cambium_loggcjobinfo_keys_relocated(const cambium_loggcjobinfo_t *);
const char *cambium_loggcjobinfo_punched_file_at(const cambium_loggcjobinfo_t *, size_t, size_t *);
size_t cambium_loggcjobinfo_punched_files_count(const cambium_loggcjobinfo_t *);
int cambium_loggcjobinfo_reason(const cambium_loggcjobinfo_t *);
void cambium_loggcjobinfo_status(const cambium_loggcjobinfo_t *, char **);
cambium_logger_t *cambium_logger_create_callback_logger(int, void (*)(void *, int, const char *, unsigned long int),
    void *);
cambium_logger_t *cambium_logger_create_null_logger(void);
void cambium_logger_destroy(cambium_logger_t *);
int cambium_major_version(void);
uint32_t cambium_memtableinfo_cf_id(const cambium_memtableinfo_t *);
const char *cambium_memtableinfo_cf_name(const cambium_memtableinfo_t *, size_t *);
const char *cambium_memtableinfo_db_name(const cambium_memtableinfo_t *, size_t *);
uint64_t cambium_memtableinfo_memory_bytes(const cambium_memtableinfo_t *);
uint64_t cambium_memtableinfo_num_entries(const cambium_memtableinfo_t *);
uint64_t cambium_memtableinfo_num_range_deletes(const cambium_memtableinfo_t *);
int cambium_memtableinfo_reason(const cambium_memtableinfo_t *);
int cambium_minor_version(void);
void cambium_multi_get(cambium_t *, const cambium_readoptions_t *, size_t, const char *const *, const size_t *, char **,
    size_t *, char **);
void cambium_multi_get_cf(cambium_t *, const cambium_readoptions_t *, const cambium_column_family_handle_t *const *,
    size_t, const char *const *, const size_t *, char **, size_t *, char **);
cambium_t *cambium_open(const cambium_options_t *, const char *, char **);
cambium_t *cambium_open_column_families(const cambium_options_t *, const char *, int, const char *const *, const
    cambium_options_t *const *, cambium_column_family_handle_t **, char **);
cambium_t *cambium_open_for_read_only(const cambium_options_t *, const char *, char **);
cambium_t *cambium_open_for_read_only_column_families(const cambium_options_t *, const char *, int, const char *const *,
    const cambium_options_t *const *, cambium_column_family_handle_t **, char **);
cambium_transaction_t *cambium_optimistictransaction_begin(cambium_optimistictransactiondb_t *, const
    cambium_writeoptions_t *, const cambium_optimistictransaction_options_t *, cambium_transaction_t *);
cambium_optimistictransaction_options_t *cambium_optimistictransaction_options_create(void);
void cambium_optimistictransaction_options_destroy(cambium_optimistictransaction_options_t *);
unsigned char cambium_optimistictransaction_options_get_read_at_snapshot(const cambium_optimistictransaction_options_t
    *);
unsigned char cambium_optimistictransaction_options_get_set_snapshot(const cambium_optimistictransaction_options_t *);
void cambium_optimistictransaction_options_set_read_at_snapshot(cambium_optimistictransaction_options_t *, unsigned
    char);
void cambium_optimistictransaction_options_set_set_snapshot(cambium_optimistictransaction_options_t *, unsigned char);
cambium_t *cambium_optimistictransactiondb_as_db(cambium_optimistictransactiondb_t *);
cambium_checkpoint_t *cambium_optimistictransactiondb_checkpoint_object_create(cambium_optimistictransactiondb_t *, char
    **);
void cambium_optimistictransactiondb_close(cambium_optimistictransactiondb_t *);
void cambium_optimistictransactiondb_close_base_db(cambium_t *);
cambium_t *cambium_optimistictransactiondb_get_base_db(cambium_optimistictransactiondb_t *);
cambium_optimistictransactiondb_t *cambium_optimistictransactiondb_open(const cambium_options_t *, const char *, char
    **);
cambium_optimistictransactiondb_t *cambium_optimistictransactiondb_open_column_families(const cambium_options_t *, const
    char *, int, const char *const *, const cambium_options_t *const *, cambium_column_family_handle_t **, char **);
int cambium_optimistictransactiondb_property_int(cambium_optimistictransactiondb_t *, const char *, uint64_t *);
char *cambium_optimistictransactiondb_property_value(cambium_optimistictransactiondb_t *, const char *);
void cambium_optimistictransactiondb_write(cambium_optimistictransactiondb_t *, const cambium_writeoptions_t *,
    cambium_writebatch_t *, char **);
void cambium_options_add_eventlistener(cambium_options_t *, cambium_eventlistener_t *);
cambium_options_t *cambium_options_create(void);
cambium_options_t *cambium_options_create_copy(const cambium_options_t *);
void cambium_options_destroy(cambium_options_t *);
void cambium_options_enable_statistics(cambium_options_t *);
unsigned char cambium_options_get_allow_mmap_reads(const cambium_options_t *);
int cambium_options_get_blob_compression_type(const cambium_options_t *);
uint64_t cambium_options_get_blob_file_size(const cambium_options_t *);
double cambium_options_get_blob_gc_age_cutoff(const cambium_options_t *);
double cambium_options_get_blob_gc_force_threshold(const cambium_options_t *);
int cambium_options_get_compaction_style(const cambium_options_t *);
int cambium_options_get_compression(const cambium_options_t *);
unsigned char cambium_options_get_create_if_missing(const cambium_options_t *);
unsigned char cambium_options_get_create_missing_column_families(const cambium_options_t *);
size_t cambium_options_get_db_write_buffer_size(const cambium_options_t *);
unsigned char cambium_options_get_enable_blob_files(const cambium_options_t *);
unsigned char cambium_options_get_enable_blob_gc(const cambium_options_t *);
unsigned char cambium_options_get_error_if_exists(const cambium_options_t *);
int cambium_options_get_filter_bits_per_key(const cambium_options_t *);
int cambium_options_get_index_type(const cambium_options_t *);
uint64_t cambium_options_get_large_value_size(const cambium_options_t *);
int cambium_options_get_level0_file_num_compaction_trigger(const cambium_options_t *);
int cambium_options_get_level0_slowdown_writes_trigger(const cambium_options_t *);
int cambium_options_get_level0_stop_writes_trigger(const cambium_options_t *);
uint64_t cambium_options_get_lock_wait_micros(const cambium_options_t *);
int cambium_options_get_max_background_jobs(const cambium_options_t *);
uint64_t cambium_options_get_max_bytes_for_level_base(const cambium_options_t *);
double cambium_options_get_max_bytes_for_level_multiplier(const cambium_options_t *);
int cambium_options_get_max_open_files(const cambium_options_t *);
double cambium_options_get_max_space_amplification(const cambium_options_t *);
uint64_t cambium_options_get_max_total_wal_size(const cambium_options_t *);
int cambium_options_get_max_write_buffer_number(const cambium_options_t *);
uint64_t cambium_options_get_min_blob_size(const cambium_options_t *);
uint64_t cambium_options_get_min_punch_size(const cambium_options_t *);
uint64_t cambium_options_get_min_space_limit(const cambium_options_t *);
int cambium_options_get_num_levels(const cambium_options_t *);
size_t cambium_options_get_page_cache_size(const cambium_options_t *);
uint64_t cambium_options_get_page_size(const cambium_options_t *);
int cambium_options_get_statistics_level(const cambium_options_t *);
int cambium_options_get_sweep_ratio(const cambium_options_t *);
uint64_t cambium_options_get_target_file_size_base(const cambium_options_t *);
int cambium_options_get_target_file_size_multiplier(const cambium_options_t *);
int cambium_options_get_value_clustering(const cambium_options_t *);
int cambium_options_get_wal_recovery_mode(const cambium_options_t *);
size_t cambium_options_get_write_buffer_size(const cambium_options_t *);
void cambium_options_optimize_for_rocksdb_compatibility(cambium_options_t *);
void cambium_options_set_allow_mmap_reads(cambium_options_t *, unsigned char);
void cambium_options_set_blob_compression_type(cambium_options_t *, int);
void cambium_options_set_blob_file_size(cambium_options_t *, uint64_t);
void cambium_options_set_blob_gc_age_cutoff(cambium_options_t *, double);
void cambium_options_set_blob_gc_force_threshold(cambium_options_t *, double);
void cambium_options_set_block_restart_interval(cambium_options_t *, int);
void cambium_options_set_block_size(cambium_options_t *, size_t);
void cambium_options_set_cache(cambium_options_t *, cambium_cache_t *);
void cambium_options_set_compaction_filter(cambium_options_t *, cambium_compactionfilter_t *);
void cambium_options_set_compaction_filter_factory(cambium_options_t *, cambium_compactionfilterfactory_t *);
void cambium_options_set_compaction_style(cambium_options_t *, int);
void cambium_options_set_comparator(cambium_options_t *, cambium_comparator_t *);
void cambium_options_set_compression(cambium_options_t *, int);
void cambium_options_set_create_if_missing(cambium_options_t *, unsigned char);
void cambium_options_set_create_missing_column_families(cambium_options_t *, unsigned char);
void cambium_options_set_db_write_buffer_size(cambium_options_t *, size_t);
void cambium_options_set_enable_blob_files(cambium_options_t *, unsigned char);
void cambium_options_set_enable_blob_gc(cambium_options_t *, unsigned char);
void cambium_options_set_env(cambium_options_t *, cambium_env_t *);
void cambium_options_set_error_if_exists(cambium_options_t *, unsigned char);
void cambium_options_set_filter_bits_per_key(cambium_options_t *, int);
void cambium_options_set_filter_policy(cambium_options_t *, cambium_filterpolicy_t *);
void cambium_options_set_index_type(cambium_options_t *, int);
void cambium_options_set_info_log(cambium_options_t *, cambium_logger_t *);
void cambium_options_set_large_value_size(cambium_options_t *, uint64_t);
void cambium_options_set_level0_file_num_compaction_trigger(cambium_options_t *, int);
void cambium_options_set_level0_slowdown_writes_trigger(cambium_options_t *, int);
void cambium_options_set_level0_stop_writes_trigger(cambium_options_t *, int);
void cambium_options_set_lock_wait_micros(cambium_options_t *, uint64_t);
void cambium_options_set_max_background_jobs(cambium_options_t *, int);
void cambium_options_set_max_bytes_for_level_base(cambium_options_t *, uint64_t);
void cambium_options_set_max_bytes_for_level_multiplier(cambium_options_t *, double);
void cambium_options_set_max_file_size(cambium_options_t *, size_t);
void cambium_options_set_max_open_files(cambium_options_t *, int);
void cambium_options_set_max_space_amplification(cambium_options_t *, double);
void cambium_options_set_max_total_wal_size(cambium_options_t *, uint64_t);
void cambium_options_set_max_write_buffer_number(cambium_options_t *, int);
void cambium_options_set_min_blob_size(cambium_options_t *, uint64_t);
void cambium_options_set_min_punch_size(cambium_options_t *, uint64_t);
void cambium_options_set_min_space_limit(cambium_options_t *, uint64_t);
void cambium_options_set_num_levels(cambium_options_t *, int);
void cambium_options_set_page_cache_size(cambium_options_t *, size_t);
void cambium_options_set_page_size(cambium_options_t *, uint64_t);
void cambium_options_set_paranoid_checks(cambium_options_t *, unsigned char);
void cambium_options_set_ratelimiter(cambium_options_t *, cambium_ratelimiter_t *);
void cambium_options_set_statistics_level(cambium_options_t *, int);
void cambium_options_set_sweep_ratio(cambium_options_t *, int);
void cambium_options_set_target_file_size_base(cambium_options_t *, uint64_t);
void cambium_options_set_target_file_size_multiplier(cambium_options_t *, int);
void cambium_options_set_value_clustering(cambium_options_t *, int);
void cambium_options_set_wal_recovery_mode(cambium_options_t *, int);
void cambium_options_set_write_buffer_manager(cambium_options_t *, cambium_write_buffer_manager_t *);
void cambium_options_set_write_buffer_size(cambium_options_t *, size_t);
void cambium_options_statistics_get_histogram_data(const cambium_options_t *, uint32_t,
    cambium_statistics_histogram_data_t *);
char *cambium_options_statistics_get_string(const cambium_options_t *);
uint64_t cambium_options_statistics_get_ticker_count(const cambium_options_t *, uint32_t);
char *cambium_options_to_string(const cambium_options_t *, char **);
int cambium_patch_version(void);
void cambium_pinnableslice_destroy(cambium_pinnableslice_t *);
const char *cambium_pinnableslice_value(const cambium_pinnableslice_t *, size_t *);
int cambium_property_int(cambium_t *, const char *, uint64_t *);
int cambium_property_int_cf(cambium_t *, cambium_column_family_handle_t *, const char *, uint64_t *);
char *cambium_property_value(cambium_t *, const char *);
char *cambium_property_value_cf(cambium_t *, cambium_column_family_handle_t *, const char *);
void cambium_put(cambium_t *, const cambium_writeoptions_t *, const char *, size_t, const char *, size_t, char **);
void cambium_put_cf(cambium_t *, const cambium_writeoptions_t *, cambium_column_family_handle_t *, const char *, size_t,
    const char *, size_t, char **);
unsigned char cambium_put_if_absent(cambium_t *, const cambium_writeoptions_t *, const char *, size_t, const char *,
    size_t, char **);
unsigned char cambium_put_if_absent_cf(cambium_t *, const cambium_writeoptions_t *, cambium_column_family_handle_t *,
    const char *, size_t, const char *, size_t, char **);
unsigned char cambium_put_if_unchanged(cambium_t *, const cambium_writeoptions_t *, const char *, size_t, uint64_t,
    const char *, size_t, char **);
unsigned char cambium_put_if_unchanged_cf(cambium_t *, const cambium_writeoptions_t *, cambium_column_family_handle_t *,
    const char *, size_t, uint64_t, const char *, size_t, char **);
cambium_ratelimiter_t *cambium_ratelimiter_create(int64_t, int64_t, int32_t);
void cambium_ratelimiter_destroy(cambium_ratelimiter_t *);
int64_t cambium_ratelimiter_get_bytes_per_second(const cambium_ratelimiter_t *);
void cambium_ratelimiter_set_bytes_per_second(cambium_ratelimiter_t *, int64_t, char **);
cambium_readoptions_t *cambium_readoptions_create(void);
void cambium_readoptions_destroy(cambium_readoptions_t *);
unsigned char cambium_readoptions_get_allow_unprepared_value(const cambium_readoptions_t *);
unsigned char cambium_readoptions_get_async_io(const cambium_readoptions_t *);
unsigned char cambium_readoptions_get_durable_only(const cambium_readoptions_t *);
unsigned char cambium_readoptions_get_fill_cache(const cambium_readoptions_t *);
unsigned char cambium_readoptions_get_pin_mapped_values(const cambium_readoptions_t *);
unsigned char cambium_readoptions_get_verify_checksums(const cambium_readoptions_t *);
void cambium_readoptions_set_allow_unprepared_value(cambium_readoptions_t *, unsigned char);
void cambium_readoptions_set_async_io(cambium_readoptions_t *, unsigned char);
void cambium_readoptions_set_durable_only(cambium_readoptions_t *, unsigned char);
void cambium_readoptions_set_fill_cache(cambium_readoptions_t *, unsigned char);
void cambium_readoptions_set_iterate_lower_bound(cambium_readoptions_t *, const char *, size_t);
void cambium_readoptions_set_iterate_upper_bound(cambium_readoptions_t *, const char *, size_t);
void cambium_readoptions_set_pin_mapped_values(cambium_readoptions_t *, unsigned char);
void cambium_readoptions_set_snapshot(cambium_readoptions_t *, const cambium_snapshot_t *);
void cambium_readoptions_set_verify_checksums(cambium_readoptions_t *, unsigned char);
void cambium_release_snapshot(cambium_t *, const cambium_snapshot_t *);
void cambium_repair_db(const cambium_options_t *, const char *, char **);
void cambium_salvage_db(const cambium_options_t *, const char *, const char *, unsigned char, uint64_t *, uint64_t *,
    char **);
void cambium_salvage_db_column_families(const cambium_options_t *, const char *, int, const char *const *, const
    cambium_options_t *const *, const char *, unsigned char, uint64_t *, uint64_t *, char **);
void cambium_set_db_options(cambium_t *, int, const char *const *, const char *const *, char **);
void cambium_set_options(cambium_t *, int, const char *const *, const char *const *, char **);
void cambium_set_options_cf(cambium_t *, cambium_column_family_handle_t *, int, const char *const *, const char *const
    *, char **);
void cambium_singledelete(cambium_t *, const cambium_writeoptions_t *, const char *, size_t, char **);
void cambium_singledelete_cf(cambium_t *, const cambium_writeoptions_t *, cambium_column_family_handle_t *, const char
    *, size_t, char **);
uint64_t cambium_snapshot_get_sequence_number(const cambium_snapshot_t *);
void cambium_start_trace(cambium_t *, const cambium_traceoptions_t *, const char *, char **);
uint32_t cambium_statistics_histogram(const char *);
cambium_statistics_histogram_data_t *cambium_statistics_histogram_data_create(void);
void cambium_statistics_histogram_data_destroy(cambium_statistics_histogram_data_t *);
double cambium_statistics_histogram_data_get_average(const cambium_statistics_histogram_data_t *);
uint64_t cambium_statistics_histogram_data_get_count(const cambium_statistics_histogram_data_t *);
double cambium_statistics_histogram_data_get_max(const cambium_statistics_histogram_data_t *);
double cambium_statistics_histogram_data_get_median(const cambium_statistics_histogram_data_t *);
double cambium_statistics_histogram_data_get_min(const cambium_statistics_histogram_data_t *);
double cambium_statistics_histogram_data_get_p95(const cambium_statistics_histogram_data_t *);
double cambium_statistics_histogram_data_get_p99(const cambium_statistics_histogram_data_t *);
double cambium_statistics_histogram_data_get_std_dev(const cambium_statistics_histogram_data_t *);
uint64_t cambium_statistics_histogram_data_get_sum(const cambium_statistics_histogram_data_t *);
uint32_t cambium_statistics_ticker(const char *);
void cambium_string_list_destroy(char **, size_t);
uint32_t cambium_tablefilecreationinfo_cf_id(const cambium_tablefilecreationinfo_t *);
const char *cambium_tablefilecreationinfo_cf_name(const cambium_tablefilecreationinfo_t *, size_t *);
const char *cambium_tablefilecreationinfo_db_name(const cambium_tablefilecreationinfo_t *, size_t *);
uint64_t cambium_tablefilecreationinfo_file_number(const cambium_tablefilecreationinfo_t *);
const char *cambium_tablefilecreationinfo_file_path(const cambium_tablefilecreationinfo_t *, size_t *);
uint64_t cambium_tablefilecreationinfo_file_size(const cambium_tablefilecreationinfo_t *);
int cambium_tablefilecreationinfo_job_id(const cambium_tablefilecreationinfo_t *);
int cambium_tablefilecreationinfo_reason(const cambium_tablefilecreationinfo_t *);
void cambium_tablefilecreationinfo_status(const cambium_tablefilecreationinfo_t *, char **);
const char *cambium_tablefiledeletioninfo_db_name(const cambium_tablefiledeletioninfo_t *, size_t *);
uint64_t cambium_tablefiledeletioninfo_file_number(const cambium_tablefiledeletioninfo_t *);
const char *cambium_tablefiledeletioninfo_file_path(const cambium_tablefiledeletioninfo_t *, size_t *);
cambium_traceoptions_t *cambium_traceoptions_create(void);
void cambium_traceoptions_destroy(cambium_traceoptions_t *);
uint64_t cambium_traceoptions_get_filter(const cambium_traceoptions_t *);
unsigned char cambium_traceoptions_get_include_values(const cambium_traceoptions_t *);
uint64_t cambium_traceoptions_get_max_trace_file_size(const cambium_traceoptions_t *);
unsigned char cambium_traceoptions_get_preserve_write_order(const cambium_traceoptions_t *);
uint64_t cambium_traceoptions_get_sampling_frequency(const cambium_traceoptions_t *);
void cambium_traceoptions_set_filter(cambium_traceoptions_t *, uint64_t);
void cambium_traceoptions_set_include_values(cambium_traceoptions_t *, unsigned char);
void cambium_traceoptions_set_max_trace_file_size(cambium_traceoptions_t *, uint64_t);
void cambium_traceoptions_set_preserve_write_order(cambium_traceoptions_t *, unsigned char);
void cambium_traceoptions_set_sampling_frequency(cambium_traceoptions_t *, uint64_t);
cambium_transaction_t *cambium_transaction_begin(cambium_transactiondb_t *, const cambium_writeoptions_t *, const
    cambium_transaction_options_t *, cambium_transaction_t *);
void cambium_transaction_clear_snapshot(cambium_transaction_t *);
void cambium_transaction_commit(cambium_transaction_t *, char **);
cambium_iterator_t *cambium_transaction_create_iterator(cambium_transaction_t *, const cambium_readoptions_t *);
cambium_iterator_t *cambium_transaction_create_iterator_cf(cambium_transaction_t *, const cambium_readoptions_t *,
    cambium_column_family_handle_t *);
void cambium_transaction_delete(cambium_transaction_t *, const char *, size_t, char **);
void cambium_transaction_delete_cf(cambium_transaction_t *, cambium_column_family_handle_t *, const char *, size_t, char
    **);
void cambium_transaction_delete_range(cambium_transaction_t *, const char *, size_t, const char *, size_t, char **);
void cambium_transaction_delete_range_cf(cambium_transaction_t *, cambium_column_family_handle_t *, const char *,
    size_t, const char *, size_t, char **);
void cambium_transaction_destroy(cambium_transaction_t *);
char *cambium_transaction_get(cambium_transaction_t *, const cambium_readoptions_t *, const char *, size_t, size_t *,
    char **);
char *cambium_transaction_get_cf(cambium_transaction_t *, const cambium_readoptions_t *, cambium_column_family_handle_t
    *, const char *, size_t, size_t *, char **);
uint64_t cambium_transaction_get_elapsed_time(const cambium_transaction_t *);
char *cambium_transaction_get_for_update(cambium_transaction_t *, const cambium_readoptions_t *, const char *, size_t,
    size_t *, unsigned char, char **);
char *cambium_transaction_get_for_update_cf(cambium_transaction_t *, const cambium_readoptions_t *,
    cambium_column_family_handle_t *, const char *, size_t, size_t *, unsigned char, char **);
uint64_t cambium_transaction_get_id(const cambium_transaction_t *);
char *cambium_transaction_get_name(const cambium_transaction_t *, size_t *);
uint64_t cambium_transaction_get_num_deletes(const cambium_transaction_t *);
uint64_t cambium_transaction_get_num_keys(const cambium_transaction_t *);
uint64_t cambium_transaction_get_num_puts(const cambium_transaction_t *);
cambium_pinnableslice_t *cambium_transaction_get_pinned(cambium_transaction_t *, const cambium_readoptions_t *, const
    char *, size_t, char **);
cambium_pinnableslice_t *cambium_transaction_get_pinned_cf(cambium_transaction_t *, const cambium_readoptions_t *,
    cambium_column_family_handle_t *, const char *, size_t, char **);
cambium_pinnableslice_t *cambium_transaction_get_pinned_for_update(cambium_transaction_t *, const cambium_readoptions_t
    *, const char *, size_t, unsigned char, char **);
cambium_pinnableslice_t *cambium_transaction_get_pinned_for_update_cf(cambium_transaction_t *, const
    cambium_readoptions_t *, cambium_column_family_handle_t *, const char *, size_t, unsigned char, char **);
void cambium_transaction_get_range_lock(cambium_transaction_t *, const char *, size_t, unsigned char, const char *,
    size_t, unsigned char, char **);
void cambium_transaction_get_range_lock_cf(cambium_transaction_t *, cambium_column_family_handle_t *, const char *,
    size_t, unsigned char, const char *, size_t, unsigned char, char **);
int cambium_transaction_get_state(const cambium_transaction_t *);
cambium_writebatch_wi_t *cambium_transaction_get_writebatch_wi(cambium_transaction_t *);
void cambium_transaction_multi_get(cambium_transaction_t *, const cambium_readoptions_t *, size_t, const char *const *,
    const size_t *, char **, size_t *, char **);
void cambium_transaction_multi_get_cf(cambium_transaction_t *, const cambium_readoptions_t *, const
    cambium_column_family_handle_t *const *, size_t, const char *const *, const size_t *, char **, size_t *, char **);
void cambium_transaction_multi_get_for_update(cambium_transaction_t *, const cambium_readoptions_t *, size_t, const char
    *const *, const size_t *, char **, size_t *, char **);
void cambium_transaction_multi_get_for_update_cf(cambium_transaction_t *, const cambium_readoptions_t *, const
    cambium_column_family_handle_t *const *, size_t, const char *const *, const size_t *, char **, size_t *, char **);
cambium_transaction_options_t *cambium_transaction_options_create(void);
void cambium_transaction_options_destroy(cambium_transaction_options_t *);
unsigned char cambium_transaction_options_get_deadlock_detect(const cambium_transaction_options_t *);
int64_t cambium_transaction_options_get_deadlock_detect_depth(const cambium_transaction_options_t *);
int64_t cambium_transaction_options_get_expiration(const cambium_transaction_options_t *);
int64_t cambium_transaction_options_get_lock_timeout(const cambium_transaction_options_t *);
size_t cambium_transaction_options_get_max_write_batch_size(const cambium_transaction_options_t *);
unsigned char cambium_transaction_options_get_read_at_snapshot(const cambium_transaction_options_t *);
unsigned char cambium_transaction_options_get_set_snapshot(const cambium_transaction_options_t *);
unsigned char cambium_transaction_options_get_skip_prepare(const cambium_transaction_options_t *);
void cambium_transaction_options_set_deadlock_detect(cambium_transaction_options_t *, unsigned char);
void cambium_transaction_options_set_deadlock_detect_depth(cambium_transaction_options_t *, int64_t);
void cambium_transaction_options_set_expiration(cambium_transaction_options_t *, int64_t);
void cambium_transaction_options_set_lock_timeout(cambium_transaction_options_t *, int64_t);
void cambium_transaction_options_set_max_write_batch_size(cambium_transaction_options_t *, size_t);
void cambium_transaction_options_set_read_at_snapshot(cambium_transaction_options_t *, unsigned char);
void cambium_transaction_options_set_set_snapshot(cambium_transaction_options_t *, unsigned char);
void cambium_transaction_options_set_skip_prepare(cambium_transaction_options_t *, unsigned char);
void cambium_transaction_pop_savepoint(cambium_transaction_t *, char **);
void cambium_transaction_prepare(cambium_transaction_t *, char **);
void cambium_transaction_put(cambium_transaction_t *, const char *, size_t, const char *, size_t, char **);
void cambium_transaction_put_cf(cambium_transaction_t *, cambium_column_family_handle_t *, const char *, size_t, const
    char *, size_t, char **);
void cambium_transaction_rebuild_from_writebatch(cambium_transaction_t *, cambium_writebatch_t *, char **);
void cambium_transaction_rebuild_from_writebatch_wi(cambium_transaction_t *, cambium_writebatch_wi_t *, char **);
void cambium_transaction_rollback(cambium_transaction_t *, char **);
void cambium_transaction_rollback_to_savepoint(cambium_transaction_t *, char **);
void cambium_transaction_set_lock_timeout(cambium_transaction_t *, int64_t);
void cambium_transaction_set_name(cambium_transaction_t *, const char *, size_t, char **);
void cambium_transaction_set_savepoint(cambium_transaction_t *);
void cambium_transaction_set_snapshot(cambium_transaction_t *);
void cambium_transaction_singledelete(cambium_transaction_t *, const char *, size_t, char **);
void cambium_transaction_singledelete_cf(cambium_transaction_t *, cambium_column_family_handle_t *, const char *,
    size_t, char **);
const cambium_snapshot_t *cambium_transaction_snapshot(const cambium_transaction_t *);
void cambium_transaction_track_range(cambium_transaction_t *, const char *, size_t, const char *, size_t, char **);
void cambium_transaction_track_range_cf(cambium_transaction_t *, cambium_column_family_handle_t *, const char *, size_t,
    const char *, size_t, char **);
void cambium_transaction_undo_get_for_update(cambium_transaction_t *, const char *, size_t);
void cambium_transaction_undo_get_for_update_cf(cambium_transaction_t *, cambium_column_family_handle_t *, const char *,
    size_t);
cambium_t *cambium_transactiondb_as_db(cambium_transactiondb_t *);
cambium_checkpoint_t *cambium_transactiondb_checkpoint_object_create(cambium_transactiondb_t *, char **);
void cambium_transactiondb_close(cambium_transactiondb_t *);
void cambium_transactiondb_close_base_db(cambium_t *);
cambium_column_family_handle_t *cambium_transactiondb_create_column_family(cambium_transactiondb_t *, const
    cambium_options_t *, const char *, char **);
cambium_iterator_t *cambium_transactiondb_create_iterator(cambium_transactiondb_t *, const cambium_readoptions_t *);
cambium_iterator_t *cambium_transactiondb_create_iterator_cf(cambium_transactiondb_t *, const cambium_readoptions_t *,
    cambium_column_family_handle_t *);
const cambium_snapshot_t *cambium_transactiondb_create_snapshot(cambium_transactiondb_t *);
void cambium_transactiondb_delete(cambium_transactiondb_t *, const cambium_writeoptions_t *, const char *, size_t, char
    **);
void cambium_transactiondb_delete_cf(cambium_transactiondb_t *, const cambium_writeoptions_t *,
    cambium_column_family_handle_t *, const char *, size_t, char **);
void cambium_transactiondb_flush(cambium_transactiondb_t *, const cambium_flushoptions_t *, char **);
void cambium_transactiondb_flush_cf(cambium_transactiondb_t *, const cambium_flushoptions_t *,
    cambium_column_family_handle_t *, char **);
void cambium_transactiondb_flush_wal(cambium_transactiondb_t *, unsigned char, char **);
char *cambium_transactiondb_get(cambium_transactiondb_t *, const cambium_readoptions_t *, const char *, size_t, size_t
    *, char **);
cambium_t *cambium_transactiondb_get_base_db(cambium_transactiondb_t *);
char *cambium_transactiondb_get_cf(cambium_transactiondb_t *, const cambium_readoptions_t *,
    cambium_column_family_handle_t *, const char *, size_t, size_t *, char **);
cambium_pinnableslice_t *cambium_transactiondb_get_pinned(cambium_transactiondb_t *, const cambium_readoptions_t *,
    const char *, size_t, char **);
cambium_pinnableslice_t *cambium_transactiondb_get_pinned_cf(cambium_transactiondb_t *, const cambium_readoptions_t *,
    cambium_column_family_handle_t *, const char *, size_t, char **);
cambium_transaction_t **cambium_transactiondb_get_prepared_transactions(cambium_transactiondb_t *, size_t *, char **);
void cambium_transactiondb_multi_get(cambium_transactiondb_t *, const cambium_readoptions_t *, size_t, const char *const
    *, const size_t *, char **, size_t *, char **);
void cambium_transactiondb_multi_get_cf(cambium_transactiondb_t *, const cambium_readoptions_t *, const
    cambium_column_family_handle_t *const *, size_t, const char *const *, const size_t *, char **, size_t *, char **);
cambium_transactiondb_t *cambium_transactiondb_open(const cambium_options_t *, const cambium_transactiondb_options_t *,
    const char *, char **);
cambium_transactiondb_t *cambium_transactiondb_open_column_families(const cambium_options_t *, const
    cambium_transactiondb_options_t *, const char *, int, const char *const *, const cambium_options_t *const *,
    cambium_column_family_handle_t **, char **);
cambium_transactiondb_options_t *cambium_transactiondb_options_create(void);
void cambium_transactiondb_options_destroy(cambium_transactiondb_options_t *);
int64_t cambium_transactiondb_options_get_default_lock_timeout(const cambium_transactiondb_options_t *);
uint32_t cambium_transactiondb_options_get_max_num_deadlocks(const cambium_transactiondb_options_t *);
int64_t cambium_transactiondb_options_get_max_num_locks(const cambium_transactiondb_options_t *);
size_t cambium_transactiondb_options_get_num_stripes(const cambium_transactiondb_options_t *);
int64_t cambium_transactiondb_options_get_transaction_lock_timeout(const cambium_transactiondb_options_t *);
void cambium_transactiondb_options_set_default_lock_timeout(cambium_transactiondb_options_t *, int64_t);
void cambium_transactiondb_options_set_max_num_deadlocks(cambium_transactiondb_options_t *, uint32_t);
void cambium_transactiondb_options_set_max_num_locks(cambium_transactiondb_options_t *, int64_t);
void cambium_transactiondb_options_set_num_stripes(cambium_transactiondb_options_t *, size_t);
void cambium_transactiondb_options_set_transaction_lock_timeout(cambium_transactiondb_options_t *, int64_t);
int cambium_transactiondb_property_int(cambium_transactiondb_t *, const char *, uint64_t *);
char *cambium_transactiondb_property_value(cambium_transactiondb_t *, const char *);
void cambium_transactiondb_put(cambium_transactiondb_t *, const cambium_writeoptions_t *, const char *, size_t, const
    char *, size_t, char **);
void cambium_transactiondb_put_cf(cambium_transactiondb_t *, const cambium_writeoptions_t *,
    cambium_column_family_handle_t *, const char *, size_t, const char *, size_t, char **);
void cambium_transactiondb_release_snapshot(cambium_transactiondb_t *, const cambium_snapshot_t *);
void cambium_transactiondb_write(cambium_transactiondb_t *, const cambium_writeoptions_t *, cambium_writebatch_t *, char
    **);
void cambium_verify_checksum(cambium_t *, const cambium_readoptions_t *, char **);
void cambium_verify_db(const cambium_options_t *, const char *, unsigned char, char ***, size_t *, char **);
void cambium_verify_db_column_families(const cambium_options_t *, const char *, int, const char *const *, const
    cambium_options_t *const *, unsigned char, char ***, size_t *, char **);
void cambium_wait_for_compact(cambium_t *, char **);
void cambium_write(cambium_t *, const cambium_writeoptions_t *, cambium_writebatch_t *, char **);
size_t cambium_write_buffer_manager_buffer_size(const cambium_write_buffer_manager_t *);
cambium_write_buffer_manager_t *cambium_write_buffer_manager_create(size_t, unsigned char);
void cambium_write_buffer_manager_destroy(cambium_write_buffer_manager_t *);
unsigned char cambium_write_buffer_manager_enabled(const cambium_write_buffer_manager_t *);
size_t cambium_write_buffer_manager_memory_usage(const cambium_write_buffer_manager_t *);
size_t cambium_write_buffer_manager_mutable_memtable_memory_usage(const cambium_write_buffer_manager_t *);
void cambium_write_buffer_manager_set_allow_stall(cambium_write_buffer_manager_t *, unsigned char);
void cambium_write_buffer_manager_set_buffer_size(cambium_write_buffer_manager_t *, size_t);
unsigned char cambium_write_if(cambium_t *, const cambium_writeoptions_t *, const cambium_writeconditions_t *,
    cambium_writebatch_t *, char **);
void cambium_write_writebatch_wi(cambium_t *, const cambium_writeoptions_t *, cambium_writebatch_wi_t *, char **);
void cambium_writebatch_append(cambium_writebatch_t *, const cambium_writebatch_t *);
void cambium_writebatch_clear(cambium_writebatch_t *);
int cambium_writebatch_count(const cambium_writebatch_t *);
cambium_writebatch_t *cambium_writebatch_create(void);
cambium_writebatch_t *cambium_writebatch_create_from(const char *, size_t);
const char *cambium_writebatch_data(const cambium_writebatch_t *, size_t *);
void cambium_writebatch_delete(cambium_writebatch_t *, const char *, size_t);
void cambium_writebatch_delete_cf(cambium_writebatch_t *, cambium_column_family_handle_t *, const char *, size_t);
void cambium_writebatch_delete_range(cambium_writebatch_t *, const char *, size_t, const char *, size_t);
void cambium_writebatch_delete_range_cf(cambium_writebatch_t *, cambium_column_family_handle_t *, const char *, size_t,
    const char *, size_t);
void cambium_writebatch_destroy(cambium_writebatch_t *);
void cambium_writebatch_iterate(const cambium_writebatch_t *, void *, void (*)(void *, const char *, size_t, const char
    *, size_t), void (*)(void *, const char *, size_t));
void cambium_writebatch_iterate_cf(const cambium_writebatch_t *, void *, void (*)(void *, uint32_t, const char *,
    size_t, const char *, size_t), void (*)(void *, uint32_t, const char *, size_t), void (*)(void *, uint32_t, const
    char *, size_t, const char *, size_t), char **);
void cambium_writebatch_pop_save_point(cambium_writebatch_t *, char **);
void cambium_writebatch_put(cambium_writebatch_t *, const char *, size_t, const char *, size_t);
void cambium_writebatch_put_cf(cambium_writebatch_t *, cambium_column_family_handle_t *, const char *, size_t, const
    char *, size_t);
void cambium_writebatch_rollback_to_save_point(cambium_writebatch_t *, char **);
void cambium_writebatch_set_save_point(cambium_writebatch_t *);
void cambium_writebatch_singledelete(cambium_writebatch_t *, const char *, size_t);
void cambium_writebatch_singledelete_cf(cambium_writebatch_t *, cambium_column_family_handle_t *, const char *, size_t);
void cambium_writebatch_wi_clear(cambium_writebatch_wi_t *);
int cambium_writebatch_wi_count(const cambium_writebatch_wi_t *);
cambium_writebatch_wi_t *cambium_writebatch_wi_create(size_t, unsigned char);
cambium_iterator_t *cambium_writebatch_wi_create_iterator_with_base(cambium_writebatch_wi_t *, cambium_iterator_t *);
cambium_iterator_t *cambium_writebatch_wi_create_iterator_with_base_cf(cambium_writebatch_wi_t *, cambium_iterator_t *,
    cambium_column_family_handle_t *);
cambium_iterator_t *cambium_writebatch_wi_create_iterator_with_base_cf_readopts(cambium_writebatch_wi_t *,
    cambium_iterator_t *, cambium_column_family_handle_t *, const cambium_readoptions_t *);
cambium_iterator_t *cambium_writebatch_wi_create_iterator_with_base_readopts(cambium_writebatch_wi_t *,
    cambium_iterator_t *, const cambium_readoptions_t *);
cambium_writebatch_wi_t *cambium_writebatch_wi_create_with_params(const cambium_comparator_t *, size_t, unsigned char,
    size_t);
const char *cambium_writebatch_wi_data(const cambium_writebatch_wi_t *, size_t *);
void cambium_writebatch_wi_delete(cambium_writebatch_wi_t *, const char *, size_t);
void cambium_writebatch_wi_delete_cf(cambium_writebatch_wi_t *, cambium_column_family_handle_t *, const char *, size_t);
void cambium_writebatch_wi_delete_range(cambium_writebatch_wi_t *, const char *, size_t, const char *, size_t);
void cambium_writebatch_wi_delete_range_cf(cambium_writebatch_wi_t *, cambium_column_family_handle_t *, const char *,
    size_t, const char *, size_t);
void cambium_writebatch_wi_destroy(cambium_writebatch_wi_t *);
char *cambium_writebatch_wi_get_from_batch(cambium_writebatch_wi_t *, const cambium_options_t *, const char *, size_t,
    size_t *, char **);
char *cambium_writebatch_wi_get_from_batch_and_db(cambium_writebatch_wi_t *, cambium_t *, const cambium_readoptions_t *,
    const char *, size_t, size_t *, char **);
char *cambium_writebatch_wi_get_from_batch_and_db_cf(cambium_writebatch_wi_t *, cambium_t *, const cambium_readoptions_t
    *, cambium_column_family_handle_t *, const char *, size_t, size_t *, char **);
char *cambium_writebatch_wi_get_from_batch_cf(cambium_writebatch_wi_t *, const cambium_options_t *,
    cambium_column_family_handle_t *, const char *, size_t, size_t *, char **);
cambium_pinnableslice_t *cambium_writebatch_wi_get_pinned_from_batch_and_db(cambium_writebatch_wi_t *, cambium_t *,
    const cambium_readoptions_t *, const char *, size_t, char **);
cambium_pinnableslice_t *cambium_writebatch_wi_get_pinned_from_batch_and_db_cf(cambium_writebatch_wi_t *, cambium_t *,
    const cambium_readoptions_t *, cambium_column_family_handle_t *, const char *, size_t, char **);
void cambium_writebatch_wi_iterate(const cambium_writebatch_wi_t *, void *, void (*)(void *, const char *, size_t, const
    char *, size_t), void (*)(void *, const char *, size_t));
void cambium_writebatch_wi_pop_save_point(cambium_writebatch_wi_t *, char **);
void cambium_writebatch_wi_put(cambium_writebatch_wi_t *, const char *, size_t, const char *, size_t);
void cambium_writebatch_wi_put_cf(cambium_writebatch_wi_t *, cambium_column_family_handle_t *, const char *, size_t,
    const char *, size_t);
void cambium_writebatch_wi_rollback_to_save_point(cambium_writebatch_wi_t *, char **);
void cambium_writebatch_wi_set_save_point(cambium_writebatch_wi_t *);
void cambium_writebatch_wi_singledelete(cambium_writebatch_wi_t *, const char *, size_t);
void cambium_writebatch_wi_singledelete_cf(cambium_writebatch_wi_t *, cambium_column_family_handle_t *, const char *,
    size_t);
void cambium_writeconditions_clear(cambium_writeconditions_t *);
cambium_writeconditions_t *cambium_writeconditions_create(void);
void cambium_writeconditions_destroy(cambium_writeconditions_t *);
void cambium_writeconditions_has_value(cambium_writeconditions_t *, const char *, size_t, const char *, size_t);
void cambium_writeconditions_has_value_cf(cambium_writeconditions_t *, cambium_column_family_handle_t *, const char *,
    size_t, const char *, size_t);
void cambium_writeconditions_is_absent(cambium_writeconditions_t *, const char *, size_t);
void cambium_writeconditions_is_absent_cf(cambium_writeconditions_t *, cambium_column_family_handle_t *, const char *,
    size_t);
void cambium_writeconditions_is_unchanged(cambium_writeconditions_t *, const char *, size_t, uint64_t);
void cambium_writeconditions_is_unchanged_cf(cambium_writeconditions_t *, cambium_column_family_handle_t *, const char
    *, size_t, uint64_t);
cambium_writeoptions_t *cambium_writeoptions_create(void);
void cambium_writeoptions_destroy(cambium_writeoptions_t *);
void cambium_writeoptions_disable_WAL(cambium_writeoptions_t *, int);
unsigned char cambium_writeoptions_get_disable_WAL(const cambium_writeoptions_t *);
unsigned char cambium_writeoptions_get_no_slowdown(const cambium_writeoptions_t *);
unsigned char cambium_writeoptions_get_sync(const cambium_writeoptions_t *);
void cambium_writeoptions_set_no_slowdown(cambium_writeoptions_t *, unsigned char);
void cambium_writeoptions_set_sync(cambium_writeoptions_t *, unsigned char);
int cambium_writestallinfo_cause(const cambium_writestallinfo_t *);
uint32_t cambium_writestallinfo_cf_id(const cambium_writestallinfo_t *);
const char *cambium_writestallinfo_cf_name(const cambium_writestallinfo_t *, size_t *);
uint64_t cambium_writestallinfo_change(const cambium_writestallinfo_t *);
int cambium_writestallinfo_cur(const cambium_writestallinfo_t *);
const char *cambium_writestallinfo_db_name(const cambium_writestallinfo_t *, size_t *);
int cambium_writestallinfo_prev(const cambium_writestallinfo_t *);
