// EventListener: told what a database does, as it does it.
//
//   class Counting final : public cambium::EventListener {
//     void OnFlushCompleted(cambium::DB*, const cambium::FlushJobInfo& info) override { flushed_ += info.num_entries; }
//     ...
//   };
//   options.listeners.push_back(std::make_shared<Counting>());
//
// Names are RocksDB's. When and how it is called:
//
//   Threads     On the thread that did the work, which may be one of a caller: Put makes log segments, CompactRange
//               merges. Several threads may call one listener at once. The database waits for it, so that what takes
//               long belongs elsewhere: until it returns the job has not ended, for WaitForCompact, Close and the next
//               job of its kind alike.
//   Order       OnXxxBegin comes before its OnXxxCompleted, which always comes; CreationStarted before Created before
//               Deleted of the same file, each once, whichever threads they are of. Nothing else is ordered between
//               threads; `change` of WriteStallInfo says which of two is the newer.
//   Locks       The database holds none. What happened under one is told once it is free, by the same thread: a log
//               segment that Put made, for example, when the batch is committed, before Put syncs or returns.
//   Calls       From it may be called what waits for no background work: reads of all kinds, iterators, snapshots,
//               properties, GetOptions, SetOptions, SetDBOptions, and writes with WriteOptions::no_slowdown, which are
//               Incomplete rather than wait. Not: other writes, Flush, CompactRange, WaitForCompact, Close, creating or
//               dropping families, nor deleting the database. They may wait for the very job that is calling.
//   Exceptions  It must not throw: the process ends.
//   Open, Close A job may begin, and be told of, before DB::Open has returned, with the DB that it will return. From
//               Close on, calls of `db` answer ShutdownInProgress; files that go then are told of still.
//   Memory      If it runs out, an event may be left out.
//
// What a crash or a kill has left is removed by the next opening, and told of as Deleted there. Files of DestroyDB, the
// MANIFEST, OPTIONS files and LOG are not told of, and neither is anything of a database that is open for reading only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cambium/status.h"
#include "cambium/types.h"

