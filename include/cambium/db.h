// DB: an ordered map from keys to values that survives crashes.
//
//   cambium::Options options;
//   options.create_if_missing = true;
//   std::unique_ptr<cambium::DB> db;
//   cambium::Status s = cambium::DB::Open(options, "/data/store", &db);
//   if (s.ok()) s = db->Put({}, "key", "value");
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cambium/column_family.h"
#include "cambium/iterator.h"
#include "cambium/options.h"
#include "cambium/pinnable_slice.h"
#include "cambium/slice.h"
#include "cambium/snapshot.h"
#include "cambium/status.h"
#include "cambium/trace.h"
#include "cambium/types.h"
#include "cambium/write_batch.h"

namespace cambium {

inline constexpr std::size_t kMaxKeyBytes = 64u << 10;               // 64 KiB
inline constexpr std::uint64_t kMaxValueBytes = (1ull << 32) - 1;    // 4 GiB - 1

// The keys in [start, limit).
struct Range {
  Slice start;
  Slice limit;
};

// Any thread may call any function, except that Close and the destructor must run alone. Keys are 0 bytes to 64 KiB
// (less with a page_size below 4096), values 0 bytes to 4 GiB - 1; larger ones are InvalidArgument. In a forked child
// every call fails. Calls without a column family are of the default one. Calls with the handle of a dropped family are
// ColumnFamilyDropped, with a null one, or one of another database, InvalidArgument.
//
// Errors. A failed read concerns only that read. A failed write leaves the database as it was, and later writes go on.
// A failed sync, or a failed commit of background work, makes the database read-only until it is opened anew: such a
// status has Severity::kFatal.
class DB {
 public:
  // InvalidArgument (an option out of range, no database and create_if_missing off, another comparator or index type,
  // families that exist and are not named), Corruption, NotSupported (a later format), IOError (Locked: it is open
  // elsewhere). After an error nothing is held open; a database that exists is as it was, but for families that
  // create_missing_column_families had made before the error.
  static Status Open(const Options& options, const std::string& path, std::unique_ptr<DB>* db);
  static Status Open(const Options& options, const std::string& path, DB** db);
  // With column families: all that exist must be named, the default one among them; handles come in the same order.
  // Those that do not exist are InvalidArgument, or made with create_missing_column_families.
  static Status Open(const DBOptions& options, const std::string& path,
                     const std::vector<ColumnFamilyDescriptor>& families, std::vector<ColumnFamilyHandle*>* handles,
                     std::unique_ptr<DB>* db);
  static Status Open(const DBOptions& options, const std::string& path,
                     const std::vector<ColumnFamilyDescriptor>& families, std::vector<ColumnFamilyHandle*>* handles,
                     DB** db);
  // Any number of readers, but no writer, may have a database open. Writes nothing: the log is replayed in memory. Not
  // all families need be named.
  static Status OpenForReadOnly(const Options& options, const std::string& path, std::unique_ptr<DB>* db);
  static Status OpenForReadOnly(const DBOptions& options, const std::string& path,
                                const std::vector<ColumnFamilyDescriptor>& families,
                                std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* db);
  // Names of the families of a database, open or not, in the order in which they were made.
  static Status ListColumnFamilies(const DBOptions& options, const std::string& path, std::vector<std::string>* names);

  DB() = default;
  DB(const DB&) = delete;
  DB& operator=(const DB&) = delete;
  // Closes, without a way to tell an error.
  virtual ~DB() = default;

  // Syncs the log, waits for background work, lets go of the lock. Aborted while snapshots or iterators live; the
  // database stays open then. Otherwise the first error; the database is closed all the same.
  virtual Status Close() = 0;

