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
#include <span>
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

class AsyncReader;
struct AsyncReaderOptions;

inline constexpr std::size_t kMaxKeyBytes = 64u << 10;               // 64 KiB
inline constexpr std::uint64_t kMaxValueBytes = (1ull << 32) - 1;    // 4 GiB - 1

// The keys in [start, limit).
struct Range {
  Slice start;
  Slice limit;
};

// Any thread may call any function, except that no other call may run during Close or the destructor. Keys have 0 bytes
// to 64 KiB (less with a page_size below 4096), values 0 bytes to 4 GiB - 1; longer ones are InvalidArgument. In a
// forked child every call fails. A call without a column family uses the default one. A call with the handle of a
// dropped family returns ColumnFamilyDropped. InvalidArgument: the handle is null or of another database; a pointer for
// a result is null; a read's snapshot is released, or of another database (which must still exist).
//
// Errors. A failed read concerns only that read. A failed write leaves the database unchanged, and later writes
// proceed. A failed sync makes the database read-only until it is opened again; such a status has Severity::kFatal.
// There are two exceptions: if the sync of a new file other than the MANIFEST only found no space, the file is
// discarded, and only the call or job that made it fails; if an OPTIONS file cannot be synced, a change of options is
// in force but not persisted. If a record of the MANIFEST cannot be written, only the call or job fails, and the next
// commit writes a new MANIFEST. A write with WriteOptions::sync whose sync has failed is in doubt: reads see it until
// the database is opened again, except reads with ReadOptions::durable_only; from then on it is there as a whole, or
// not at all. If the process has no free file descriptor, a call that needs one fails with IsDenied (or with Busy, if a
// directory was to be synced), changes nothing, and may be repeated; no data is lost.
//
// Failures of background work are reported to listeners and counted (the property cambium.background-errors). If the
// compactions of a family have failed ten times in a row, every write to the family runs the compaction again, waits
// for it, and returns its error if it fails; otherwise the write proceeds, and the count starts again at 0. The same
// holds for writes to all families if log GC, or the seals of log segments, fail. With no_slowdown a write does not
// wait and returns the last error. A full disk does not count: its rules are in docs/LIMITS.md. Reads, Flush,
// CompactRange and Resume remain possible.
//
// The class has many functions because users know them from RocksDB's DB. Most of them exist twice: with a column
// family, and without one for the default family.
class DB {
 public:
  // Errors: InvalidArgument (an option out of range; no database and create_if_missing off; another comparator or index
  // type; existing families that are not named), Corruption, NotSupported (a later format), IOError (Locked: it is open
  // elsewhere; Denied: permission, descriptors or memory are missing), Busy (no descriptor was free to sync a directory).
  // After an error Open holds nothing open, so its errors never have Severity::kFatal. `path` is looked up once: if
  // later a symbolic link in it, the working directory or the directory's own name changes, the database stays in its
  // directory. A new directory has mode 0700, see docs/SECURITY.md. A database that exists is unchanged, except for
  // families that create_missing_column_families created before the error.
  static Status Open(const Options& options, const std::string& path, std::unique_ptr<DB>* db);
  static Status Open(const Options& options, const std::string& path, DB** db);
  // With column families: every existing family must be named, the default one included. Handles are returned in the
  // same order. A named family that does not exist is created if create_missing_column_families is set, else
  // InvalidArgument.
  static Status Open(const DBOptions& options, const std::string& path,
                     const std::vector<ColumnFamilyDescriptor>& families, std::vector<ColumnFamilyHandle*>* handles,
                     std::unique_ptr<DB>* db);
  static Status Open(const DBOptions& options, const std::string& path,
                     const std::vector<ColumnFamilyDescriptor>& families, std::vector<ColumnFamilyHandle*>* handles,
                     DB** db);
  // Any number of readers may have a database open, but no writer meanwhile. Writes nothing: the log is replayed in
  // memory. Families may be left out.
  static Status OpenForReadOnly(const Options& options, const std::string& path, std::unique_ptr<DB>* db);
  static Status OpenForReadOnly(const DBOptions& options, const std::string& path,
                                const std::vector<ColumnFamilyDescriptor>& families,
                                std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* db);
  // Returns the names of the families of a database, open or not, in the order of their creation.
  static Status ListColumnFamilies(const DBOptions& options, const std::string& path, std::vector<std::string>* names);

  DB() = default;
  DB(const DB&) = delete;
  DB& operator=(const DB&) = delete;
  // Closes, and logs errors. Before that, delete iterators, transactions and asynchronous readers, release snapshots,
  // and change or destroy each PinnableSlice that refers to a mapping.
  virtual ~DB() = default;

