// Getters of the infos that listeners receive.
#include "c/listener.h"

using cambium::c::SaveError;

#define CAMBIUM_C_TEXT(type, field)                                                      \
  const char* cambium_##type##_##field(const cambium_##type##_t* info, size_t* length) { \
    const std::string& text = Of(info).field;                                            \
    *length = text.size();                                                               \
    return text.c_str();                                                                 \
  }
#define CAMBIUM_C_NUMBER(type, field, number) \
  number cambium_##type##_##field(const cambium_##type##_t* info) { return static_cast<number>(Of(info).field); }
#define CAMBIUM_C_STATUS(type) \
  void cambium_##type##_status(const cambium_##type##_t* info, char** errptr) { SaveError(errptr, Of(info).status); }
#define CAMBIUM_C_FILES(type, file)                                                                           \
  size_t cambium_##type##_##file##s_count(const cambium_##type##_t* info) { return Of(info).file##s.size(); } \
  const char* cambium_##type##_##file##_at(const cambium_##type##_t* info, size_t index, size_t* length) {    \
    const std::string& path = Of(info).file##s[index];                                                        \
    *length = path.size();                                                                                    \
    return path.c_str();                                                                                      \
  }
#define CAMBIUM_C_CONDITION(when)                                           \
  int cambium_writestallinfo_##when(const cambium_writestallinfo_t* info) { \
    return static_cast<int>(Of(info).condition.when);                       \
  }

namespace {

using namespace cambium;

const FlushJobInfo& Of(const cambium_flushjobinfo_t* info) { return *reinterpret_cast<const FlushJobInfo*>(info); }
const CompactionJobInfo& Of(const cambium_compactionjobinfo_t* info) {
  return *reinterpret_cast<const CompactionJobInfo*>(info);
}
const LogGcJobInfo& Of(const cambium_loggcjobinfo_t* info) { return *reinterpret_cast<const LogGcJobInfo*>(info); }
const MemTableInfo& Of(const cambium_memtableinfo_t* info) { return *reinterpret_cast<const MemTableInfo*>(info); }
const TableFileCreationInfo& Of(const cambium_tablefilecreationinfo_t* info) {
  return *reinterpret_cast<const TableFileCreationInfo*>(info);
}
const TableFileDeletionInfo& Of(const cambium_tablefiledeletioninfo_t* info) {
  return *reinterpret_cast<const TableFileDeletionInfo*>(info);
}
const BlobFileCreationInfo& Of(const cambium_blobfilecreationinfo_t* info) {
  return *reinterpret_cast<const BlobFileCreationInfo*>(info);
}
const BlobFileDeletionInfo& Of(const cambium_blobfiledeletioninfo_t* info) {
  return *reinterpret_cast<const BlobFileDeletionInfo*>(info);
}
const WriteStallInfo& Of(const cambium_writestallinfo_t* info) {
  return *reinterpret_cast<const WriteStallInfo*>(info);
}
const BackgroundErrorInfo& Of(const cambium_backgrounderrorinfo_t* info) {
  return *reinterpret_cast<const BackgroundErrorInfo*>(info);
}

// The constants in c.h have these numbers.
template <typename Enum>
constexpr bool Is(Enum value, int number) {
  return static_cast<int>(value) == number;
}
static_assert(Is(FlushReason::kWriteBufferFull, cambium_flush_reason_write_buffer_full) &&
              Is(FlushReason::kWriteBufferManager, cambium_flush_reason_write_buffer_manager));
static_assert(Is(CompactionReason::kSweep, cambium_compaction_reason_sweep) &&
              Is(CompactionReason::kSpace, cambium_compaction_reason_space));
static_assert(Is(LogGcReason::kGarbage, cambium_log_gc_reason_garbage) &&
              Is(LogGcReason::kClustering, cambium_log_gc_reason_clustering));
static_assert(Is(TableFileCreationReason::kCompaction, cambium_table_file_reason_compaction) &&
              Is(TableFileCreationReason::kLogGc, cambium_table_file_reason_log_gc) &&
              Is(TableFileCreationReason::kSnapshot, cambium_table_file_reason_snapshot));
static_assert(Is(BlobFileCreationReason::kLog, cambium_blob_file_reason_log) &&
              Is(BlobFileCreationReason::kCompactionFilter, cambium_blob_file_reason_compaction_filter));
static_assert(Is(WriteStallCondition::kNormal, cambium_write_stall_condition_normal) &&
              Is(WriteStallCondition::kStopped, cambium_write_stall_condition_stopped));
static_assert(Is(WriteStallCause::kMemtableLimit, cambium_write_stall_cause_memtable_limit) &&
              Is(WriteStallCause::kSpace, cambium_write_stall_cause_space) &&
              Is(WriteStallCause::kWriteBufferManagerLimit, cambium_write_stall_cause_write_buffer_manager_limit));
static_assert(Is(BackgroundErrorReason::kFlush, cambium_background_error_flush) &&
              Is(BackgroundErrorReason::kWrite, cambium_background_error_write));

}  // namespace