namespace cambium {

class DB;

// ---- Files ----

// Blob files: segments of the log, which is where values are, of values that log GC has moved, or a compaction filter has
// changed, and files of one large value.
enum class BlobFileCreationReason : unsigned char { kLog, kLargeValue, kLogGc, kCompactionFilter };

// The file is there, and empty.
struct TableFileCreationBriefInfo {
  std::string db_name;  // the path given to DB::Open, here and below
  std::string cf_name;
  std::uint32_t cf_id = 0;
  std::string file_path;
  std::uint64_t file_number = 0;  // no other file of the database, of whatever kind, ever has it
  int job_id = 0;                 // of the flush, merge or log GC step it is for; 0: of none
  TableFileCreationReason reason{};
};
// It is complete; or its job has failed or was given up, and it will be removed.
struct TableFileCreationInfo : TableFileCreationBriefInfo {
  std::uint64_t file_size = 0;  // bytes. A segment of tree pages may grow with later sweeps
  Status status;                // of the job, as far as the file goes
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
// A log segment takes records now. The others are complete; or they are not wanted any more, status says why, and they
// will be removed.
struct BlobFileCreationInfo : BlobFileCreationBriefInfo {
  std::uint64_t file_size = 0;  // bytes; of a log segment those it begins with
  Status status;
};
struct BlobFileDeletionInfo {
  std::string db_name;
  std::string file_path;
  std::uint64_t file_number = 0;
};

// ---- Jobs ----

// Why a memory table was frozen.
enum class FlushReason : unsigned char {
  kWriteBufferFull,  // write_buffer_size, or many range deletes
  kWalFull,          // max_total_wal_size
  kManualFlush,      // Flush, CompactRange
  kSpace,            // what it hides is needed, near max_space_amplification
  kIdle,             // nobody has written for some seconds
  kRecovery,         // an opening had to read many segments
};

struct MemTableInfo {
  std::string db_name;
  std::string cf_name;
  std::uint32_t cf_id = 0;
  std::uint64_t num_entries = 0;  // versions, deletions of single keys among them
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
  std::uint64_t num_entries = 0;     // versions in the memory table
  SequenceNumber largest_seqno = 0;  // everything up to here is in the index once it is done
  // ---- OnFlushCompleted only ----
  bool merged_into_tree = false;            // else it has become runs
  std::vector<std::string> output_files;    // that were made
  std::uint64_t bytes_written = 0;          // of index files
  std::uint64_t elapsed_micros = 0;
  Status status;  // not OK: the table is still there, and will be flushed again
};

enum class CompactionReason : unsigned char {
  kSweep,             // a tree's runs hold enough, or are too many
  kLevels,            // an LSM has too many runs, or a level is too large
  kManualCompaction,  // CompactRange
  kSpace,             // space is short, or nobody needs the device, and what is merged frees some
};

// One step of a sweep or a compaction; what is next may be another.
struct CompactionJobInfo {
  std::string db_name;
  std::string cf_name;
  std::uint32_t cf_id = 0;
  int job_id = 0;
  CompactionReason compaction_reason{};
  // ---- OnCompactionCompleted only ----
  int base_input_level = 0;  // 0: runs
  int output_level = 0;      // of a tree: 1
  std::vector<std::string> input_files;   // that are not used any more
  std::vector<std::string> output_files;  // that were made; none if files only changed their level
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t entries_merged = 0;
  std::uint64_t entries_dropped = 0;
  std::uint64_t elapsed_micros = 0;
  Status status;  // not OK: nothing has changed. ShutdownInProgress: it was given up
};

enum class LogGcReason : unsigned char {
  kGarbage,           // old segments have enough of it to be worth what is copied
  kForced,            // blob_garbage_collection_force_threshold
  kSmallSegments,     // there are too many that are far smaller than they may be
  kSpace,             // near max_space_amplification
  kManualCompaction,  // CompactRange
  kClustering,        // values come to lie in the order of their keys: nothing is freed yet
};

// One step of log GC, which copies values that are alive, or makes holes of those that are dead: never both. Ours: RocksDB
// collects within its compactions.
struct LogGcJobInfo {
  std::string db_name;
  int job_id = 0;
  LogGcReason reason{};
  std::vector<std::string> input_files;    // that it read
  std::vector<std::string> emptied_files;  // of them, those that are not used any more
  std::vector<std::string> punched_files;  // of them, those that get holes, once the readers of now let go of them
  std::uint64_t bytes_read = 0;
  std::uint64_t keys_relocated = 0;
  std::uint64_t bytes_written = 0;  // of values' records
  std::uint64_t bytes_freed = 0;    // of emptied_files, without holes that they had; or of the new holes
  std::uint64_t elapsed_micros = 0;
  Status status;  // not OK: nothing has changed
};

// ---- Trouble ----

enum class WriteStallCondition : unsigned char { kNormal, kDelayed, kStopped };
enum class WriteStallCause : unsigned char {
  kMemtableLimit,     // all memory tables are full
  kL0FileCountLimit,  // level 0 of an LSM
  kSpace,             // max_space_amplification: of the whole database
};
// Told when a write first meets the condition, and when it is over.
struct WriteStallInfo {
  std::string db_name;
  std::string cf_name;  // empty for kSpace
  std::uint32_t cf_id = 0;
  WriteStallCause cause{};
  struct {
    WriteStallCondition cur{};
    WriteStallCondition prev{};
  } condition;
  std::uint64_t change = 0;  // counts changes of this database: of two, the higher one is the newer
};

enum class BackgroundErrorReason : unsigned char {
  kFlush,
  kCompaction,
  kLogGc,
  kFiles,          // sealing, making ahead or removing files
  kManifestWrite,  // a commit, of a job or of a caller
  kWrite,          // a caller's sync, or a change of families or options
};
// Each time a job fails; once for each segment that log GC finds damaged, and leaves alone; and once when the database
// takes no more writes: `status` then has Severity::kFatal.
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
  // RocksDB lets a listener change the error. Here nothing depends on what a listener thinks of it.
  virtual void OnBackgroundError(const BackgroundErrorInfo&) {}
};

}  // namespace cambium