  // Syncs the log, waits for background work, releases the lock. Returns Aborted, and leaves the database open, while
  // there are snapshots, iterators, asynchronous readers, transactions, or slices that refer to a mapping
  // (ReadOptions::pin_mapped_values). Otherwise it closes the database in any case, and returns the first error. If
  // several threads call it at once, one closes the database, and the others wait. Once the database is closed, they
  // return OK, even if the first one returned an error.
  virtual Status Close() = 0;

  // ---- Column families ----
  [[nodiscard]] virtual ColumnFamilyHandle* DefaultColumnFamily() const = 0;
  // Durable when it returns. InvalidArgument if a family of that name exists.
  virtual Status CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                                    ColumnFamilyHandle** handle) = 0;
  // Creates the families in one commit; *handles has their handles, in the order of the names. After an error none of
  // them exists; if the error is fatal, the next Open finds all of them or none.
  virtual Status CreateColumnFamilies(const ColumnFamilyOptions& options, const std::vector<std::string>& names,
                                      std::vector<ColumnFamilyHandle*>* handles) = 0;
  // Durable when it returns. The family's space is freed once its snapshots, iterators and handle are released. The
  // default family cannot be dropped. After an error the family still exists, but a crash may leave it dropped unless
  // something has been written to it after the error.
  virtual Status DropColumnFamily(ColumnFamilyHandle* family) = 0;
  Status DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& families);
  // Releases the handle (not in a forked child); the family itself is not touched. A handle of the default family is
  // accepted only if Open returned it.
  virtual Status DestroyColumnFamilyHandle(ColumnFamilyHandle* family) = 0;

  // ---- Writing ----
  // If the sync of a write with WriteOptions::sync fails, the call returns an error of Severity::kFatal, but reads see the
  // write until the database is opened again, except reads with ReadOptions::durable_only (see above). After any other
  // error the write has changed nothing.
  virtual Status Put(const WriteOptions& options, ColumnFamilyHandle* family, Slice key, Slice value) = 0;
  Status Put(const WriteOptions& options, Slice key, Slice value) {
    return Put(options, DefaultColumnFamily(), key, value);
  }
  virtual Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, Slice key) = 0;
  Status Delete(const WriteOptions& options, Slice key) { return Delete(options, DefaultColumnFamily(), key); }
  // Identical to Delete.
  virtual Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, Slice key) = 0;
  Status SingleDelete(const WriteOptions& options, Slice key) {
    return SingleDelete(options, DefaultColumnFamily(), key);
  }
  // Deletes the keys in [begin, end). InvalidArgument if begin is greater than end; does nothing if they are equal.
  virtual Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, Slice begin, Slice end) = 0;
  Status DeleteRange(const WriteOptions& options, Slice begin, Slice end) {
    return DeleteRange(options, DefaultColumnFamily(), begin, end);
  }
  // Returns the batch's status() if it has refused an operation. InvalidArgument if the batch is null, or has families
  // of another database.
  virtual Status Write(const WriteOptions& options, WriteBatch* batch) = 0;

  // ---- Reading ----
  // NotFound if the key does not exist.
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::string* value) = 0;
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, PinnableSlice* value) = 0;
  Status Get(const ReadOptions& options, Slice key, std::string* value) {
    return Get(options, DefaultColumnFamily(), key, value);
  }
  Status Get(const ReadOptions& options, Slice key, PinnableSlice* value) {
    return Get(options, DefaultColumnFamily(), key, value);
  }
  // As Get, into memory of the caller's: a value of at most buffer.size() bytes is copied to `buffer`. *size is set to
  // the size of any value: if it is larger than the buffer, nothing was copied, and only what leads to the value was
  // checked. A value that is in memory is copied without an allocation, unless it is compressed, or long and not
  // mapped. After an error the buffer may have any bytes. Values are not pinned.
  virtual Status GetInto(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::span<char> buffer,
                         std::size_t* size) = 0;
  Status GetInto(const ReadOptions& options, Slice key, std::span<char> buffer, std::size_t* size) {
    return GetInto(options, DefaultColumnFamily(), key, buffer, size);
  }
  // Reads all keys, of any families, at one state. Statuses and values are in the order of the keys.
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
  // Never null; errors show in status(). Delete the iterator before closing the database.
  virtual Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) = 0;
  Iterator* NewIterator(const ReadOptions& options) { return NewIterator(options, DefaultColumnFamily()); }
  // Makes one iterator per family, all of the same state.
  virtual Status NewIterators(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                              std::vector<Iterator*>* iterators) = 0;

  // Makes a reader that has many reads in flight at once, for one thread; see async.h. InvalidArgument for an option
  // that is out of range. Destroy the reader before closing the database.
  virtual Status NewAsyncReader(const AsyncReaderOptions& options, std::unique_ptr<AsyncReader>* reader) = 0;

  // A snapshot covers all families. Null if the database is closed.
  virtual const Snapshot* GetSnapshot() = 0;
  virtual void ReleaseSnapshot(const Snapshot* snapshot) = 0;

  // ---- Flushing and compacting ----
  // Moves the content of the family's memtables into its index. Not needed for durability.
  virtual Status Flush(const FlushOptions& options, ColumnFamilyHandle* family) = 0;
  Status Flush(const FlushOptions& options) { return Flush(options, DefaultColumnFamily()); }
  // Makes everything written so far durable, in all families.
  virtual Status SyncWAL() = 0;
  // Records are handed to the system as they are written, so without `sync` this does nothing.
  virtual Status FlushWAL(bool sync) = 0;
  // Flushes, then compacts all runs that overlap [begin, end] (null: unbounded) into the tree, or into the last level.
  // A compaction filter is asked once about every key of the range, even if there is nothing to compact, and at most
  // once about each version of a key, whatever else runs during the call (see compaction_filter.h).
  virtual Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* family, const Slice* begin,
                              const Slice* end) = 0;
  Status CompactRange(const CompactRangeOptions& options, const Slice* begin, const Slice* end) {
    return CompactRange(options, DefaultColumnFamily(), begin, end);
  }
  // Waits until no background work is left.
  virtual Status WaitForCompact() = 0;
  // Reads each key of each family at `options.snapshot`, or now, and its value, and so compares their checksums, while
  // the database is in use. Returns the first error. Values and entries that no read returns any more are not read, nor
  // are index pages that are in the page cache; VerifyDB verifies a closed database as a whole. Bounds,
  // verify_checksums and pin_mapped_values are ignored; fill_cache should be false, so that the pages do not push
  // others out of the cache. Statistics and traces count it as a scan of each family.
  virtual Status VerifyChecksum(const ReadOptions& options) = 0;

  // ---- Properties and sizes ----
  // docs/OPTIONS.md lists the names. Returns false for an unknown name.
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
  // Sets sizes[i] to about the stored bytes of the keys in ranges[i]; 0 if start is not before limit. Per range it
  // reads a few index pages, at most two per level of each layer, and no values. Obsolete data counts until compactions
  // remove it: overwritten and deleted values, and tombstones.
  //
  // In files, values are counted by the size codes of their addresses, at most 0.8 % too high. Index pages are counted
  // by the range's share of all entries, as if all entries had one size. Inline values are in these pages already; how
  // many bytes they have is estimated from the two leaves at the ends of the range. The error is therefore at most the
  // range's bytes in index pages, and small if the range's keys and inline values are like all others. In memtables
  // everything is estimated from the positions of the range's ends in a tree whose nodes are at least half full: for
  // many keys the result may be off by a factor of two.
  virtual Status GetApproximateSizes(const SizeApproximationOptions& options, ColumnFamilyHandle* family,
                                     const Range* ranges, int count, std::uint64_t* sizes) = 0;
  Status GetApproximateSizes(ColumnFamilyHandle* family, const Range* ranges, int count, std::uint64_t* sizes) {
    return GetApproximateSizes({}, family, ranges, count, sizes);
  }
  Status GetApproximateSizes(const Range* ranges, int count, std::uint64_t* sizes) {
    return GetApproximateSizes({}, DefaultColumnFamily(), ranges, count, sizes);
  }
  // The database itself, if this one passes its calls on (StackableDB); otherwise this one.
  [[nodiscard]] virtual DB* GetRootDB() { return this; }
  virtual SequenceNumber GetLatestSequenceNumber() const = 0;
  [[nodiscard]] virtual const std::string& GetName() const = 0;
  // Sets identity to 32 hexadecimal digits that the database got when it was created. Its checkpoints and restored
  // backups have the same ones.
  virtual Status GetDbIdentity(std::string& identity) const = 0;
  // The options in force, defaults filled in; info_log is the logger in use. For a null handle, or one of another
  // database, the default family's. In a forked child: what Open was given, without the family's.
  [[nodiscard]] virtual Options GetOptions(ColumnFamilyHandle* family) const = 0;
  [[nodiscard]] Options GetOptions() const { return GetOptions(DefaultColumnFamily()); }

  // ---- Changing options ----
  // Options are given by name and text, as in convenience.h; docs/OPTIONS.md says which are dynamic. Either all changes
  // of a call take effect or none. InvalidArgument names the option, its value and the legal range, or says that the
  // option cannot be changed while the database is open. Running background work finishes with the options it began
  // with. The change is also written to an OPTIONS file; any other error means that the options are in force but not
  // persisted. A later Open does not read that file: see LoadLatestOptions.
  virtual Status SetOptions(ColumnFamilyHandle* family,
                            const std::unordered_map<std::string, std::string>& changes) = 0;
  Status SetOptions(const std::unordered_map<std::string, std::string>& changes) {
    return SetOptions(DefaultColumnFamily(), changes);
  }
  virtual Status SetDBOptions(const std::unordered_map<std::string, std::string>& changes) = 0;

  // ---- Tracing ----
  // Starts recording operations; see trace.h. Writes that succeeded are recorded, and reads that found a value or found
  // none; failed calls are not. Calls already running may or may not be recorded. Busy if a trace is running,
  // InvalidArgument for an option out of range. An error of the trace never fails a call: it ends the trace, and
  // EndTrace returns it. Without a trace each call tests one flag.
  virtual Status StartTrace(const TraceOptions& options, std::unique_ptr<TraceWriter>&& writer) = 0;
  // Traces into a new file, which must not exist, in the database's file system.
  virtual Status StartTrace(const TraceOptions& options, const std::string& path) = 0;
  // NotFound if no trace is running. Returns the first error of the trace. Scans that are still running have no end
  // record in the trace. Close ends a trace too, and logs its error.
  virtual Status EndTrace() = 0;

  // Runs failed background work again, and returns its first error. OK: nothing fails any more, and writes proceed.
  // NotSupported after a fatal error: only a new Open helps.
  virtual Status Resume() = 0;

  // These exist in RocksDB; here they return NotSupported.
  virtual Status Merge(const WriteOptions& options, Slice key, Slice operand) = 0;
  virtual Status IngestExternalFile(const std::vector<std::string>& files) = 0;
};

