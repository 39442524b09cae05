package cambium

// #include "shim.h"
import "C"

import (
	"runtime/cgo"
	"time"
)

// EventListener has functions that are called for the events of a database; those that are nil are not called. They are
// called by the threads that do the work, several at once, and the database waits for them. They may read, also with
// iterators and snapshots, and write with NoSlowdown. They must not call other writes, Flush, CompactRange,
// WaitForCompact or Close, and create or drop no families: these may wait for the very job that is calling. A panic is
// reported as Options.SetPanicHandler says.
type EventListener struct {
	FlushBegin          func(FlushInfo)
	FlushCompleted      func(FlushInfo)
	CompactionBegin     func(CompactionInfo)
	CompactionCompleted func(CompactionInfo)
	LogGCCompleted      func(LogGCInfo)
	MemtableSealed      func(MemtableInfo)
	BackgroundError     func(BackgroundErrorInfo)
	StallChanged        func(StallInfo)
	TableFileStarted    func(TableFileInfo) // without a size and an error
	TableFileCreated    func(TableFileInfo)
	TableFileDeleted    func(FileDeletionInfo)
	BlobFileStarted     func(BlobFileInfo) // without a size and an error
	BlobFileCreated     func(BlobFileInfo)
	BlobFileDeleted     func(FileDeletionInfo)
}

// FlushReason says why a memtable was frozen.
type FlushReason int

// The reasons.
const (
	FlushWriteBufferFull    FlushReason = C.cambium_flush_reason_write_buffer_full
	FlushWALFull            FlushReason = C.cambium_flush_reason_wal_full
	FlushManual             FlushReason = C.cambium_flush_reason_manual_flush
	FlushSpace              FlushReason = C.cambium_flush_reason_space
	FlushIdle               FlushReason = C.cambium_flush_reason_idle
	FlushRecovery           FlushReason = C.cambium_flush_reason_recovery
	FlushWriteBufferManager FlushReason = C.cambium_flush_reason_write_buffer_manager
)

// FlushInfo describes a flush. What follows the comment is set when it has completed.
type FlushInfo struct {
	DBName, FamilyName string
	FamilyID           uint32
	JobID              int
	Reason             FlushReason
	Entries            uint64 // versions in the memtable
	LargestSequence    uint64 // all operations up to it are in the index after the flush
	// Of a completed flush:
	MergedIntoTree bool // if false, it became runs
	OutputFiles    []string
	BytesWritten   uint64
	Elapsed        time.Duration
	Err            error // the memtable is kept and will be flushed again
}

// CompactionReason says why something was compacted.
type CompactionReason int

// The reasons.
const (
	CompactionSweep  CompactionReason = C.cambium_compaction_reason_sweep
	CompactionLevels CompactionReason = C.cambium_compaction_reason_levels
	CompactionManual CompactionReason = C.cambium_compaction_reason_manual_compaction
	CompactionSpace  CompactionReason = C.cambium_compaction_reason_space
)

// CompactionInfo describes a step of a sweep or of a compaction. What follows the comment is set when it has completed.
type CompactionInfo struct {
	DBName, FamilyName string
	FamilyID           uint32
	JobID              int
	Reason             CompactionReason
	// Of a completed step:
	BaseInputLevel, OutputLevel   int
	InputFiles, OutputFiles       []string
	BytesRead, BytesWritten       uint64
	EntriesMerged, EntriesDropped uint64
	Elapsed                       time.Duration
	Err                           error // nothing has changed
}

// LogGCReason says why the log was collected.
type LogGCReason int

// The reasons.
const (
	LogGCGarbage       LogGCReason = C.cambium_log_gc_reason_garbage
	LogGCForced        LogGCReason = C.cambium_log_gc_reason_forced
	LogGCSmallSegments LogGCReason = C.cambium_log_gc_reason_small_segments
	LogGCSpace         LogGCReason = C.cambium_log_gc_reason_space
	LogGCManual        LogGCReason = C.cambium_log_gc_reason_manual_compaction
	LogGCClustering    LogGCReason = C.cambium_log_gc_reason_clustering
)

