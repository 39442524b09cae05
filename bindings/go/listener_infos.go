package cambium

/*
#include "shim.h"

// The types of infos, from the integers as which Go has them.
#define INFO(type) \
  static inline const cambium_##type##_t* cambium_go_##type(uintptr_t info) { return (const cambium_##type##_t*)info; }
INFO(flushjobinfo)
INFO(compactionjobinfo)
INFO(loggcjobinfo)
INFO(memtableinfo)
INFO(tablefilecreationinfo)
INFO(tablefiledeletioninfo)
INFO(blobfilecreationinfo)
INFO(blobfiledeletioninfo)
INFO(writestallinfo)
INFO(backgrounderrorinfo)
*/
import "C"

import "time"

// text copies a text of an info.
func text(get func(length *C.size_t) *C.char) string {
	var length C.size_t
	bytes := get(&length)
	return string(view(bytes, length))
}

// list copies a list of texts of an info.
func list(count C.size_t, get func(i C.size_t, length *C.size_t) *C.char) []string {
	var texts []string
	for i := range count {
		texts = append(texts, text(func(length *C.size_t) *C.char { return get(i, length) }))
	}
	return texts
}

// status returns the error of an info.
func status(get func(errptr **C.char)) error {
	var errptr *C.char
	get(&errptr)
	return takeError(errptr)
}

func micros(n C.uint64_t) time.Duration { return time.Duration(n) * time.Microsecond }

func flushInfo(info C.uintptr_t) FlushInfo {
	c := C.cambium_go_flushjobinfo(info)
	return FlushInfo{
		DBName:          text(func(n *C.size_t) *C.char { return C.cambium_flushjobinfo_db_name(c, n) }),
		FamilyName:      text(func(n *C.size_t) *C.char { return C.cambium_flushjobinfo_cf_name(c, n) }),
		FamilyID:        uint32(C.cambium_flushjobinfo_cf_id(c)),
		JobID:           int(C.cambium_flushjobinfo_job_id(c)),
		Reason:          FlushReason(C.cambium_flushjobinfo_flush_reason(c)),
		Entries:         uint64(C.cambium_flushjobinfo_num_entries(c)),
		LargestSequence: uint64(C.cambium_flushjobinfo_largest_seqno(c)),
		MergedIntoTree:  C.cambium_flushjobinfo_merged_into_tree(c) != 0,
		OutputFiles: list(C.cambium_flushjobinfo_output_files_count(c), func(i C.size_t, n *C.size_t) *C.char {
			return C.cambium_flushjobinfo_output_file_at(c, i, n)
		}),
		BytesWritten: uint64(C.cambium_flushjobinfo_bytes_written(c)),
		Elapsed:      micros(C.cambium_flushjobinfo_elapsed_micros(c)),
		Err:          status(func(e **C.char) { C.cambium_flushjobinfo_status(c, e) }),
	}
}

func compactionInfo(info C.uintptr_t) CompactionInfo {
	c := C.cambium_go_compactionjobinfo(info)
	return CompactionInfo{
		DBName:         text(func(n *C.size_t) *C.char { return C.cambium_compactionjobinfo_db_name(c, n) }),
		FamilyName:     text(func(n *C.size_t) *C.char { return C.cambium_compactionjobinfo_cf_name(c, n) }),
		FamilyID:       uint32(C.cambium_compactionjobinfo_cf_id(c)),
		JobID:          int(C.cambium_compactionjobinfo_job_id(c)),
		Reason:         CompactionReason(C.cambium_compactionjobinfo_compaction_reason(c)),
		BaseInputLevel: int(C.cambium_compactionjobinfo_base_input_level(c)),
		OutputLevel:    int(C.cambium_compactionjobinfo_output_level(c)),
		InputFiles: list(C.cambium_compactionjobinfo_input_files_count(c), func(i C.size_t, n *C.size_t) *C.char {
			return C.cambium_compactionjobinfo_input_file_at(c, i, n)
		}),
		OutputFiles: list(C.cambium_compactionjobinfo_output_files_count(c), func(i C.size_t, n *C.size_t) *C.char {
			return C.cambium_compactionjobinfo_output_file_at(c, i, n)
		}),
		BytesRead:      uint64(C.cambium_compactionjobinfo_bytes_read(c)),
		BytesWritten:   uint64(C.cambium_compactionjobinfo_bytes_written(c)),
		EntriesMerged:  uint64(C.cambium_compactionjobinfo_entries_merged(c)),
		EntriesDropped: uint64(C.cambium_compactionjobinfo_entries_dropped(c)),
		Elapsed:        micros(C.cambium_compactionjobinfo_elapsed_micros(c)),
		Err:            status(func(e **C.char) { C.cambium_compactionjobinfo_status(c, e) }),
	}
}

