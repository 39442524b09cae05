// DB: RocksDB's class over a database of Cambium. docs/ROCKSDB_CPP.md says what differs.
//
//   rocksdb::Options options;
//   options.create_if_missing = true;
//   std::unique_ptr<rocksdb::DB> db;
//   rocksdb::Status s = rocksdb::DB::Open(options, "/data/store", &db);
//   if (s.ok()) s = db->Put(rocksdb::WriteOptions(), "key", "value");
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cambium/column_family.h"
#include "cambium/db.h"
#include "cambium/rocksdb_names/rocksdb/iterator.h"
#include "cambium/rocksdb_names/rocksdb/options.h"
#include "cambium/rocksdb_names/rocksdb/properties.h"
#include "cambium/rocksdb_names/rocksdb/slice.h"
#include "cambium/rocksdb_names/rocksdb/snapshot.h"
#include "cambium/rocksdb_names/rocksdb/status.h"
#include "cambium/rocksdb_names/rocksdb/trace_reader_writer.h"
#include "cambium/rocksdb_names/rocksdb/types.h"
#include "cambium/rocksdb_names/rocksdb/write_batch.h"

namespace rocksdb::inline on_cambium {

using cambium::kDefaultColumnFamilyName;

struct ColumnFamilyDescriptor {
  ColumnFamilyDescriptor() = default;
  ColumnFamilyDescriptor(std::string its_name, ColumnFamilyOptions its_options)
      : name(std::move(its_name)), options(std::move(its_options)) {}
  std::string name = kDefaultColumnFamilyName;
  ColumnFamilyOptions options;
};

// Errors, threads and lifetimes are those of cambium::DB. Calls with an option of call_options.h that is refused return
// NotSupported, and so do the calls of features that do not exist here.
class DB {
 public:
  using Properties = on_cambium::Properties;

  static Status Open(const Options& options, const std::string& path, std::unique_ptr<DB>* db);
  static Status Open(const Options& options, const std::string& path, DB** db);
  static Status Open(const DBOptions& options, const std::string& path,
                     const std::vector<ColumnFamilyDescriptor>& families, std::vector<ColumnFamilyHandle*>* handles,
                     std::unique_ptr<DB>* db);
  static Status Open(const DBOptions& options, const std::string& path,
                     const std::vector<ColumnFamilyDescriptor>& families, std::vector<ColumnFamilyHandle*>* handles,
                     DB** db);
  // NotSupported with error_if_wal_file_exists: the log, which has the values, always exists.
  static Status OpenForReadOnly(const Options& options, const std::string& path, std::unique_ptr<DB>* db,
                                bool error_if_wal_file_exists = false);
  static Status OpenForReadOnly(const Options& options, const std::string& path, DB** db,
                                bool error_if_wal_file_exists = false);
  static Status OpenForReadOnly(const DBOptions& options, const std::string& path,
                                const std::vector<ColumnFamilyDescriptor>& families,
                                std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* db,
                                bool error_if_wal_file_exists = false);
  static Status ListColumnFamilies(const DBOptions& options, const std::string& path, std::vector<std::string>* names);

  DB(const DB&) = delete;
  DB& operator=(const DB&) = delete;
  virtual ~DB();
  Status Close();

  // The database itself, with what only Cambium has. Belongs to this object.
  [[nodiscard]] cambium::DB* OnCambium() const { return db_.load(std::memory_order_relaxed); }