// Removes all files of a database, and its directory if nothing else is in it. Other files are not touched. Locked if
// the database is open. OK if there is no database.
Status DestroyDB(const std::string& path, const Options& options);

struct VerifyOptions {
  // Also read every value and compare its checksum. Otherwise only the index, the structure of the log and the accounts
  // are checked.
  bool deep = false;
  // Called now and then by the calling thread with the bytes read so far and an estimate of their total.
  std::function<void(std::uint64_t done, std::uint64_t all)> progress = nullptr;
};
struct VerifyReport {
  std::uint64_t files = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t pages = 0;
  std::uint64_t entries = 0;       // in runs and trees, tombstones included
  std::uint64_t records = 0;       // in the log
  std::uint64_t live_references = 0;
  std::uint64_t live_bytes = 0;
  // Each list holds at most this many lines; its count includes those left out.
  static constexpr std::size_t kListedMax = 1000;
  // Damage that would make an Open, read, scan, compaction or log GC fail: file, offset, reason.
  std::vector<std::string> problems;
  std::uint64_t problem_count = 0;
  // Damage without effect: records that no live entry refers to, footers of segments whose records are whole, OPTIONS
  // files. Records without a live reference are checked only with `deep`.
  std::vector<std::string> dead_damage;
  std::uint64_t dead_damage_count = 0;
  std::vector<std::string> notes;     // not damage: orphans of a crash, a torn tail, foreign files
  std::uint64_t note_count = 0;
  // Files and parts of files that the system failed to read: their state is unknown. The check continues with the rest.
  std::vector<std::string> unreadable;
  std::uint64_t unreadable_count = 0;
};
// Checks a database that no process has open for writing: every checksum, every index entry against its record, the
// accounts recomputed. Writes nothing; uses about 128 MiB of memory at most, however many bytes the values have;
// docs/LIMITS.md names what takes more.
//
// Returns OK if the check ran to its end, whatever it found: see report->problems. With `deep` that list is empty if
// and only if the database can be opened with these options, and everything in it can be read and collected;
// wal_recovery_mode decides which damage in the log counts. If something could not be read, the first such error is
// returned after everything else is checked.
//
// `options` apply to the default family. The other families are checked too. A family with a comparator of the caller's
// own must be named, by the overload below; otherwise nothing is checked and the result is InvalidArgument.
Status VerifyDB(const std::string& path, const Options& options, const VerifyOptions& verify, VerifyReport* report);
Status VerifyDB(const std::string& path, const DBOptions& options, const std::vector<ColumnFamilyDescriptor>& families,
                const VerifyOptions& verify, VerifyReport* report);

}  // namespace cambium
