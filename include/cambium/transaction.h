// Transaction: reads and writes of one or several keys that take effect together, or not at all, and only if nothing
// that they depend on was changed meanwhile. The names and meanings are RocksDB's, unless a comment says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cambium/column_family.h"
#include "cambium/iterator.h"
#include "cambium/options.h"
#include "cambium/pinnable_slice.h"
#include "cambium/slice.h"
#include "cambium/snapshot.h"
#include "cambium/status.h"
#include "cambium/write_batch.h"
#include "cambium/write_batch_with_index.h"

namespace cambium {

using TransactionID = std::uint64_t;
using TransactionName = std::string;

// An end of a range that GetRangeLock locks: the key `slice`. With inf_suffix, the place behind all keys that begin
// with the bytes of `slice`; of an empty slice, the place behind the last key. RocksDB's.
struct Endpoint {
  Slice slice;
  bool inf_suffix = false;

  Endpoint() = default;
  explicit Endpoint(Slice its_slice, bool its_inf_suffix = false) : slice(its_slice), inf_suffix(its_inf_suffix) {}
};

class TransactionNotifier {
 public:
  virtual ~TransactionNotifier() = default;
  // SetSnapshotOnNextOperation has made this snapshot, which belongs to the transaction.
  virtual void SnapshotCreated(const Snapshot* snapshot) = 0;
};

// A transaction collects writes in an indexed batch, which its own reads see and other reads do not. Commit writes the
// batch. TransactionDB and OptimisticTransactionDB make transactions; they differ in how conflicts are found:
//
//   optimistic    nothing is locked. Commit returns Busy, and writes nothing, if a tracked key was written by others
//                 since it was tracked, or since the transaction's snapshot if there is one
//   pessimistic   a key is locked when it is tracked, until the end of the transaction; the call waits for the lock.
//                 With a snapshot, it returns Busy if the key was written since
//
// Put, Delete, SingleDelete and GetForUpdate track their keys, TrackRange and DeleteRange their ranges; the functions
// named ...Untracked do not. An operation on
// a family without a handle (null) is for the default family.
//
// A deleted transaction that was not committed is rolled back, unless it is prepared. One thread at a time; a call that
// meets another call of the same transaction returns InvalidArgument. Delete transactions before their database. After
// Commit has returned OK, every call returns InvalidArgument, or does nothing; a transaction that was rolled back can
// be used again, and keeps its snapshot.
class Transaction {
 public:
  Transaction() = default;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  virtual ~Transaction() = default;

  // ---- Snapshots ----
  // Takes a snapshot now. From now on a key conflicts if it was written after this snapshot.
  virtual void SetSnapshot() = 0;
  // Takes it at the next call that writes or tracks, or at Commit, and calls the notifier, if there is one.
  virtual void SetSnapshotOnNextOperation(std::shared_ptr<TransactionNotifier> notifier = nullptr) = 0;
  // Null if there is none. Valid until the snapshot is replaced or cleared, or the transaction ends.
  [[nodiscard]] virtual const Snapshot* GetSnapshot() const = 0;
  virtual void ClearSnapshot() = 0;

  // ---- The end ----
  // OK: the writes are in the database, and durable if WriteOptions::sync is set. After an error they are not (unless a
  // sync has failed: see db.h), and the transaction can be rolled back; after Busy or TryAgain the same work may
  // succeed in a new transaction.
  //   Busy          a tracked key, or a key in a tracked range, was written by others; the message names it
  //   TryAgain      whether a key was written is not known any more (see OptimisticTransactionDB)
  //   Expired       the transaction's expiration has passed (pessimistic)
  // Other errors are those of DB::Write.
  virtual Status Commit() = 0;
  // The first of two phases (TransactionDB only; the transaction needs a name). After OK, neither others nor a crash
  // make Commit fail: the writes and locks are recorded in the database, durably if WriteOptions::sync is set. If
  // Commit fails all the same (no space, say), the transaction is still prepared. It does not expire any more, and can
  // only be read, committed or rolled back. It remains prepared, and its keys locked, until then: also if it is
  // deleted, the database is closed, or the process ends. The next TransactionDB::Open finds it again: see
  // GetAllPreparedTransactions. After an error it is not prepared (unless a sync has failed: see db.h).
  //   InvalidArgument   no name; optimistic; Commit could not write the batch, because it is too large, for example
  //   Expired           the transaction's expiration has passed
  // Other errors are those of DB::Write. The first Prepare of a database creates the column family "cambium.prepared".
  virtual Status Prepare() = 0;
  // Discards all writes and save points, and forgets all tracked keys, or unlocks them. The snapshot remains. Of a
  // prepared transaction it also removes the record, by a write with the transaction's WriteOptions: after an error the
  // transaction is still prepared.
  virtual Status Rollback() = 0;

