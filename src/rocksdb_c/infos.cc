// The info objects of listeners. RocksDB's have many figures of its table files; the jobs of this library do not have
// these figures, so the getters return zero, or an empty text.
#include <algorithm>

#include "rocksdb_c/listener.h"

using namespace cambium::rocks;
using namespace cambium;

struct rocksdb_table_properties_t;
struct rocksdb_compaction_job_stats_t;
struct rocksdb_compaction_file_info_t;
struct rocksdb_blob_file_addition_info_t;
struct rocksdb_blob_file_garbage_info_t;

namespace {

const FlushJobInfo& Of(const rocksdb_flushjobinfo_t* info) { return *reinterpret_cast<const FlushJobInfo*>(info); }
const CompactionJobInfo& Of(const rocksdb_compactionjobinfo_t* info) {
  return *reinterpret_cast<const CompactionJobInfo*>(info);
}
const MemTableInfo& Of(const rocksdb_memtableinfo_t* info) { return *reinterpret_cast<const MemTableInfo*>(info); }
const WriteStallInfo& Of(const rocksdb_writestallinfo_t* info) {
  return *reinterpret_cast<const WriteStallInfo*>(info);
}

const char* Empty(size_t* size) {
  *size = 0;
  return "";
}
const char* At(const std::vector<std::string>& texts, size_t index, size_t* size) {
  return index < texts.size() ? Shown(texts[index], size) : Empty(size);
}
const std::string& FirstOf(const std::vector<std::string>& files) {
  static const std::string none;
  return files.empty() ? none : files.front();
}

// RocksDB's numbers of reasons.
std::uint32_t ReasonOf(FlushReason reason) {
  switch (reason) {
    case FlushReason::kWriteBufferFull:
      return 7;
    case FlushReason::kManualFlush:
      return 10;
    case FlushReason::kWalFull:
      return 13;
    case FlushReason::kWriteBufferManager:
      return 5;
    default:
      return 0;  // others
  }
}
std::uint32_t ReasonOf(CompactionReason reason) {
  switch (reason) {
    case CompactionReason::kLevels:
      return 1;
    case CompactionReason::kManualCompaction:
      return 7;
    default:
      return 0;  // unknown
  }
}

}  // namespace