// LogGCInfo describes a step of log GC.
type LogGCInfo struct {
	DBName                                 string
	JobID                                  int
	Reason                                 LogGCReason
	InputFiles, EmptiedFiles, PunchedFiles []string
	BytesRead, KeysRelocated               uint64
	BytesWritten, BytesFreed               uint64
	Elapsed                                time.Duration
	Err                                    error // nothing has changed
}

// MemtableInfo describes a memtable that was frozen.
type MemtableInfo struct {
	DBName, FamilyName    string
	FamilyID              uint32
	Entries, RangeDeletes uint64
	MemoryBytes           uint64
	Reason                FlushReason
}

// TableFileReason says what makes an index file.
type TableFileReason int

// The reasons.
const (
	TableFileFlush      TableFileReason = C.cambium_table_file_reason_flush
	TableFileCompaction TableFileReason = C.cambium_table_file_reason_compaction
	TableFileLogGC      TableFileReason = C.cambium_table_file_reason_log_gc
	TableFileSnapshot   TableFileReason = C.cambium_table_file_reason_snapshot
)

// TableFileInfo describes an index file.
type TableFileInfo struct {
	DBName, FamilyName string
	FamilyID           uint32
	Path               string
	Number             uint64
	JobID              int
	Reason             TableFileReason
	Size               uint64
	Err                error // the file will be removed
}

// BlobFileReason says what makes a file of values.
type BlobFileReason int

// The reasons.
const (
	BlobFileLog              BlobFileReason = C.cambium_blob_file_reason_log
	BlobFileLargeValue       BlobFileReason = C.cambium_blob_file_reason_large_value
	BlobFileLogGC            BlobFileReason = C.cambium_blob_file_reason_log_gc
	BlobFileCompactionFilter BlobFileReason = C.cambium_blob_file_reason_compaction_filter
)

// BlobFileInfo describes a file of values: a log segment, a segment of log GC, or a large value.
type BlobFileInfo struct {
	DBName, Path string
	Number       uint64
	Reason       BlobFileReason
	Size         uint64
	Err          error // the file will be removed
}

// FileDeletionInfo describes a file that was removed.
type FileDeletionInfo struct {
	DBName, Path string
	Number       uint64
}

// StallCondition says how much writes are held up.
type StallCondition int

// The conditions.
const (
	StallNormal  StallCondition = C.cambium_write_stall_condition_normal
	StallDelayed StallCondition = C.cambium_write_stall_condition_delayed
	StallStopped StallCondition = C.cambium_write_stall_condition_stopped
)

// StallCause says why writes are held up.
type StallCause int

// The causes.
const (
	StallMemtableLimit           StallCause = C.cambium_write_stall_cause_memtable_limit
	StallL0FileCountLimit        StallCause = C.cambium_write_stall_cause_l0_file_count_limit
	StallSpace                   StallCause = C.cambium_write_stall_cause_space
	StallWriteBufferManagerLimit StallCause = C.cambium_write_stall_cause_write_buffer_manager_limit
)

// StallInfo describes a change of the write stall condition.
type StallInfo struct {
	DBName, FamilyName string // no family name: the whole database is affected
	FamilyID           uint32
	Cause              StallCause
	Current, Previous  StallCondition
	Change             uint64 // the higher, the newer
}

// BackgroundErrorReason says what failed.
type BackgroundErrorReason int

// The reasons.
const (
	BackgroundErrorFlush         BackgroundErrorReason = C.cambium_background_error_flush
	BackgroundErrorCompaction    BackgroundErrorReason = C.cambium_background_error_compaction
	BackgroundErrorLogGC         BackgroundErrorReason = C.cambium_background_error_log_gc
	BackgroundErrorFiles         BackgroundErrorReason = C.cambium_background_error_files
	BackgroundErrorManifestWrite BackgroundErrorReason = C.cambium_background_error_manifest_write
	BackgroundErrorWrite         BackgroundErrorReason = C.cambium_background_error_write
)

