// EventListener: receives a call for each event of a database, as it happens.
//
//   class Counting final : public cambium::EventListener {
//     void OnFlushCompleted(cambium::DB*, const cambium::FlushJobInfo& info) override { flushed_ += info.num_entries; }
//     ...
//   };
//   options.listeners.push_back(std::make_shared<Counting>());
//
// Names are RocksDB's. When and how it is called:
//
//   Threads     A listener is called on the thread that did the work, which may be a caller's: Put creates log
//               segments, CompactRange compacts. Several threads may call one listener at once. The job ends only when
//               the call returns: WaitForCompact, Close and the next job of the same kind wait for it. So let another
//               thread do long work.
//   Order       Each OnXxxBegin is followed by its OnXxxCompleted. For one file, CreationStarted precedes Created,
//               which precedes Deleted; each is called once, on any thread. Nothing else is ordered between threads;
//               `change` of WriteStallInfo says which of two infos is the newer.
//   Locks       The database holds no lock during a call, except that Close holds off other calls of Close. An event
//               that happens under a lock is reported by the same thread once the lock is released. For example, a log
//               segment that Put created is reported after the batch has been appended, before Put syncs or returns.
//   Calls       A listener may call functions that wait for no background work: reads of all kinds, iterators,
//               snapshots, properties, GetOptions, SetOptions, SetDBOptions, and writes with WriteOptions::no_slowdown,
//               which return Incomplete rather than wait. It must not call other writes, Flush, CompactRange,
//               WaitForCompact, Close, create or drop families, or delete the database: these may wait for the job
//               that is calling, and then forever. This holds for calls of every database that has the same
//               write_buffer_manager.
//   Exceptions  A listener must not throw: an exception ends the process.
//   Open, Close A job may begin, and be reported, before DB::Open has returned; the calls then get the DB that Open
//               will return. The work of Open itself, such as flushes while it replays the log, is reported when Open
//               has succeeded, and never if it fails. Once Close has begun, calls of `db` return ShutdownInProgress;
//               files that are deleted then are still reported.
//   Memory      If memory runs out, an event may be left out.
//
// The next Open removes what a crash left, and reports it as Deleted. No event is reported for the files that DestroyDB
// removes, for the MANIFEST, OPTIONS files and LOG, and for a database that is open for reading only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cambium/status.h"
#include "cambium/types.h"