extern "C" {

uint32_t rocksdb_flushjobinfo_cf_id(const rocksdb_flushjobinfo_t* info) {
  return static_cast<uint32_t>(Of(info).cf_id);
}
const char* rocksdb_flushjobinfo_cf_name(const rocksdb_flushjobinfo_t* info, size_t* size) {
  return Shown(Of(info).cf_name, size);
}
const char* rocksdb_flushjobinfo_file_path(const rocksdb_flushjobinfo_t* info, size_t* size) {
  return Shown(FirstOf(Of(info).output_files), size);
}
uint64_t rocksdb_flushjobinfo_file_number(const rocksdb_flushjobinfo_t* /*info*/) { return 0; }
uint64_t rocksdb_flushjobinfo_oldest_blob_file_number(const rocksdb_flushjobinfo_t* /*info*/) { return 0; }
uint64_t rocksdb_flushjobinfo_thread_id(const rocksdb_flushjobinfo_t* /*info*/) { return 0; }
int rocksdb_flushjobinfo_job_id(const rocksdb_flushjobinfo_t* info) { return static_cast<int>(Of(info).job_id); }
unsigned char rocksdb_flushjobinfo_triggered_writes_slowdown(const rocksdb_flushjobinfo_t* /*info*/) { return 0; }
unsigned char rocksdb_flushjobinfo_triggered_writes_stop(const rocksdb_flushjobinfo_t* /*info*/) { return 0; }
uint64_t rocksdb_flushjobinfo_smallest_seqno(const rocksdb_flushjobinfo_t* /*info*/) { return 0; }
uint64_t rocksdb_flushjobinfo_largest_seqno(const rocksdb_flushjobinfo_t* info) {
  return static_cast<uint64_t>(Of(info).largest_seqno);
}
uint32_t rocksdb_flushjobinfo_flush_reason(const rocksdb_flushjobinfo_t* info) {
  return static_cast<uint32_t>(ReasonOf(Of(info).flush_reason));
}
uint32_t rocksdb_flushjobinfo_blob_compression_type(const rocksdb_flushjobinfo_t* /*info*/) { return 0; }
uint32_t rocksdb_compactionjobinfo_cf_id(const rocksdb_compactionjobinfo_t* info) {
  return static_cast<uint32_t>(Of(info).cf_id);
}
const char* rocksdb_compactionjobinfo_cf_name(const rocksdb_compactionjobinfo_t* info, size_t* size) {
  return Shown(Of(info).cf_name, size);
}
void rocksdb_compactionjobinfo_status(const rocksdb_compactionjobinfo_t* info, char** errptr) {
  Guarded(errptr, [&] { return Of(info).status; });
}
uint64_t rocksdb_compactionjobinfo_thread_id(const rocksdb_compactionjobinfo_t* /*info*/) { return 0; }
int rocksdb_compactionjobinfo_job_id(const rocksdb_compactionjobinfo_t* info) {
  return static_cast<int>(Of(info).job_id);
}
int rocksdb_compactionjobinfo_num_l0_files(const rocksdb_compactionjobinfo_t* /*info*/) { return 0; }
int rocksdb_compactionjobinfo_base_input_level(const rocksdb_compactionjobinfo_t* info) {
  return static_cast<int>(Of(info).base_input_level);
}
int rocksdb_compactionjobinfo_output_level(const rocksdb_compactionjobinfo_t* info) {
  return static_cast<int>(Of(info).output_level);
}
uint32_t rocksdb_compactionjobinfo_compaction_reason(const rocksdb_compactionjobinfo_t* info) {
  return static_cast<uint32_t>(ReasonOf(Of(info).compaction_reason));
}
uint32_t rocksdb_compactionjobinfo_compression(const rocksdb_compactionjobinfo_t* /*info*/) { return 0; }
uint32_t rocksdb_compactionjobinfo_blob_compression_type(const rocksdb_compactionjobinfo_t* /*info*/) { return 0; }
unsigned char rocksdb_compactionjobinfo_aborted(const rocksdb_compactionjobinfo_t* info) {
  return static_cast<unsigned char>(Truth(!Of(info).status.ok()));
}
uint32_t rocksdb_subcompactionjobinfo_cf_id(const rocksdb_subcompactionjobinfo_t* /*info*/) { return 0; }
const char* rocksdb_subcompactionjobinfo_cf_name(const rocksdb_subcompactionjobinfo_t* /*info*/, size_t* size) {
  return Empty(size);
}
void rocksdb_subcompactionjobinfo_status(const rocksdb_subcompactionjobinfo_t* /*info*/, char** /*errptr*/) {}
uint64_t rocksdb_subcompactionjobinfo_thread_id(const rocksdb_subcompactionjobinfo_t* /*info*/) { return 0; }
int rocksdb_subcompactionjobinfo_job_id(const rocksdb_subcompactionjobinfo_t* /*info*/) { return 0; }
int rocksdb_subcompactionjobinfo_subcompaction_job_id(const rocksdb_subcompactionjobinfo_t* /*info*/) { return 0; }
int rocksdb_subcompactionjobinfo_base_input_level(const rocksdb_subcompactionjobinfo_t* /*info*/) { return 0; }
int rocksdb_subcompactionjobinfo_output_level(const rocksdb_subcompactionjobinfo_t* /*info*/) { return 0; }
uint32_t rocksdb_subcompactionjobinfo_compaction_reason(const rocksdb_subcompactionjobinfo_t* /*info*/) { return 0; }
uint32_t rocksdb_subcompactionjobinfo_compression(const rocksdb_subcompactionjobinfo_t* /*info*/) { return 0; }
uint32_t rocksdb_subcompactionjobinfo_blob_compression_type(const rocksdb_subcompactionjobinfo_t* /*info*/) {
  return 0;
}
const char* rocksdb_externalfileingestioninfo_cf_name(const rocksdb_externalfileingestioninfo_t* /*info*/,
                                                      size_t* size) {
  return Empty(size);
}
const char* rocksdb_externalfileingestioninfo_external_file_path(const rocksdb_externalfileingestioninfo_t* /*info*/,
                                                                 size_t* size) {
  return Empty(size);
}
const char* rocksdb_externalfileingestioninfo_internal_file_path(const rocksdb_externalfileingestioninfo_t* /*info*/,
                                                                 size_t* size) {
  return Empty(size);
}
uint64_t rocksdb_externalfileingestioninfo_global_seqno(const rocksdb_externalfileingestioninfo_t* /*info*/) {
  return 0;
}
const char* rocksdb_memtableinfo_cf_name(const rocksdb_memtableinfo_t* info, size_t* size) {
  return Shown(Of(info).cf_name, size);
}
uint64_t rocksdb_memtableinfo_first_seqno(const rocksdb_memtableinfo_t* /*info*/) { return 0; }
uint64_t rocksdb_memtableinfo_earliest_seqno(const rocksdb_memtableinfo_t* /*info*/) { return 0; }
uint64_t rocksdb_memtableinfo_num_entries(const rocksdb_memtableinfo_t* info) {
  return static_cast<uint64_t>(Of(info).num_entries);
}
uint64_t rocksdb_memtableinfo_num_deletes(const rocksdb_memtableinfo_t* /*info*/) { return 0; }
const char* rocksdb_memtableinfo_newest_udt(const rocksdb_memtableinfo_t* /*info*/, size_t* size) {
  return Empty(size);
}
size_t rocksdb_compactionjobinfo_input_files_count(const rocksdb_compactionjobinfo_t* info) {
  return static_cast<size_t>(Of(info).input_files.size());
}
size_t rocksdb_compactionjobinfo_output_files_count(const rocksdb_compactionjobinfo_t* info) {
  return static_cast<size_t>(Of(info).output_files.size());
}
uint64_t rocksdb_compactionjobinfo_elapsed_micros(const rocksdb_compactionjobinfo_t* info) {
  return static_cast<uint64_t>(Of(info).elapsed_micros);
}
uint64_t rocksdb_compactionjobinfo_num_corrupt_keys(const rocksdb_compactionjobinfo_t* /*info*/) { return 0; }
uint64_t rocksdb_compactionjobinfo_input_records(const rocksdb_compactionjobinfo_t* info) {
  return static_cast<uint64_t>(Of(info).entries_merged);
}
uint64_t rocksdb_compactionjobinfo_output_records(const rocksdb_compactionjobinfo_t* info) {
  return static_cast<uint64_t>(Of(info).entries_merged - std::min(Of(info).entries_merged, Of(info).entries_dropped));
}
uint64_t rocksdb_compactionjobinfo_total_input_bytes(const rocksdb_compactionjobinfo_t* info) {
  return static_cast<uint64_t>(Of(info).bytes_read);
}
uint64_t rocksdb_compactionjobinfo_total_output_bytes(const rocksdb_compactionjobinfo_t* info) {
  return static_cast<uint64_t>(Of(info).bytes_written);
}
size_t rocksdb_compactionjobinfo_num_input_files(const rocksdb_compactionjobinfo_t* info) {
  return static_cast<size_t>(Of(info).input_files.size());
}
size_t rocksdb_compactionjobinfo_num_input_files_at_output_level(const rocksdb_compactionjobinfo_t* /*info*/) {
  return 0;
}
const char* rocksdb_writestallinfo_cf_name(const rocksdb_writestallinfo_t* info, size_t* size) {
  return Shown(Of(info).cf_name, size);
}
uint64_t rocksdb_table_properties_orig_file_number(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_data_size(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_uncompressed_data_size(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_index_size(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_index_partitions(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_top_level_index_size(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_index_key_is_user_key(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_index_value_is_delta_encoded(const rocksdb_table_properties_t* /*props*/) {
  return 0;
}
uint64_t rocksdb_table_properties_udi_is_primary_index(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_filter_size(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_raw_key_size(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_raw_value_size(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_num_data_blocks(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_num_data_blocks_compression_rejected(const rocksdb_table_properties_t* /*props*/) {
  return 0;
}
uint64_t rocksdb_table_properties_num_data_blocks_compression_bypassed(const rocksdb_table_properties_t* /*props*/) {
  return 0;
}
uint64_t rocksdb_table_properties_num_uniform_blocks(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_num_entries(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_num_filter_entries(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_num_deletions(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_num_merge_operands(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_num_range_deletions(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_format_version(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_fixed_key_len(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_column_family_id(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_creation_time(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_oldest_key_time(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_newest_key_time(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_file_creation_time(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_slow_compression_estimated_data_size(const rocksdb_table_properties_t* /*props*/) {
  return 0;
}
uint64_t rocksdb_table_properties_fast_compression_estimated_data_size(const rocksdb_table_properties_t* /*props*/) {
  return 0;
}
uint64_t rocksdb_table_properties_external_sst_file_global_seqno_offset(const rocksdb_table_properties_t* /*props*/) {
  return 0;
}
uint64_t rocksdb_table_properties_tail_start_offset(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_user_defined_timestamps_persisted(const rocksdb_table_properties_t* /*props*/) {
  return 0;
}
uint64_t rocksdb_table_properties_key_largest_seqno(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_key_smallest_seqno(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_data_block_restart_interval(const rocksdb_table_properties_t* /*props*/) { return 0; }
uint64_t rocksdb_table_properties_index_block_restart_interval(const rocksdb_table_properties_t* /*props*/) {
  return 0;
}
uint64_t rocksdb_table_properties_separate_key_value_in_data_block(const rocksdb_table_properties_t* /*props*/) {
  return 0;
}
const char* rocksdb_table_properties_db_id(const rocksdb_table_properties_t* /*props*/, size_t* size) {
  return Empty(size);
}
const char* rocksdb_table_properties_db_session_id(const rocksdb_table_properties_t* /*props*/, size_t* size) {
  return Empty(size);
}
const char* rocksdb_table_properties_db_host_id(const rocksdb_table_properties_t* /*props*/, size_t* size) {
  return Empty(size);
}
const char* rocksdb_table_properties_column_family_name(const rocksdb_table_properties_t* /*props*/, size_t* size) {
  return Empty(size);
}
const char* rocksdb_table_properties_filter_policy_name(const rocksdb_table_properties_t* /*props*/, size_t* size) {
  return Empty(size);
}
const char* rocksdb_table_properties_comparator_name(const rocksdb_table_properties_t* /*props*/, size_t* size) {
  return Empty(size);
}
const char* rocksdb_table_properties_merge_operator_name(const rocksdb_table_properties_t* /*props*/, size_t* size) {
  return Empty(size);
}
const char* rocksdb_table_properties_prefix_extractor_name(const rocksdb_table_properties_t* /*props*/, size_t* size) {
  return Empty(size);
}
const char* rocksdb_table_properties_property_collectors_names(const rocksdb_table_properties_t* /*props*/,
                                                               size_t* size) {
  return Empty(size);
}
const char* rocksdb_table_properties_compression_name(const rocksdb_table_properties_t* /*props*/, size_t* size) {
  return Empty(size);
}
const char* rocksdb_table_properties_compression_options(const rocksdb_table_properties_t* /*props*/, size_t* size) {
  return Empty(size);
}
const char* rocksdb_table_properties_seqno_to_time_mapping(const rocksdb_table_properties_t* /*props*/, size_t* size) {
  return Empty(size);
}
uint64_t rocksdb_compaction_job_stats_elapsed_micros(const rocksdb_compaction_job_stats_t* /*stats*/) { return 0; }
uint64_t rocksdb_compaction_job_stats_cpu_micros(const rocksdb_compaction_job_stats_t* /*stats*/) { return 0; }
unsigned char rocksdb_compaction_job_stats_has_accurate_num_input_records(
    const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
uint64_t rocksdb_compaction_job_stats_num_input_records(const rocksdb_compaction_job_stats_t* /*stats*/) { return 0; }
uint64_t rocksdb_compaction_job_stats_num_blobs_read(const rocksdb_compaction_job_stats_t* /*stats*/) { return 0; }
size_t rocksdb_compaction_job_stats_num_input_files(const rocksdb_compaction_job_stats_t* /*stats*/) { return 0; }
size_t rocksdb_compaction_job_stats_num_input_files_trivially_moved(const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
size_t rocksdb_compaction_job_stats_num_input_files_at_output_level(const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
size_t rocksdb_compaction_job_stats_num_filtered_input_files(const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
size_t rocksdb_compaction_job_stats_num_filtered_input_files_at_output_level(
    const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
uint64_t rocksdb_compaction_job_stats_num_output_records(const rocksdb_compaction_job_stats_t* /*stats*/) { return 0; }
size_t rocksdb_compaction_job_stats_num_output_files(const rocksdb_compaction_job_stats_t* /*stats*/) { return 0; }
size_t rocksdb_compaction_job_stats_num_output_files_blob(const rocksdb_compaction_job_stats_t* /*stats*/) { return 0; }
unsigned char rocksdb_compaction_job_stats_is_full_compaction(const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
unsigned char rocksdb_compaction_job_stats_is_manual_compaction(const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
unsigned char rocksdb_compaction_job_stats_is_remote_compaction(const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
uint64_t rocksdb_compaction_job_stats_total_input_bytes(const rocksdb_compaction_job_stats_t* /*stats*/) { return 0; }
uint64_t rocksdb_compaction_job_stats_total_blob_bytes_read(const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
uint64_t rocksdb_compaction_job_stats_total_output_bytes(const rocksdb_compaction_job_stats_t* /*stats*/) { return 0; }
uint64_t rocksdb_compaction_job_stats_total_output_bytes_blob(const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
uint64_t rocksdb_compaction_job_stats_total_skipped_input_bytes(const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
uint64_t rocksdb_compaction_job_stats_num_records_replaced(const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
uint64_t rocksdb_compaction_job_stats_total_input_raw_key_bytes(const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
uint64_t rocksdb_compaction_job_stats_total_input_raw_value_bytes(const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
uint64_t rocksdb_compaction_job_stats_num_input_deletion_records(const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
uint64_t rocksdb_compaction_job_stats_num_expired_deletion_records(const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
uint64_t rocksdb_compaction_job_stats_num_corrupt_keys(const rocksdb_compaction_job_stats_t* /*stats*/) { return 0; }
uint64_t rocksdb_compaction_job_stats_file_write_nanos(const rocksdb_compaction_job_stats_t* /*stats*/) { return 0; }
uint64_t rocksdb_compaction_job_stats_file_range_sync_nanos(const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
uint64_t rocksdb_compaction_job_stats_file_fsync_nanos(const rocksdb_compaction_job_stats_t* /*stats*/) { return 0; }
uint64_t rocksdb_compaction_job_stats_file_prepare_write_nanos(const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
const char* rocksdb_compaction_job_stats_smallest_output_key_prefix(const rocksdb_compaction_job_stats_t* /*stats*/,
                                                                    size_t* size) {
  return Empty(size);
}
const char* rocksdb_compaction_job_stats_largest_output_key_prefix(const rocksdb_compaction_job_stats_t* /*stats*/,
                                                                   size_t* size) {
  return Empty(size);
}
uint64_t rocksdb_compaction_job_stats_num_single_del_fallthru(const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
uint64_t rocksdb_compaction_job_stats_num_single_del_mismatch(const rocksdb_compaction_job_stats_t* /*stats*/) {
  return 0;
}
int rocksdb_compaction_file_info_level(const rocksdb_compaction_file_info_t* /*info*/) { return 0; }
uint64_t rocksdb_compaction_file_info_file_number(const rocksdb_compaction_file_info_t* /*info*/) { return 0; }
uint64_t rocksdb_compaction_file_info_oldest_blob_file_number(const rocksdb_compaction_file_info_t* /*info*/) {
  return 0;
}
const char* rocksdb_blob_file_addition_info_blob_file_path(const rocksdb_blob_file_addition_info_t* /*info*/,
                                                           size_t* size) {
  return Empty(size);
}
uint64_t rocksdb_blob_file_addition_info_blob_file_number(const rocksdb_blob_file_addition_info_t* /*info*/) {
  return 0;
}
uint64_t rocksdb_blob_file_addition_info_total_blob_count(const rocksdb_blob_file_addition_info_t* /*info*/) {
  return 0;
}
uint64_t rocksdb_blob_file_addition_info_total_blob_bytes(const rocksdb_blob_file_addition_info_t* /*info*/) {
  return 0;
}
const char* rocksdb_blob_file_garbage_info_blob_file_path(const rocksdb_blob_file_garbage_info_t* /*info*/,
                                                          size_t* size) {
  return Empty(size);
}
uint64_t rocksdb_blob_file_garbage_info_blob_file_number(const rocksdb_blob_file_garbage_info_t* /*info*/) { return 0; }
uint64_t rocksdb_blob_file_garbage_info_garbage_blob_count(const rocksdb_blob_file_garbage_info_t* /*info*/) {
  return 0;
}
uint64_t rocksdb_blob_file_garbage_info_garbage_blob_bytes(const rocksdb_blob_file_garbage_info_t* /*info*/) {
  return 0;
}
unsigned char rocksdb_table_properties_has_key_largest_seqno(const rocksdb_table_properties_t* /*props*/) { return 0; }
unsigned char rocksdb_table_properties_has_key_smallest_seqno(const rocksdb_table_properties_t* /*props*/) { return 0; }
size_t rocksdb_table_properties_user_collected_properties_count(const rocksdb_table_properties_t* /*props*/) {
  return 0;
}
const char* rocksdb_table_properties_user_collected_properties_key_at(const rocksdb_table_properties_t* /*props*/,
                                                                      size_t /*pos*/, size_t* key_len) {
  return Empty(key_len);
}
const char* rocksdb_table_properties_user_collected_properties_value_at(const rocksdb_table_properties_t* /*props*/,
                                                                        size_t /*pos*/, size_t* value_len) {
  return Empty(value_len);
}
size_t rocksdb_table_properties_readable_properties_count(const rocksdb_table_properties_t* /*props*/) { return 0; }
const char* rocksdb_table_properties_readable_properties_key_at(const rocksdb_table_properties_t* /*props*/,
                                                                size_t /*pos*/, size_t* key_len) {
  return Empty(key_len);
}
const char* rocksdb_table_properties_readable_properties_value_at(const rocksdb_table_properties_t* /*props*/,
                                                                  size_t /*pos*/, size_t* value_len) {
  return Empty(value_len);
}
size_t rocksdb_flushjobinfo_blob_file_addition_infos_count(const rocksdb_flushjobinfo_t* /*info*/) { return 0; }
const rocksdb_blob_file_addition_info_t* rocksdb_flushjobinfo_blob_file_addition_info_at(
    const rocksdb_flushjobinfo_t* /*info*/, size_t /*pos*/) {
  return nullptr;
}
const rocksdb_compaction_job_stats_t* rocksdb_compactionjobinfo_stats(const rocksdb_compactionjobinfo_t* /*info*/) {
  return nullptr;
}
size_t rocksdb_compactionjobinfo_input_file_infos_count(const rocksdb_compactionjobinfo_t* /*info*/) { return 0; }
const rocksdb_compaction_file_info_t* rocksdb_compactionjobinfo_input_file_info_at(
    const rocksdb_compactionjobinfo_t* /*info*/, size_t /*pos*/) {
  return nullptr;
}
size_t rocksdb_compactionjobinfo_output_file_infos_count(const rocksdb_compactionjobinfo_t* /*info*/) { return 0; }
const rocksdb_compaction_file_info_t* rocksdb_compactionjobinfo_output_file_info_at(
    const rocksdb_compactionjobinfo_t* /*info*/, size_t /*pos*/) {
  return nullptr;
}
size_t rocksdb_compactionjobinfo_table_properties_count(const rocksdb_compactionjobinfo_t* /*info*/) { return 0; }
const char* rocksdb_compactionjobinfo_table_properties_key_at(const rocksdb_compactionjobinfo_t* /*info*/,
                                                              size_t /*pos*/, size_t* key_len) {
  return Empty(key_len);
}
const rocksdb_table_properties_t* rocksdb_compactionjobinfo_table_properties_value_at(
    const rocksdb_compactionjobinfo_t* /*info*/, size_t /*pos*/) {
  return nullptr;
}
const rocksdb_table_properties_t* rocksdb_compactionjobinfo_table_properties_for_file(
    const rocksdb_compactionjobinfo_t* /*info*/, const char* /*file_name*/, size_t /*file_name_len*/) {
  return nullptr;
}
size_t rocksdb_compactionjobinfo_blob_file_addition_infos_count(const rocksdb_compactionjobinfo_t* /*info*/) {
  return 0;
}
const rocksdb_blob_file_addition_info_t* rocksdb_compactionjobinfo_blob_file_addition_info_at(
    const rocksdb_compactionjobinfo_t* /*info*/, size_t /*pos*/) {
  return nullptr;
}
size_t rocksdb_compactionjobinfo_blob_file_garbage_infos_count(const rocksdb_compactionjobinfo_t* /*info*/) {
  return 0;
}
const rocksdb_blob_file_garbage_info_t* rocksdb_compactionjobinfo_blob_file_garbage_info_at(
    const rocksdb_compactionjobinfo_t* /*info*/, size_t /*pos*/) {
  return nullptr;
}
const rocksdb_compaction_job_stats_t* rocksdb_subcompactionjobinfo_stats(
    const rocksdb_subcompactionjobinfo_t* /*info*/) {
  return nullptr;
}
const rocksdb_table_properties_t* rocksdb_externalfileingestioninfo_table_properties(
    const rocksdb_externalfileingestioninfo_t* /*info*/) {
  return nullptr;
}

const char* rocksdb_compactionjobinfo_input_file_at(const rocksdb_compactionjobinfo_t* info, size_t index,
                                                    size_t* size) {
  return At(Of(info).input_files, index, size);
}
const char* rocksdb_compactionjobinfo_output_file_at(const rocksdb_compactionjobinfo_t* info, size_t index,
                                                     size_t* size) {
  return At(Of(info).output_files, index, size);
}
const rocksdb_table_properties_t* rocksdb_flushjobinfo_table_properties(const rocksdb_flushjobinfo_t* /*info*/) {
  return nullptr;
}
// A condition is a number behind a pointer.
const rocksdb_writestallcondition_t* rocksdb_writestallinfo_cur(const rocksdb_writestallinfo_t* info) {
  return reinterpret_cast<const rocksdb_writestallcondition_t*>(&Of(info).condition.cur);
}
const rocksdb_writestallcondition_t* rocksdb_writestallinfo_prev(const rocksdb_writestallinfo_t* info) {
  return reinterpret_cast<const rocksdb_writestallcondition_t*>(&Of(info).condition.prev);
}
rocksdb_compactionjobinfo_t* rocksdb_compactionjobinfo_create() {
  return reinterpret_cast<rocksdb_compactionjobinfo_t*>(new CompactionJobInfo);
}
void rocksdb_compactionjobinfo_destroy(rocksdb_compactionjobinfo_t* info) {
  delete reinterpret_cast<CompactionJobInfo*>(info);
}

}  // extern "C"