func logGCInfo(info C.uintptr_t) LogGCInfo {
	c := C.cambium_go_loggcjobinfo(info)
	return LogGCInfo{
		DBName: text(func(n *C.size_t) *C.char { return C.cambium_loggcjobinfo_db_name(c, n) }),
		JobID:  int(C.cambium_loggcjobinfo_job_id(c)),
		Reason: LogGCReason(C.cambium_loggcjobinfo_reason(c)),
		InputFiles: list(C.cambium_loggcjobinfo_input_files_count(c), func(i C.size_t, n *C.size_t) *C.char {
			return C.cambium_loggcjobinfo_input_file_at(c, i, n)
		}),
		EmptiedFiles: list(C.cambium_loggcjobinfo_emptied_files_count(c), func(i C.size_t, n *C.size_t) *C.char {
			return C.cambium_loggcjobinfo_emptied_file_at(c, i, n)
		}),
		PunchedFiles: list(C.cambium_loggcjobinfo_punched_files_count(c), func(i C.size_t, n *C.size_t) *C.char {
			return C.cambium_loggcjobinfo_punched_file_at(c, i, n)
		}),
		BytesRead:     uint64(C.cambium_loggcjobinfo_bytes_read(c)),
		KeysRelocated: uint64(C.cambium_loggcjobinfo_keys_relocated(c)),
		BytesWritten:  uint64(C.cambium_loggcjobinfo_bytes_written(c)),
		BytesFreed:    uint64(C.cambium_loggcjobinfo_bytes_freed(c)),
		Elapsed:       micros(C.cambium_loggcjobinfo_elapsed_micros(c)),
		Err:           status(func(e **C.char) { C.cambium_loggcjobinfo_status(c, e) }),
	}
}

func memtableInfo(info C.uintptr_t) MemtableInfo {
	c := C.cambium_go_memtableinfo(info)
	return MemtableInfo{
		DBName:       text(func(n *C.size_t) *C.char { return C.cambium_memtableinfo_db_name(c, n) }),
		FamilyName:   text(func(n *C.size_t) *C.char { return C.cambium_memtableinfo_cf_name(c, n) }),
		FamilyID:     uint32(C.cambium_memtableinfo_cf_id(c)),
		Entries:      uint64(C.cambium_memtableinfo_num_entries(c)),
		RangeDeletes: uint64(C.cambium_memtableinfo_num_range_deletes(c)),
		MemoryBytes:  uint64(C.cambium_memtableinfo_memory_bytes(c)),
		Reason:       FlushReason(C.cambium_memtableinfo_reason(c)),
	}
}