namespace cambium {

class DB;

// ---- Files ----

// Blob files are the files that hold values: segments of the log, segments of values that log GC has moved or a
// compaction filter has changed, and files of one large value.
enum class BlobFileCreationReason : unsigned char { kLog, kLargeValue, kLogGc, kCompactionFilter };

// The file exists and is empty.
struct TableFileCreationBriefInfo {
  std::string db_name;  // the path given to DB::Open, here and below
  std::string cf_name;
  std::uint32_t cf_id = 0;
  std::string file_path;
  std::uint64_t file_number = 0;  // unique: no other file of the database, of any kind, ever has it
  int job_id = 0;                 // of the flush, compaction or log GC step; 0: no job
  TableFileCreationReason reason{};
};
// The file is complete; or its job failed or was abandoned, and the file will be removed.
struct TableFileCreationInfo : TableFileCreationBriefInfo {
  std::uint64_t file_size = 0;  // bytes. A segment of tree pages may grow in later sweeps
  Status status;                // of the job, as far as this file is concerned
};
struct TableFileDeletionInfo {
  std::string db_name;
  std::string file_path;
  std::uint64_t file_number = 0;
};

struct BlobFileCreationBriefInfo {
  std::string db_name;
  std::string file_path;
  std::uint64_t file_number = 0;
  BlobFileCreationReason reason{};
};
// A log segment now takes records; any other file is complete. If `status` is not OK, it says why the file is not
// needed, and the file will be removed.
struct BlobFileCreationInfo : BlobFileCreationBriefInfo {
  std::uint64_t file_size = 0;  // bytes; for a log segment, its initial size
  Status status;
};
struct BlobFileDeletionInfo {
  std::string db_name;
  std::string file_path;
  std::uint64_t file_number = 0;
};

// ---- Jobs ----

// Why a memtable was frozen.
enum class FlushReason : unsigned char {
  kWriteBufferFull,  // write_buffer_size, or many range deletes
  kWalFull,          // max_total_wal_size
  kManualFlush,      // Flush, CompactRange
  kSpace,            // near max_space_amplification or a full disk: the flush lets hidden values be freed
  kIdle,             // no write for some seconds
  kRecovery,         // Open had to read many segments, or more of the log than the memtables may take
  kWriteBufferManager,  // db_write_buffer_size, or the limit of the write_buffer_manager
};

struct MemTableInfo {
  std::string db_name;
  std::string cf_name;
  std::uint32_t cf_id = 0;
  std::uint64_t num_entries = 0;  // versions, deletions of single keys included
  std::uint64_t num_range_deletes = 0;
  std::uint64_t memory_bytes = 0;
  FlushReason reason{};
};

struct FlushJobInfo {
  std::string db_name;
  std::string cf_name;
  std::uint32_t cf_id = 0;
  int job_id = 0;
  FlushReason flush_reason{};
  std::uint64_t num_entries = 0;     // versions in the memtable
  SequenceNumber largest_seqno = 0;  // all operations up to it are in the index after the flush
  // ---- OnFlushCompleted only ----
  bool merged_into_tree = false;            // if false, it became runs
  std::vector<std::string> output_files;    // the files created
  std::uint64_t bytes_written = 0;          // in index files
  std::uint64_t elapsed_micros = 0;
  Status status;  // not OK: the memtable is kept and will be flushed again
};

enum class CompactionReason : unsigned char {
  kSweep,             // a tree's runs have enough entries, or there are too many runs
  kLevels,            // an LSM has too many runs, or a level is too large
  kManualCompaction,  // CompactRange
  kSpace,             // to free space: it is short, or nothing was written for a while
};

// One step of a sweep or a compaction; further steps may follow.
struct CompactionJobInfo {
  std::string db_name;
  std::string cf_name;
  std::uint32_t cf_id = 0;
  int job_id = 0;
  CompactionReason compaction_reason{};
  // ---- OnCompactionCompleted only ----
  int base_input_level = 0;  // 0: runs
  int output_level = 0;      // 1 for a tree
  std::vector<std::string> input_files;   // no longer in use
  std::vector<std::string> output_files;  // created; none if files only changed their level
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t entries_merged = 0;
  std::uint64_t entries_dropped = 0;
  std::uint64_t elapsed_micros = 0;
  Status status;  // not OK: nothing has changed. ShutdownInProgress: it was abandoned
};

enum class LogGcReason : unsigned char {
  kGarbage,           // old segments have enough garbage to be worth the copying
  kForced,            // blob_garbage_collection_force_threshold
  kSmallSegments,     // too many segments are far below their maximal size
  kSpace,             // near max_space_amplification, or the disk is full
  kManualCompaction,  // CompactRange
  kClustering,        // values are brought into key order; frees nothing yet
};

// One step of log GC. It copies live values, or punches out dead ones; on a full disk it may cut a segment: it copies
// the live values at its beginning and punches that part. Not in RocksDB, which collects within its compactions.
struct LogGcJobInfo {
  std::string db_name;
  int job_id = 0;
  LogGcReason reason{};
  std::vector<std::string> input_files;    // files that it read
  std::vector<std::string> emptied_files;  // those of them that are no longer in use
  std::vector<std::string> punched_files;  // those of them that get holes, once their current readers are done
  std::uint64_t bytes_read = 0;
  std::uint64_t keys_relocated = 0;
  std::uint64_t bytes_written = 0;  // records of values
  std::uint64_t bytes_freed = 0;    // emptied_files, not counting earlier holes, and the new holes
  std::uint64_t elapsed_micros = 0;
  Status status;  // not OK: nothing has changed
};

// ---- Trouble ----

enum class WriteStallCondition : unsigned char { kNormal, kDelayed, kStopped };
enum class WriteStallCause : unsigned char {
  kMemtableLimit,     // all memtables are full
  kL0FileCountLimit,  // runs in level 0 of an LSM, or above a tree
  kSpace,             // max_space_amplification: the whole database is affected
  kWriteBufferManagerLimit,  // db_write_buffer_size or the write_buffer_manager: the whole database is affected
};
// Reported when a write first meets the condition, and when the condition is over.
struct WriteStallInfo {
  std::string db_name;
  std::string cf_name;  // empty for kSpace and kWriteBufferManagerLimit
  std::uint32_t cf_id = 0;
  WriteStallCause cause{};
  struct {
    WriteStallCondition cur{};
    WriteStallCondition prev{};
  } condition;
  std::uint64_t change = 0;  // counts the changes of this database: the higher, the newer
};

enum class BackgroundErrorReason : unsigned char {
  kFlush,
  kCompaction,
  kLogGc,
  kFiles,          // sealing, creating ahead, removing or reserving files
  kManifestWrite,  // a commit, by a job or a caller
  kWrite,          // a caller's sync, or a change of families or options
};
// Reported each time a job fails, also if it has failed before; once for each segment that log GC finds damaged and
// skips; and once when the database stops taking writes: `status` then has Severity::kFatal.
struct BackgroundErrorInfo {
  std::string db_name;
  BackgroundErrorReason reason{};
  Status status;
};

class EventListener {
 public:
  EventListener() = default;
  EventListener(const EventListener&) = delete;
  EventListener& operator=(const EventListener&) = delete;
  virtual ~EventListener() = default;

  virtual void OnMemTableSealed(const MemTableInfo&) {}
  virtual void OnFlushBegin(DB*, const FlushJobInfo&) {}
  virtual void OnFlushCompleted(DB*, const FlushJobInfo&) {}
  virtual void OnCompactionBegin(DB*, const CompactionJobInfo&) {}
  virtual void OnCompactionCompleted(DB*, const CompactionJobInfo&) {}
  virtual void OnLogGcCompleted(DB*, const LogGcJobInfo&) {}

  virtual void OnTableFileCreationStarted(const TableFileCreationBriefInfo&) {}
  virtual void OnTableFileCreated(const TableFileCreationInfo&) {}
  virtual void OnTableFileDeleted(const TableFileDeletionInfo&) {}
  virtual void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo&) {}
  virtual void OnBlobFileCreated(const BlobFileCreationInfo&) {}
  virtual void OnBlobFileDeleted(const BlobFileDeletionInfo&) {}

  virtual void OnStallConditionsChanged(const WriteStallInfo&) {}
  // In RocksDB a listener may change the error. Here it cannot.
  virtual void OnBackgroundError(const BackgroundErrorInfo&) {}
};

}  // namespace cambium