  // ---- Column families ----
  [[nodiscard]] virtual ColumnFamilyHandle* DefaultColumnFamily() const = 0;
  // Durable when it returns. InvalidArgument if there is one of that name.
  virtual Status CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                                    ColumnFamilyHandle** handle) = 0;
  // All or none are named in the options of one call, and each is made for itself: after an error the first ones exist.
  Status CreateColumnFamilies(const ColumnFamilyOptions& options, const std::vector<std::string>& names,
                              std::vector<ColumnFamilyHandle*>* handles);
  // Durable when it returns. Its bytes are given back as soon as snapshots, iterators and its handle have gone. Not of the
  // default one. After an error the family is there; but a crash may still find it dropped, unless something was written
  // to it since.
  virtual Status DropColumnFamily(ColumnFamilyHandle* family) = 0;
  Status DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& families);
  // Gives the handle back; the family stays. The handle of the default family only if Open made it.
  virtual Status DestroyColumnFamilyHandle(ColumnFamilyHandle* family) = 0;

  // ---- Writing ----
  virtual Status Put(const WriteOptions& options, ColumnFamilyHandle* family, Slice key, Slice value) = 0;
  Status Put(const WriteOptions& options, Slice key, Slice value) {
    return Put(options, DefaultColumnFamily(), key, value);
  }
  virtual Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, Slice key) = 0;
  Status Delete(const WriteOptions& options, Slice key) { return Delete(options, DefaultColumnFamily(), key); }
  // The same as Delete here.
  virtual Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, Slice key) = 0;
  Status SingleDelete(const WriteOptions& options, Slice key) {
    return SingleDelete(options, DefaultColumnFamily(), key);
  }
  // Deletes the keys in [begin, end). InvalidArgument if begin is behind end; nothing if they are equal.
  virtual Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, Slice begin, Slice end) = 0;
  Status DeleteRange(const WriteOptions& options, Slice begin, Slice end) {
    return DeleteRange(options, DefaultColumnFamily(), begin, end);
  }
  virtual Status Write(const WriteOptions& options, WriteBatch* batch) = 0;

  // ---- Reading ----
  // NotFound if there is none.
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::string* value) = 0;
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, PinnableSlice* value) = 0;
  Status Get(const ReadOptions& options, Slice key, std::string* value) {
    return Get(options, DefaultColumnFamily(), key, value);
  }
  Status Get(const ReadOptions& options, Slice key, PinnableSlice* value) {
    return Get(options, DefaultColumnFamily(), key, value);
  }
  // All keys at one state, of any families; statuses and values in the order of the keys.
  virtual void MultiGet(const ReadOptions& options, std::size_t count, ColumnFamilyHandle* const* families,
                        const Slice* keys, PinnableSlice* values, Status* statuses) = 0;
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, std::size_t count, const Slice* keys,
                PinnableSlice* values, Status* statuses);
  void MultiGet(const ReadOptions& options, std::size_t count, const Slice* keys, PinnableSlice* values,
                Status* statuses) {
    MultiGet(options, DefaultColumnFamily(), count, keys, values, statuses);
  }
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                               const std::vector<Slice>& keys, std::vector<std::string>* values);
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values);
  // Never null; an error shows in status(). Delete it before closing.
  virtual Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) = 0;
  Iterator* NewIterator(const ReadOptions& options) { return NewIterator(options, DefaultColumnFamily()); }
  // One for each family, all of the same state.
  virtual Status NewIterators(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                              std::vector<Iterator*>* iterators) = 0;

  // Of all families. Null if the database is closed.
  virtual const Snapshot* GetSnapshot() = 0;
  virtual void ReleaseSnapshot(const Snapshot* snapshot) = 0;

  // ---- Flushing and merging ----
  // Moves what the family's memory tables hold into its index. Not needed for durability.
  virtual Status Flush(const FlushOptions& options, ColumnFamilyHandle* family) = 0;
  Status Flush(const FlushOptions& options) { return Flush(options, DefaultColumnFamily()); }
  // Makes everything written so far durable, in all families.
  virtual Status SyncWAL() = 0;
  // Records are handed to the system as they are written, so without sync there is nothing to do.
  virtual Status FlushWAL(bool sync) = 0;
  // Flushes, then merges all runs that overlap [begin, end] (null: unbounded) into the tree, or into the last level.
  // With a compaction filter it is shown every key of the range, merged or not.
  virtual Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* family, const Slice* begin,
                              const Slice* end) = 0;
  Status CompactRange(const CompactRangeOptions& options, const Slice* begin, const Slice* end) {
    return CompactRange(options, DefaultColumnFamily(), begin, end);
  }
  // Waits until no background work is left to do.
  virtual Status WaitForCompact() = 0;

  // ---- Looking at it ----
  // docs/OPTIONS.md lists the names. False for an unknown one.
  virtual bool GetProperty(ColumnFamilyHandle* family, Slice property, std::string* value) = 0;
  bool GetProperty(Slice property, std::string* value) { return GetProperty(DefaultColumnFamily(), property, value); }
  virtual bool GetIntProperty(ColumnFamilyHandle* family, Slice property, std::uint64_t* value) = 0;
  bool GetIntProperty(Slice property, std::uint64_t* value) {
    return GetIntProperty(DefaultColumnFamily(), property, value);
  }
  virtual bool GetMapProperty(ColumnFamilyHandle* family, Slice property,
                              std::map<std::string, std::string>* value) = 0;
  bool GetMapProperty(Slice property, std::map<std::string, std::string>* value) {
    return GetMapProperty(DefaultColumnFamily(), property, value);
  }
  // sizes[i]: about how many bytes the keys of ranges[i] take, as they are stored; 0 if start is not before limit.
  // Reads a few index pages for each, at most two per level of each layer, and no value. What is old counts until merges
  // have removed it: values that were overwritten or deleted, and deletions themselves. In files the values count
  // exactly, by the size codes of their addresses (0.8 % above the truth at most); the entries by their share of all index
  // pages, as if keys were of one length, and where inline values are among them as if they were like those at the ends
  // of the range. So the error is at most what index pages hold of the range, and small if its keys and inline values are
  // like the others. In memory tables all is shared out so, by where the ends lie in a tree whose nodes are half full at
  // least: for many keys that may be wrong by a factor of two.
  virtual Status GetApproximateSizes(const SizeApproximationOptions& options, ColumnFamilyHandle* family,
                                     const Range* ranges, int count, std::uint64_t* sizes) = 0;
  Status GetApproximateSizes(ColumnFamilyHandle* family, const Range* ranges, int count, std::uint64_t* sizes) {
    return GetApproximateSizes({}, family, ranges, count, sizes);
  }
  Status GetApproximateSizes(const Range* ranges, int count, std::uint64_t* sizes) {
    return GetApproximateSizes({}, DefaultColumnFamily(), ranges, count, sizes);
  }
  virtual SequenceNumber GetLatestSequenceNumber() const = 0;
  [[nodiscard]] virtual const std::string& GetName() const = 0;
  // The options in force, defaults filled in.
  [[nodiscard]] virtual Options GetOptions(ColumnFamilyHandle* family) const = 0;
  [[nodiscard]] Options GetOptions() const { return GetOptions(DefaultColumnFamily()); }

  // ---- Changing options ----
  // By name and text, as in convenience.h; docs/OPTIONS.md says which are dynamic. All changes of a call take effect, or
  // none: InvalidArgument names the option, its value and what is legal, or says that it can't be changed while the
  // database is open. Work that is under way ends with the options it began with. The change is written to an OPTIONS
  // file; another error says that the options are in force, and not persisted. A later Open does not read that file: see
  // LoadLatestOptions.
  virtual Status SetOptions(ColumnFamilyHandle* family,
                            const std::unordered_map<std::string, std::string>& changes) = 0;
  Status SetOptions(const std::unordered_map<std::string, std::string>& changes) {
    return SetOptions(DefaultColumnFamily(), changes);
  }
  virtual Status SetDBOptions(const std::unordered_map<std::string, std::string>& changes) = 0;

  // ---- Tracing ----
  // From here on what is asked of the database is recorded; see trace.h. Recorded are reads that found something or
  // nothing, and writes that were committed: no call that failed. Calls that are under way may or may not be. Busy if a
  // trace is running already, InvalidArgument for an option out of range. A trace that fails never fails a call: it ends,
  // and EndTrace tells why. Without a trace each call asks one flag.
  virtual Status StartTrace(const TraceOptions& options, std::unique_ptr<TraceWriter>&& writer) = 0;
  // Into a file of the database's file system that does not exist.
  virtual Status StartTrace(const TraceOptions& options, const std::string& path) = 0;
  // NotFound if none is running. The first error of the trace. Scans that go on have no end in it. Close ends a trace too,
  // and logs its error.
  virtual Status EndTrace() = 0;

  // RocksDB has these; this version answers NotSupported. Resume is OK on a healthy database.
  virtual Status Merge(const WriteOptions& options, Slice key, Slice operand) = 0;
  virtual Status IngestExternalFile(const std::vector<std::string>& files) = 0;
  virtual Status Resume() = 0;
};