func tableFileInfo(info C.uintptr_t) TableFileInfo {
	c := C.cambium_go_tablefilecreationinfo(info)
	return TableFileInfo{
		DBName:     text(func(n *C.size_t) *C.char { return C.cambium_tablefilecreationinfo_db_name(c, n) }),
		FamilyName: text(func(n *C.size_t) *C.char { return C.cambium_tablefilecreationinfo_cf_name(c, n) }),
		FamilyID:   uint32(C.cambium_tablefilecreationinfo_cf_id(c)),
		Path:       text(func(n *C.size_t) *C.char { return C.cambium_tablefilecreationinfo_file_path(c, n) }),
		Number:     uint64(C.cambium_tablefilecreationinfo_file_number(c)),
		JobID:      int(C.cambium_tablefilecreationinfo_job_id(c)),
		Reason:     TableFileReason(C.cambium_tablefilecreationinfo_reason(c)),
		Size:       uint64(C.cambium_tablefilecreationinfo_file_size(c)),
		Err:        status(func(e **C.char) { C.cambium_tablefilecreationinfo_status(c, e) }),
	}
}

func tableFileDeletion(info C.uintptr_t) FileDeletionInfo {
	c := C.cambium_go_tablefiledeletioninfo(info)
	return FileDeletionInfo{
		DBName: text(func(n *C.size_t) *C.char { return C.cambium_tablefiledeletioninfo_db_name(c, n) }),
		Path:   text(func(n *C.size_t) *C.char { return C.cambium_tablefiledeletioninfo_file_path(c, n) }),
		Number: uint64(C.cambium_tablefiledeletioninfo_file_number(c)),
	}
}

func blobFileInfo(info C.uintptr_t) BlobFileInfo {
	c := C.cambium_go_blobfilecreationinfo(info)
	return BlobFileInfo{
		DBName: text(func(n *C.size_t) *C.char { return C.cambium_blobfilecreationinfo_db_name(c, n) }),
		Path:   text(func(n *C.size_t) *C.char { return C.cambium_blobfilecreationinfo_file_path(c, n) }),
		Number: uint64(C.cambium_blobfilecreationinfo_file_number(c)),
		Reason: BlobFileReason(C.cambium_blobfilecreationinfo_reason(c)),
		Size:   uint64(C.cambium_blobfilecreationinfo_file_size(c)),
		Err:    status(func(e **C.char) { C.cambium_blobfilecreationinfo_status(c, e) }),
	}
}

func blobFileDeletion(info C.uintptr_t) FileDeletionInfo {
	c := C.cambium_go_blobfiledeletioninfo(info)
	return FileDeletionInfo{
		DBName: text(func(n *C.size_t) *C.char { return C.cambium_blobfiledeletioninfo_db_name(c, n) }),
		Path:   text(func(n *C.size_t) *C.char { return C.cambium_blobfiledeletioninfo_file_path(c, n) }),
		Number: uint64(C.cambium_blobfiledeletioninfo_file_number(c)),
	}
}

func stallInfo(info C.uintptr_t) StallInfo {
	c := C.cambium_go_writestallinfo(info)
	return StallInfo{
		DBName:     text(func(n *C.size_t) *C.char { return C.cambium_writestallinfo_db_name(c, n) }),
		FamilyName: text(func(n *C.size_t) *C.char { return C.cambium_writestallinfo_cf_name(c, n) }),
		FamilyID:   uint32(C.cambium_writestallinfo_cf_id(c)),
		Cause:      StallCause(C.cambium_writestallinfo_cause(c)),
		Current:    StallCondition(C.cambium_writestallinfo_cur(c)),
		Previous:   StallCondition(C.cambium_writestallinfo_prev(c)),
		Change:     uint64(C.cambium_writestallinfo_change(c)),
	}
}

func backgroundErrorInfo(info C.uintptr_t) BackgroundErrorInfo {
	c := C.cambium_go_backgrounderrorinfo(info)
	return BackgroundErrorInfo{
		DBName: text(func(n *C.size_t) *C.char { return C.cambium_backgrounderrorinfo_db_name(c, n) }),
		Reason: BackgroundErrorReason(C.cambium_backgrounderrorinfo_reason(c)),
		Err:    status(func(e **C.char) { C.cambium_backgrounderrorinfo_status(c, e) }),
	}
}