  // A rollback to a save point discards what was done since, the tracking or locking of keys included; but a lock that
  // has become exclusive stays so, and writes that were not indexed are read from then on. NotFound without a save
  // point.
  virtual void SetSavePoint() = 0;
  virtual Status RollbackToSavePoint() = 0;
  virtual Status PopSavePoint() = 0;

  // ---- Reading ----
  // Read the transaction's own writes, above what `options` read. TransactionOptions::read_at_snapshot says what that
  // is if options.snapshot is null.
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::string* value) = 0;
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, PinnableSlice* value) = 0;
  Status Get(const ReadOptions& options, Slice key, std::string* value) { return Get(options, nullptr, key, value); }
  Status Get(const ReadOptions& options, Slice key, PinnableSlice* value) { return Get(options, nullptr, key, value); }
  virtual void MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, std::size_t count, const Slice* keys,
                        PinnableSlice* values, Status* statuses) = 0;
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                               const std::vector<Slice>& keys, std::vector<std::string>* values);
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values);

  // Tracks the key, then reads it. `value` may be null: then the key is only tracked, and the result is OK whether it
  // exists or not. Pessimistic transactions: with `exclusive`, no other transaction may track the key meanwhile;
  // without it, others may track it too, but not exclusively. Without `do_validate`, what others have written since the
  // snapshot is no conflict; options.snapshot must then be null. InvalidArgument: with durable_only, and if
  // options.snapshot is older than what Commit looks at.
  virtual Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::string* value,
                              bool exclusive = true, bool do_validate = true) = 0;
  virtual Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, PinnableSlice* value,
                              bool exclusive = true, bool do_validate = true) = 0;
  Status GetForUpdate(const ReadOptions& options, Slice key, std::string* value, bool exclusive = true,
                      bool do_validate = true) {
    return GetForUpdate(options, nullptr, key, value, exclusive, do_validate);
  }
  Status GetForUpdate(const ReadOptions& options, Slice key, PinnableSlice* value, bool exclusive = true,
                      bool do_validate = true) {
    return GetForUpdate(options, nullptr, key, value, exclusive, do_validate);
  }
  std::vector<Status> MultiGetForUpdate(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                                        const std::vector<Slice>& keys, std::vector<std::string>* values);
  // An iterator over the family with the transaction's writes applied. The caller deletes it before the transaction
  // ends. It does not track the keys that it shows.
  virtual Iterator* GetIterator(const ReadOptions& options, ColumnFamilyHandle* family) = 0;
  Iterator* GetIterator(const ReadOptions& options) { return GetIterator(options, nullptr); }
  // Tracks the keys in [begin, end), those that do not exist included: what a scan of the range shows is the same when
  // the transaction commits. nullopt: no bound on this side. Call it before the scan. Nothing in RocksDB corresponds.
  //
  //   optimistic    Commit returns Busy, and names a key, if others have put or deleted a key in the range since it was
  //                 tracked, or since the transaction's snapshot if there is one; also if a range delete overlaps it.
  //                 TryAgain if so much was written since that this is not known: see OptimisticTransactionDB
  //   pessimistic   takes a shared lock of the range, as GetForUpdate does of a key: until the transaction ends, others
  //                 may read and track the range, but not write in it. Waits and fails as a lock of a key does
  //
  // InvalidArgument if begin is greater than end. An empty range tracks nothing. UndoGetForUpdate does not change
  // ranges; RollbackToSavePoint forgets those that were tracked since.
  virtual Status TrackRange(ColumnFamilyHandle* family, std::optional<Slice> begin, std::optional<Slice> end) = 0;
  Status TrackRange(std::optional<Slice> begin, std::optional<Slice> end) { return TrackRange(nullptr, begin, end); }
  // Locks the keys from `start` to `end`, both included, exclusively: others may neither write nor track a key of the
  // range. With a snapshot, returns Busy if one was written since. Waits and fails as a lock of a key does.
  // NotSupported: the transaction is optimistic. InvalidArgument: `start` is behind `end`, or inf_suffix is set for a
  // slice that is not empty in a family whose comparator is not BytewiseComparator(): in its order keys with a common
  // beginning are neighbours.
  virtual Status GetRangeLock(ColumnFamilyHandle* family, const Endpoint& start, const Endpoint& end) = 0;

  // ---- Writing ----
  // With `assume_tracked` the key is tracked already, by GetForUpdate for example; InvalidArgument if it is not.
  virtual Status Put(ColumnFamilyHandle* family, Slice key, Slice value, bool assume_tracked = false) = 0;
  Status Put(Slice key, Slice value) { return Put(nullptr, key, value); }
  virtual Status Delete(ColumnFamilyHandle* family, Slice key, bool assume_tracked = false) = 0;
  Status Delete(Slice key) { return Delete(nullptr, key); }
  virtual Status SingleDelete(ColumnFamilyHandle* family, Slice key, bool assume_tracked = false) = 0;
  Status SingleDelete(Slice key) { return SingleDelete(nullptr, key); }
  // Deletes the keys in [begin, end), as they are when the transaction commits, and those that it has written; its
  // later reads see it. Tracks the range; pessimistic transactions lock it exclusively. InvalidArgument if begin is
  // greater than end.
  virtual Status DeleteRange(ColumnFamilyHandle* family, Slice begin, Slice end) = 0;
  Status DeleteRange(Slice begin, Slice end) { return DeleteRange(nullptr, begin, end); }
  // For pessimistic transactions these lock their keys too, but do not compare them with the snapshot.
  virtual Status PutUntracked(ColumnFamilyHandle* family, Slice key, Slice value) = 0;
  Status PutUntracked(Slice key, Slice value) { return PutUntracked(nullptr, key, value); }
  virtual Status DeleteUntracked(ColumnFamilyHandle* family, Slice key) = 0;
  Status DeleteUntracked(Slice key) { return DeleteUntracked(nullptr, key); }
  virtual Status SingleDeleteUntracked(ColumnFamilyHandle* family, Slice key) = 0;
  Status SingleDeleteUntracked(Slice key) { return SingleDeleteUntracked(nullptr, key); }
  // Adds the operations of `batch` as if they were made one by one.
  virtual Status RebuildFromWriteBatch(WriteBatch* batch) = 0;
  // Undoes one GetForUpdate of the key. A key that no other operation of the transaction tracks is then no longer
  // tracked.
  virtual void UndoGetForUpdate(ColumnFamilyHandle* family, Slice key) = 0;
  void UndoGetForUpdate(Slice key) { UndoGetForUpdate(nullptr, key); }

  // Between the two, writes are not indexed: Commit writes them, but reads of this transaction do not see them.
  virtual void DisableIndexing() = 0;
  virtual void EnableIndexing() = 0;

  // ---- Figures and settings ----
  [[nodiscard]] virtual std::uint64_t GetNumKeys() const = 0;  // that are tracked one by one
  [[nodiscard]] virtual std::uint64_t GetNumPuts() const = 0;
  [[nodiscard]] virtual std::uint64_t GetNumDeletes() const = 0;
  [[nodiscard]] virtual std::uint64_t GetElapsedTime() const = 0;  // milliseconds since it began
  // The writes so far. A write added to it directly is committed, but not tracked. It must not change after Prepare.
  virtual WriteBatchWithIndex* GetWriteBatch() = 0;
  [[nodiscard]] virtual WriteOptions* GetWriteOptions() = 0;
  virtual void SetWriteOptions(const WriteOptions& options) = 0;
  // How long a call waits for a lock, in milliseconds; negative: without limit. No effect on optimistic ones.
  virtual void SetLockTimeout(std::int64_t milliseconds) = 0;

  // InvalidArgument if a transaction that has not ended has the name, or if this one has a name. Names have 1 to 511
  // bytes. Only for pessimistic transactions.
  virtual Status SetName(const TransactionName& name) = 0;
  [[nodiscard]] virtual TransactionName GetName() const = 0;
  [[nodiscard]] virtual TransactionID GetID() const = 0;
  [[nodiscard]] virtual bool IsDeadlockDetect() const { return false; }
  // The transactions that this one waits for; *family and *key say for which lock. Empty if it does not wait. Any
  // thread.
  [[nodiscard]] virtual std::vector<TransactionID> GetWaitingTxns(std::uint32_t* family, std::string* key) const = 0;

  enum TransactionState : unsigned char {
    STARTED = 0,
    AWAITING_PREPARE = 1,
    PREPARED = 2,
    AWAITING_COMMIT = 3,
    COMMITTED = 4,
    AWAITING_ROLLBACK = 5,
    ROLLEDBACK = 6,
    LOCKS_STOLEN = 7,  // it has expired, and another transaction has taken one of its locks
  };
  [[nodiscard]] virtual TransactionState GetState() const = 0;
};

}  // namespace cambium