// BackgroundErrorInfo describes a failure of background work.
type BackgroundErrorInfo struct {
	DBName string
	Reason BackgroundErrorReason
	Err    error
}

// wanted returns the events that have a function, as bits.
func (l *EventListener) wanted() (events C.uint32_t) {
	for event, is := range map[int]bool{
		C.cambium_go_on_flush_begin:          l.FlushBegin != nil,
		C.cambium_go_on_flush_completed:      l.FlushCompleted != nil,
		C.cambium_go_on_compaction_begin:     l.CompactionBegin != nil,
		C.cambium_go_on_compaction_completed: l.CompactionCompleted != nil,
		C.cambium_go_on_log_gc_completed:     l.LogGCCompleted != nil,
		C.cambium_go_on_memtable_sealed:      l.MemtableSealed != nil,
		C.cambium_go_on_background_error:     l.BackgroundError != nil,
		C.cambium_go_on_stall_changed:        l.StallChanged != nil,
		C.cambium_go_on_table_file_started:   l.TableFileStarted != nil,
		C.cambium_go_on_table_file_created:   l.TableFileCreated != nil,
		C.cambium_go_on_table_file_deleted:   l.TableFileDeleted != nil,
		C.cambium_go_on_blob_file_started:    l.BlobFileStarted != nil,
		C.cambium_go_on_blob_file_created:    l.BlobFileCreated != nil,
		C.cambium_go_on_blob_file_deleted:    l.BlobFileDeleted != nil,
	} {
		if is {
			events |= 1 << event
		}
	}
	return events
}

type listenerState struct {
	listener EventListener
	report   reporter
}

// build makes a listener of C; nil: out of memory.
func (l *EventListener) build(onPanic func(*PanicError)) *C.cambium_eventlistener_t {
	handle := cgo.NewHandle(&listenerState{*l, reporter{"event listener", onPanic}})
	c := C.cambium_go_listener(C.uintptr_t(handle), l.wanted())
	if c == nil {
		handle.Delete()
	}
	return c
}

//export cambiumGoEvent
func cambiumGoEvent(handle C.uintptr_t, event C.int, info C.uintptr_t) {
	state := cgo.Handle(handle).Value().(*listenerState)
	defer state.report.recovered()
	state.listener.call(event, info)
}

func (l *EventListener) call(event C.int, info C.uintptr_t) {
	switch event {
	case C.cambium_go_on_flush_begin:
		l.FlushBegin(flushInfo(info))
	case C.cambium_go_on_flush_completed:
		l.FlushCompleted(flushInfo(info))
	case C.cambium_go_on_compaction_begin:
		l.CompactionBegin(compactionInfo(info))
	case C.cambium_go_on_compaction_completed:
		l.CompactionCompleted(compactionInfo(info))
	case C.cambium_go_on_log_gc_completed:
		l.LogGCCompleted(logGCInfo(info))
	case C.cambium_go_on_memtable_sealed:
		l.MemtableSealed(memtableInfo(info))
	case C.cambium_go_on_background_error:
		l.BackgroundError(backgroundErrorInfo(info))
	case C.cambium_go_on_stall_changed:
		l.StallChanged(stallInfo(info))
	case C.cambium_go_on_table_file_started:
		l.TableFileStarted(tableFileInfo(info))
	case C.cambium_go_on_table_file_created:
		l.TableFileCreated(tableFileInfo(info))
	case C.cambium_go_on_table_file_deleted:
		l.TableFileDeleted(tableFileDeletion(info))
	case C.cambium_go_on_blob_file_started:
		l.BlobFileStarted(blobFileInfo(info))
	case C.cambium_go_on_blob_file_created:
		l.BlobFileCreated(blobFileInfo(info))
	case C.cambium_go_on_blob_file_deleted:
		l.BlobFileDeleted(blobFileDeletion(info))
	}
}