CAMBIUM_C_TEXT(flushjobinfo, db_name)
CAMBIUM_C_TEXT(flushjobinfo, cf_name)
CAMBIUM_C_NUMBER(flushjobinfo, cf_id, uint32_t)
CAMBIUM_C_NUMBER(flushjobinfo, job_id, int)
CAMBIUM_C_NUMBER(flushjobinfo, flush_reason, int)
CAMBIUM_C_NUMBER(flushjobinfo, num_entries, uint64_t)
CAMBIUM_C_NUMBER(flushjobinfo, largest_seqno, uint64_t)
CAMBIUM_C_NUMBER(flushjobinfo, merged_into_tree, unsigned char)
CAMBIUM_C_FILES(flushjobinfo, output_file)
CAMBIUM_C_NUMBER(flushjobinfo, bytes_written, uint64_t)
CAMBIUM_C_NUMBER(flushjobinfo, elapsed_micros, uint64_t)
CAMBIUM_C_STATUS(flushjobinfo)

CAMBIUM_C_TEXT(compactionjobinfo, db_name)
CAMBIUM_C_TEXT(compactionjobinfo, cf_name)
CAMBIUM_C_NUMBER(compactionjobinfo, cf_id, uint32_t)
CAMBIUM_C_NUMBER(compactionjobinfo, job_id, int)
CAMBIUM_C_NUMBER(compactionjobinfo, compaction_reason, int)
CAMBIUM_C_NUMBER(compactionjobinfo, base_input_level, int)
CAMBIUM_C_NUMBER(compactionjobinfo, output_level, int)
CAMBIUM_C_FILES(compactionjobinfo, input_file)
CAMBIUM_C_FILES(compactionjobinfo, output_file)
CAMBIUM_C_NUMBER(compactionjobinfo, bytes_read, uint64_t)
CAMBIUM_C_NUMBER(compactionjobinfo, bytes_written, uint64_t)
CAMBIUM_C_NUMBER(compactionjobinfo, entries_merged, uint64_t)
CAMBIUM_C_NUMBER(compactionjobinfo, entries_dropped, uint64_t)
CAMBIUM_C_NUMBER(compactionjobinfo, elapsed_micros, uint64_t)
CAMBIUM_C_STATUS(compactionjobinfo)