  // ---- Column families ----
  [[nodiscard]] ColumnFamilyHandle* DefaultColumnFamily() const { return OnCambium()->DefaultColumnFamily(); }
  Status CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name, ColumnFamilyHandle** handle);
  Status CreateColumnFamilies(const ColumnFamilyOptions& options, const std::vector<std::string>& names,
                              std::vector<ColumnFamilyHandle*>* handles);
  // Commits each family by itself. After an error, as in RocksDB, the families before it exist, and *handles has their
  // handles.
  Status CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& families,
                              std::vector<ColumnFamilyHandle*>* handles);
  Status DropColumnFamily(ColumnFamilyHandle* family);
  Status DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& families);
  Status DestroyColumnFamilyHandle(ColumnFamilyHandle* family) {
    return OnCambium()->DestroyColumnFamilyHandle(family);
  }

  // ---- Writing ----
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key, const Slice& value) {
    return OnCambium()->Put(options, family, key, value);
  }
  Status Put(const WriteOptions& options, const Slice& key, const Slice& value) {
    return OnCambium()->Put(options, key, value);
  }
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key) {
    return OnCambium()->Delete(options, family, key);
  }
  Status Delete(const WriteOptions& options, const Slice& key) { return OnCambium()->Delete(options, key); }
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key) {
    return OnCambium()->SingleDelete(options, family, key);
  }
  Status SingleDelete(const WriteOptions& options, const Slice& key) { return OnCambium()->SingleDelete(options, key); }
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& begin, const Slice& end) {
    return OnCambium()->DeleteRange(options, family, begin, end);
  }
  Status DeleteRange(const WriteOptions& options, const Slice& begin, const Slice& end) {
    return OnCambium()->DeleteRange(options, begin, end);
  }
  // NotSupported.
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key, const Slice& operand);
  Status Merge(const WriteOptions& options, const Slice& key, const Slice& operand) {
    return Merge(options, DefaultColumnFamily(), key, operand);
  }
  Status Write(const WriteOptions& options, WriteBatch* batch) { return OnCambium()->Write(options, batch); }

  // ---- Reading ----
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value);
  Status Get(const ReadOptions& options, const Slice& key, std::string* value) {
    return Get(options, DefaultColumnFamily(), key, value);
  }
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, PinnableSlice* value);
  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) {
    return Get(options, DefaultColumnFamily(), key, value);
  }
  void MultiGet(const ReadOptions& options, std::size_t count, ColumnFamilyHandle** families, const Slice* keys,
                PinnableSlice* values, Status* statuses, bool sorted_input = false);
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, std::size_t count, const Slice* keys,
                PinnableSlice* values, Status* statuses, bool sorted_input = false);
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                               const std::vector<Slice>& keys, std::vector<std::string>* values);
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values);
  // Exact: reads the key. An error counts as "may exist".
  bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value,
                   bool* value_found = nullptr);
  bool KeyMayExist(const ReadOptions& options, const Slice& key, std::string* value, bool* value_found = nullptr) {
    return KeyMayExist(options, DefaultColumnFamily(), key, value, value_found);
  }
  // Never null. With an option that is refused, its status() is NotSupported.
  Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* family);
  Iterator* NewIterator(const ReadOptions& options) { return NewIterator(options, DefaultColumnFamily()); }
  Status NewIterators(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                      std::vector<Iterator*>* iterators);
  const Snapshot* GetSnapshot() { return OnCambium()->GetSnapshot(); }
  void ReleaseSnapshot(const Snapshot* snapshot) { OnCambium()->ReleaseSnapshot(snapshot); }

  // ---- Flushing and compacting ----
  Status Flush(const FlushOptions& options, ColumnFamilyHandle* family) { return OnCambium()->Flush(options, family); }
  Status Flush(const FlushOptions& options) { return OnCambium()->Flush(options); }
  // Flushes one family after the other.
  Status Flush(const FlushOptions& options, const std::vector<ColumnFamilyHandle*>& families);
  Status SyncWAL() { return OnCambium()->SyncWAL(); }
  Status FlushWAL(bool sync) { return OnCambium()->FlushWAL(sync); }
  Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* family, const Slice* begin,
                      const Slice* end);
  Status CompactRange(const CompactRangeOptions& options, const Slice* begin, const Slice* end) {
    return CompactRange(options, DefaultColumnFamily(), begin, end);
  }
  // While manual compactions are disabled, each CompactRange that begins returns Incomplete; one that runs goes on. The
  // calls are counted: each Enable undoes one Disable.
  void DisableManualCompaction() { ++manual_compactions_disabled_; }
  void EnableManualCompaction() { --manual_compactions_disabled_; }
  Status WaitForCompact(const WaitForCompactOptions& options);
  // Compactions are always on.
  Status EnableAutoCompaction(const std::vector<ColumnFamilyHandle*>& /*families*/) { return Status::OK(); }
  Status VerifyChecksum(const ReadOptions& options);
  Status VerifyChecksum() { return VerifyChecksum(ReadOptions()); }

  // ---- Properties and sizes ----
  bool GetProperty(ColumnFamilyHandle* family, const Slice& property, std::string* value) {
    return OnCambium()->GetProperty(family, property, value);
  }
  bool GetProperty(const Slice& property, std::string* value) { return OnCambium()->GetProperty(property, value); }
  bool GetIntProperty(ColumnFamilyHandle* family, const Slice& property, std::uint64_t* value) {
    return OnCambium()->GetIntProperty(family, property, value);
  }
  bool GetIntProperty(const Slice& property, std::uint64_t* value) {
    return OnCambium()->GetIntProperty(property, value);
  }
  bool GetMapProperty(ColumnFamilyHandle* family, const Slice& property, std::map<std::string, std::string>* value) {
    return OnCambium()->GetMapProperty(family, property, value);
  }
  bool GetMapProperty(const Slice& property, std::map<std::string, std::string>* value) {
    return OnCambium()->GetMapProperty(property, value);
  }
  enum class SizeApproximationFlags : std::uint8_t {
    NONE = 0,
    INCLUDE_MEMTABLES = 1,
    INCLUDE_FILES = 2,
    INCLUDE_BLOB_FILES = 4,  // without effect: separated values always count
  };
  Status GetApproximateSizes(const SizeApproximationOptions& options, ColumnFamilyHandle* family, const Range* ranges,
                             int count, std::uint64_t* sizes);
  Status GetApproximateSizes(ColumnFamilyHandle* family, const Range* ranges, int count, std::uint64_t* sizes,
                             SizeApproximationFlags flags = SizeApproximationFlags::INCLUDE_FILES);
  Status GetApproximateSizes(const Range* ranges, int count, std::uint64_t* sizes,
                             SizeApproximationFlags flags = SizeApproximationFlags::INCLUDE_FILES) {
    return GetApproximateSizes(DefaultColumnFamily(), ranges, count, sizes, flags);
  }
  [[nodiscard]] SequenceNumber GetLatestSequenceNumber() const { return OnCambium()->GetLatestSequenceNumber(); }
  [[nodiscard]] const std::string& GetName() const { return OnCambium()->GetName(); }
  Status GetDbIdentity(std::string& identity) const { return OnCambium()->GetDbIdentity(identity); }
  [[nodiscard]] Env* GetEnv() const { return Env::Default(); }
  [[nodiscard]] int NumberLevels(ColumnFamilyHandle* family) { return GetOptions(family).num_levels; }
  [[nodiscard]] int NumberLevels() { return NumberLevels(DefaultColumnFamily()); }

  // ---- Options ----
  // The options in force, and hints and objects as they were given.
  [[nodiscard]] Options GetOptions(ColumnFamilyHandle* family) const;
  [[nodiscard]] Options GetOptions() const { return GetOptions(DefaultColumnFamily()); }
  [[nodiscard]] DBOptions GetDBOptions() const { return GetOptions(); }
  // Hints are accepted, and named in LOG. For the rest, see cambium::DB::SetOptions.
  Status SetOptions(ColumnFamilyHandle* family, const std::unordered_map<std::string, std::string>& changes);
  Status SetOptions(const std::unordered_map<std::string, std::string>& changes) {
    return SetOptions(DefaultColumnFamily(), changes);
  }
  Status SetDBOptions(const std::unordered_map<std::string, std::string>& changes);

  // ---- Tracing, errors ----
  Status StartTrace(const TraceOptions& options, std::unique_ptr<TraceWriter>&& writer) {
    return OnCambium()->StartTrace(options, std::move(writer));
  }
  Status EndTrace() { return OnCambium()->EndTrace(); }
  Status Resume() { return OnCambium()->Resume(); }

 protected:
  DB();
  // For an object that shows `below`, a database below that of `above`, which owns both. Closing one closes the other.
  DB(DB* above, cambium::DB* below);

  using Opens = std::function<Status(const cambium::DBOptions&, const std::string&,
                                     const std::vector<cambium::ColumnFamilyDescriptor>&,
                                     std::vector<ColumnFamilyHandle*>*, std::unique_ptr<cambium::DB>*)>;
  struct Opening {
    Opens make;
    bool is_read_only = false;
    std::vector<std::string> hints;  // options that are set and have no effect; the database's are added
  };
  // Opens a database as that of `opened`, which was just made, and which *db then is.
  static Status OpenAs(std::unique_ptr<DB> opened, Opening opening, const DBOptions& options, const std::string& path,
                       const std::vector<ColumnFamilyDescriptor>& families, std::vector<ColumnFamilyHandle*>* handles,
                       std::unique_ptr<DB>* db);
  // Makes an object for the database below `above`: see GetBaseDB.
  static std::unique_ptr<DB> NewBase(DB* above, cambium::DB* below) {
    return std::unique_ptr<DB>(new DB(above, below));
  }

 private:
  friend class Cache;
  friend class ListenerOnCambium;
  struct Rep;

  void UseCaches();
  void LeaveCaches();
  void SetPageCacheSize();
  void AddFamily(const std::string& name, const ColumnFamilyOptions& options, const std::vector<std::string>& hints);
  void SaveHints();
  void Tell(const std::vector<std::string>& hints) const;

  DB* const above_;  // null: this object owns the database
  const std::shared_ptr<Rep> rep_;
  // Set when Open returns, or by the first callback of a listener before that.
  std::atomic<cambium::DB*> db_{nullptr};
  std::atomic<int> manual_compactions_disabled_{0};
};

// Removes all files of a database.
Status DestroyDB(const std::string& path, const Options& options);
Status DestroyDB(const std::string& path, const Options& options, const std::vector<ColumnFamilyDescriptor>& families);
// Repairs into the same directory, see cambium/repair.h.
Status RepairDB(const std::string& path, const Options& options);

}  // namespace rocksdb::inline on_cambium