// Removes all files of a database, and its directory if nothing else is in it. Files that are not the database's stay.
// Locked if it is open. OK if there is none.
Status DestroyDB(const std::string& path, const Options& options);

struct VerifyOptions {
  // Read every value too, and compare its checksum; otherwise index, log structure and accounts only.
  bool deep = false;
  // Called now and then by the calling thread: bytes that are read, of about how many.
  std::function<void(std::uint64_t done, std::uint64_t all)> progress = nullptr;
};
struct VerifyReport {
  std::uint64_t files = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t pages = 0;
  std::uint64_t entries = 0;       // of runs and trees, tombstones included
  std::uint64_t records = 0;       // of the log
  std::uint64_t live_references = 0;
  std::uint64_t live_bytes = 0;
  // A list ends after so many lines. How many there would have been stands beside it.
  static constexpr std::size_t kListedMax = 1000;
  // What is damaged, and an opening, a read, a scan, a merge or log GC stumbles over: file, offset, what.
  std::vector<std::string> problems;
  std::uint64_t problem_count = 0;
  // What is not as it was written, and nobody needs: records that no live entry leads to, footers of segments whose
  // records are whole, OPTIONS files. Records of neither kind are looked at only with `deep`.
  std::vector<std::string> dead_damage;
  std::uint64_t dead_damage_count = 0;
  std::vector<std::string> notes;     // not damage: orphans of a crash, a torn tail, foreign files
  std::uint64_t note_count = 0;
  // What the system would not read, so that nothing is known of it. The check goes on beside it.
  std::vector<std::string> unreadable;
  std::uint64_t unreadable_count = 0;
};
// Checks a database that nobody has open for writing: every checksum, every index entry against its record, the
// accounts recomputed. Writes nothing; takes up to 128 MiB of memory, whatever the database has. OK if the check could
// be made, whatever it found: look at report->problems. With `deep` these are empty if, and only if, the database can be
// opened with these options, and all of it be read and collected: wal_recovery_mode decides what of the log an opening
// takes for damage. Where something could not be read, the first such error is returned, once all else is checked.
// `options` speak of the default family. The others are checked too; one whose comparator is not the library's own has
// to be named with it, by the overload below, or nothing is checked and the answer is InvalidArgument.
Status VerifyDB(const std::string& path, const Options& options, const VerifyOptions& verify, VerifyReport* report);
Status VerifyDB(const std::string& path, const DBOptions& options, const std::vector<ColumnFamilyDescriptor>& families,
                const VerifyOptions& verify, VerifyReport* report);

}  // namespace cambium