CAMBIUM_C_TEXT(loggcjobinfo, db_name)
CAMBIUM_C_NUMBER(loggcjobinfo, job_id, int)
CAMBIUM_C_NUMBER(loggcjobinfo, reason, int)
CAMBIUM_C_FILES(loggcjobinfo, input_file)
CAMBIUM_C_FILES(loggcjobinfo, emptied_file)
CAMBIUM_C_FILES(loggcjobinfo, punched_file)
CAMBIUM_C_NUMBER(loggcjobinfo, bytes_read, uint64_t)
CAMBIUM_C_NUMBER(loggcjobinfo, keys_relocated, uint64_t)
CAMBIUM_C_NUMBER(loggcjobinfo, bytes_written, uint64_t)
CAMBIUM_C_NUMBER(loggcjobinfo, bytes_freed, uint64_t)
CAMBIUM_C_NUMBER(loggcjobinfo, elapsed_micros, uint64_t)
CAMBIUM_C_STATUS(loggcjobinfo)

CAMBIUM_C_TEXT(memtableinfo, db_name)
CAMBIUM_C_TEXT(memtableinfo, cf_name)
CAMBIUM_C_NUMBER(memtableinfo, cf_id, uint32_t)
CAMBIUM_C_NUMBER(memtableinfo, num_entries, uint64_t)
CAMBIUM_C_NUMBER(memtableinfo, num_range_deletes, uint64_t)
CAMBIUM_C_NUMBER(memtableinfo, memory_bytes, uint64_t)
CAMBIUM_C_NUMBER(memtableinfo, reason, int)

CAMBIUM_C_TEXT(tablefilecreationinfo, db_name)
CAMBIUM_C_TEXT(tablefilecreationinfo, cf_name)
CAMBIUM_C_NUMBER(tablefilecreationinfo, cf_id, uint32_t)
CAMBIUM_C_TEXT(tablefilecreationinfo, file_path)
CAMBIUM_C_NUMBER(tablefilecreationinfo, file_number, uint64_t)
CAMBIUM_C_NUMBER(tablefilecreationinfo, job_id, int)
CAMBIUM_C_NUMBER(tablefilecreationinfo, reason, int)
CAMBIUM_C_NUMBER(tablefilecreationinfo, file_size, uint64_t)
CAMBIUM_C_STATUS(tablefilecreationinfo)

CAMBIUM_C_TEXT(tablefiledeletioninfo, db_name)
CAMBIUM_C_TEXT(tablefiledeletioninfo, file_path)
CAMBIUM_C_NUMBER(tablefiledeletioninfo, file_number, uint64_t)

CAMBIUM_C_TEXT(blobfilecreationinfo, db_name)
CAMBIUM_C_TEXT(blobfilecreationinfo, file_path)
CAMBIUM_C_NUMBER(blobfilecreationinfo, file_number, uint64_t)
CAMBIUM_C_NUMBER(blobfilecreationinfo, reason, int)
CAMBIUM_C_NUMBER(blobfilecreationinfo, file_size, uint64_t)
CAMBIUM_C_STATUS(blobfilecreationinfo)

CAMBIUM_C_TEXT(blobfiledeletioninfo, db_name)
CAMBIUM_C_TEXT(blobfiledeletioninfo, file_path)
CAMBIUM_C_NUMBER(blobfiledeletioninfo, file_number, uint64_t)

CAMBIUM_C_TEXT(writestallinfo, db_name)
CAMBIUM_C_TEXT(writestallinfo, cf_name)
CAMBIUM_C_NUMBER(writestallinfo, cf_id, uint32_t)
CAMBIUM_C_NUMBER(writestallinfo, cause, int)
CAMBIUM_C_CONDITION(cur)
CAMBIUM_C_CONDITION(prev)
CAMBIUM_C_NUMBER(writestallinfo, change, uint64_t)

CAMBIUM_C_TEXT(backgrounderrorinfo, db_name)
CAMBIUM_C_NUMBER(backgrounderrorinfo, reason, int)
CAMBIUM_C_STATUS(backgrounderrorinfo)

#undef CAMBIUM_C_TEXT
#undef CAMBIUM_C_NUMBER
#undef CAMBIUM_C_STATUS
#undef CAMBIUM_C_FILES
#undef CAMBIUM_C_CONDITION
