// DB: an ordered map from keys to values that survives crashes.
//
//   cambium::Options options;
//   options.create_if_missing = true;
//   std::unique_ptr<cambium::DB> db;
//   cambium::Status s = cambium::DB::Open(options, "/data/store", &db);
//   if (s.ok()) s = db->Put({}, "key", "value");
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cambium/iterator.h"
#include "cambium/options.h"
#include "cambium/pinnable_slice.h"
#include "cambium/slice.h"
#include "cambium/snapshot.h"
#include "cambium/status.h"
#include "cambium/types.h"
#include "cambium/write_batch.h"

namespace cambium {

inline constexpr std::size_t kMaxKeyBytes = 64u << 10;               // 64 KiB
inline constexpr std::uint64_t kMaxValueBytes = (1ull << 32) - 1;    // 4 GiB - 1

// Any thread may call any function, except that Close and the destructor must run alone. Keys are 0 bytes to 64 KiB,
// values 0 bytes to 4 GiB - 1; larger ones are InvalidArgument. In a forked child every call fails.
//
// Errors. A failed read concerns only that read. A failed write leaves the database as it was, and later writes go on.
// A failed sync, or a failed commit of background work, makes the database read-only until it is opened anew: such a
// status has Severity::kFatal.
class DB {
 public:
  // InvalidArgument (an option out of range, no database and create_if_missing off, another comparator), Corruption,
  // NotSupported (a later format), IOError (Locked: it is open elsewhere). After an error nothing is held open; a
  // database that exists is as it was.
  static Status Open(const Options& options, const std::string& path, std::unique_ptr<DB>* db);
  static Status Open(const Options& options, const std::string& path, DB** db);
  // Any number of readers, but no writer, may have a database open. Writes nothing: the log is replayed in memory.
  static Status OpenForReadOnly(const Options& options, const std::string& path, std::unique_ptr<DB>* db);

  DB() = default;
  DB(const DB&) = delete;
  DB& operator=(const DB&) = delete;
  // Closes, without a way to tell an error.
  virtual ~DB() = default;

  // Syncs the log, waits for background work, lets go of the lock. Aborted while snapshots or iterators live; the
  // database stays open then. Otherwise the first error; the database is closed all the same.
  virtual Status Close() = 0;

  virtual Status Put(const WriteOptions& options, Slice key, Slice value) = 0;
  virtual Status Delete(const WriteOptions& options, Slice key) = 0;
  virtual Status SingleDelete(const WriteOptions& options, Slice key) = 0;
  virtual Status Write(const WriteOptions& options, WriteBatch* batch) = 0;

  // NotFound if there is none.
  virtual Status Get(const ReadOptions& options, Slice key, std::string* value) = 0;
  virtual Status Get(const ReadOptions& options, Slice key, PinnableSlice* value) = 0;
  // All keys at one state; statuses and values in the order of the keys.
  virtual std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                       std::vector<std::string>* values) = 0;
  virtual void MultiGet(const ReadOptions& options, std::size_t count, const Slice* keys, PinnableSlice* values,
                        Status* statuses) = 0;
  // Never null; an error shows in status(). Delete it before closing.
  virtual Iterator* NewIterator(const ReadOptions& options) = 0;

  // Null if the database is closed.
  virtual const Snapshot* GetSnapshot() = 0;
  virtual void ReleaseSnapshot(const Snapshot* snapshot) = 0;

  // Moves what the memory table holds into the index. Not needed for durability.
  virtual Status Flush(const FlushOptions& options) = 0;
  // Makes everything written so far durable.
  virtual Status SyncWAL() = 0;
  // Records are handed to the system as they are written, so without sync there is nothing to do.
  virtual Status FlushWAL(bool sync) = 0;
  // Flushes, then merges all runs that overlap [begin, end] (null: unbounded) into the tree.
  virtual Status CompactRange(const CompactRangeOptions& options, const Slice* begin, const Slice* end) = 0;
  // Waits until no background work is left to do.
  virtual Status WaitForCompact() = 0;

  // docs/OPTIONS.md lists the names. False for an unknown one.
  virtual bool GetProperty(Slice property, std::string* value) = 0;
  virtual bool GetIntProperty(Slice property, std::uint64_t* value) = 0;
  virtual bool GetMapProperty(Slice property, std::map<std::string, std::string>* value) = 0;
  virtual SequenceNumber GetLatestSequenceNumber() const = 0;
  [[nodiscard]] virtual const std::string& GetName() const = 0;
  // The options in force, defaults filled in.
  [[nodiscard]] virtual Options GetOptions() const = 0;

  // RocksDB has these; this version answers NotSupported.
  virtual Status Merge(const WriteOptions& options, Slice key, Slice operand) = 0;
  virtual Status DeleteRange(const WriteOptions& options, Slice begin, Slice end) = 0;
  virtual Status CreateColumnFamily(const std::string& name) = 0;
  virtual Status IngestExternalFile(const std::vector<std::string>& files) = 0;
  virtual Status Resume() = 0;
};

// Removes all files of a database, and its directory if nothing else is in it. Files that are not the database's stay.
// Locked if it is open. OK if there is none.
Status DestroyDB(const std::string& path, const Options& options);

struct VerifyOptions {
  // Read every value too, and compare its checksum; otherwise index, log structure and accounts only.
  bool deep = false;
};
struct VerifyReport {
  std::uint64_t files = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t pages = 0;
  std::uint64_t entries = 0;       // of runs and trees, tombstones included
  std::uint64_t records = 0;       // of the log
  std::uint64_t live_references = 0;
  std::uint64_t live_bytes = 0;
  std::vector<std::string> problems;  // what is damaged: file, offset, what
  std::vector<std::string> notes;     // not damage: orphans of a crash, a torn tail, foreign files
};
// Checks a database that nobody has open for writing: every checksum, every index entry against its record, the
// accounts recomputed. Writes nothing. OK if the check could be made, whatever it found: look at report->problems.
Status VerifyDB(const std::string& path, const Options& options, const VerifyOptions& verify, VerifyReport* report);

}  // namespace cambium
