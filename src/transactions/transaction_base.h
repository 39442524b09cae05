// TransactionBase: what both kinds of transactions have: the batch, snapshots, save points, tracked keys.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/db_inside.h"
#include "cambium/transaction.h"
#include "state/write_history.h"
#include "transactions/key_range.h"
#include "transactions/tracked_keys.h"

namespace cambium {

// A snapshot that a transaction shares with its save points.
using SharedSnapshot = std::shared_ptr<ManagedSnapshot>;

// A range that a transaction tracks.
struct TrackedRange {
  std::shared_ptr<Family> family;
  KeyRange range;
  SequenceNumber since = 0;  // as in TrackedKey
  bool exclusive = false;
  std::uint64_t lock = 0;    // of a pessimistic transaction: its number in KeyLocks
};

class TransactionBase : public Transaction {
 public:
  ~TransactionBase() override;

  using Transaction::Delete;
  using Transaction::DeleteRange;
  using Transaction::DeleteUntracked;
  using Transaction::Get;
  using Transaction::GetForUpdate;
  using Transaction::GetIterator;
  using Transaction::MultiGet;
  using Transaction::Put;
  using Transaction::PutUntracked;
  using Transaction::SingleDelete;
  using Transaction::SingleDeleteUntracked;
  using Transaction::TrackRange;
  using Transaction::UndoGetForUpdate;

  void SetSnapshot() override;
  void SetSnapshotOnNextOperation(std::shared_ptr<TransactionNotifier> notifier) override;
  [[nodiscard]] const Snapshot* GetSnapshot() const override {
    return snapshot_ == nullptr ? nullptr : snapshot_->snapshot();
  }
  void ClearSnapshot() override;
  Status Commit() override;
  Status Prepare() override;
  Status Rollback() override;
  void SetSavePoint() override;
  Status RollbackToSavePoint() override;
  Status PopSavePoint() override;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::string* value) override;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, PinnableSlice* value) override;
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, std::size_t count, const Slice* keys,
                PinnableSlice* values, Status* statuses) override;
  Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::string* value,
                      bool exclusive, bool do_validate) override;
  Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, PinnableSlice* value,
                      bool exclusive, bool do_validate) override;
  Iterator* GetIterator(const ReadOptions& options, ColumnFamilyHandle* family) override;
  Status TrackRange(ColumnFamilyHandle* family, std::optional<Slice> begin, std::optional<Slice> end) override;
  Status GetRangeLock(ColumnFamilyHandle* family, const Endpoint& start, const Endpoint& end) override;
  Status Put(ColumnFamilyHandle* family, Slice key, Slice value, bool assume_tracked) override;
  Status Delete(ColumnFamilyHandle* family, Slice key, bool assume_tracked) override;
  Status SingleDelete(ColumnFamilyHandle* family, Slice key, bool assume_tracked) override;
  Status DeleteRange(ColumnFamilyHandle* family, Slice begin, Slice end) override;
  Status PutUntracked(ColumnFamilyHandle* family, Slice key, Slice value) override;
  Status DeleteUntracked(ColumnFamilyHandle* family, Slice key) override;
  Status SingleDeleteUntracked(ColumnFamilyHandle* family, Slice key) override;
  Status RebuildFromWriteBatch(WriteBatch* batch) override;
  void UndoGetForUpdate(ColumnFamilyHandle* family, Slice key) override;
  void DisableIndexing() override { batch_.SetIndexing(false); }
  void EnableIndexing() override { batch_.SetIndexing(true); }
  [[nodiscard]] std::uint64_t GetNumKeys() const override { return tracked_.count(); }
  [[nodiscard]] std::uint64_t GetNumPuts() const override { return counts_.puts; }
  [[nodiscard]] std::uint64_t GetNumDeletes() const override { return counts_.deletes; }
  [[nodiscard]] std::uint64_t GetElapsedTime() const override { return (NowMicros() - began_) / 1000; }
  WriteBatchWithIndex* GetWriteBatch() override { return &batch_; }
  [[nodiscard]] WriteOptions* GetWriteOptions() override { return &write_options_; }
  void SetWriteOptions(const WriteOptions& options) override { write_options_ = options; }
  Status SetName(const TransactionName& name) override;
  [[nodiscard]] TransactionName GetName() const override { return {}; }
  [[nodiscard]] TransactionID GetID() const override { return id_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::vector<TransactionID> GetWaitingTxns(std::uint32_t* family, std::string* key) const override;
  [[nodiscard]] TransactionState GetState() const override { return state_.load(std::memory_order_acquire); }

 protected:
  explicit TransactionBase(DbInside* inside);

  // What a call does with its key.
  struct KeyUse {
    bool writes = false;
    bool exclusive = true;
    bool validates = true;  // compares with the snapshot
    bool assumes_tracked = false;
  };
  // Tracks the key, or locks it, unless that has been done.
  virtual Status Track(const std::shared_ptr<Family>& family, const std::string& key, const KeyUse& use) = 0;
  // The key is not tracked any more.
  virtual void Untrack(const Family& family, const std::string& key) = 0;
  // Fills in `since` and `lock` of the range, which is not empty: tracks it, or locks it.
  virtual Status TrackNew(TrackedRange* range) = 0;
  // Whether ranges can be locked.
  [[nodiscard]] virtual bool LocksRanges() const { return false; }
  // The range is not tracked any more.
  virtual void Untrack(const TrackedRange& range) = 0;
  // Writes the batch, if there are no conflicts.
  virtual Status CommitBatch() = 0;
  // Makes the transaction prepared.
  virtual Status PrepareBatch() = 0;
  // Called by the rollback of a prepared transaction, before it discards the writes: removes what PrepareBatch has
  // written.
  virtual Status Withdraw() { return Status::OK(); }
  virtual Status SetNameTo(const TransactionName& name) = 0;
  // After a commit or rollback: nothing is tracked any more. Called with tracked_ and ranges_ as they were.
  virtual void UntrackAll() = 0;
  // OK if what it has read and locked still holds.
  [[nodiscard]] virtual Status CheckAlive() const { return Status::OK(); }

  // The transaction begins, for the first time or again.
  void Begin(const WriteOptions& options, bool set_snapshot, bool read_at_snapshot, std::size_t max_batch_bytes);
  // The history keeps what is written from now on. Returns the newest operation before.
  SequenceNumber StartWatching();
  // Adds the use to the tracked keys. `since` as in TrackedKey.
  void Note(const std::shared_ptr<Family>& family, const std::string& key, SequenceNumber since, const KeyUse& use);
  // Tracks the range, unless a range that is tracked includes it.
  Status AddRange(std::shared_ptr<Family> family, KeyRange range, bool exclusive);
  [[nodiscard]] std::uint64_t NowMicros() const;
  void TakeSnapshotIfDue();

  struct Counts {
    std::uint64_t puts = 0;
    std::uint64_t deletes = 0;
  };

  DbInside& inside_;
  DB& db_;
  WriteBatchWithIndex batch_;
  WriteOptions write_options_;
  TrackedKeys tracked_;
  std::vector<TrackedRange> ranges_;  // in the order of the calls
  Counts counts_;
  SharedSnapshot snapshot_;
  std::atomic<TransactionState> state_{STARTED};
  std::atomic<TransactionID> id_{0};  // a new one at each begin
  std::uint64_t began_ = 0;           // microseconds of the clock

 private:
  // What a call does, and so in which states it is possible.
  enum class Does : unsigned char { kReadsOrEnds, kChanges };
  // Held during a call, so that a call of another thread is noticed.
  class Call;
  struct SavePoint {
    SharedSnapshot snapshot;
    bool snapshot_is_due;
    std::shared_ptr<TransactionNotifier> notifier;
    Counts counts;
    TrackedKeys since_then;   // how often keys were read and written after it
    std::size_t range_count;  // how many ranges were tracked before it
  };
  // Tracks the key, adds the operation to the batch by `add`, and counts it.
  template <typename Add>
  Status WriteKey(ColumnFamilyHandle* handle, Slice key, const KeyUse& use, std::uint64_t Counts::*counter, Add add);
  template <typename Value>
  Status TrackAndGet(const ReadOptions& options, ColumnFamilyHandle* handle, Slice key, Value* value, bool exclusive,
                     bool validates);
  // The operation after which the key must not be written, as tracked; 0 if it is not compared.
  [[nodiscard]] SequenceNumber ComparedSince(const Family& family, const std::string& key);
  [[nodiscard]] ReadOptions AtSnapshot(const ReadOptions& options) const;
  // Removes all writes, save points and tracked keys. Keeps the snapshot.
  void Discard();
  // Without a snapshot and without tracked keys, the history is not needed.
  void StopWatchingIfIdle();
  // Forgets the ranges from the one of this index on.
  void ForgetRanges(std::size_t first);
  // The keys that were tracked after the save point lose these uses.
  void Forget(const TrackedKeys& uses);

  std::unique_ptr<WriteHistory::Mark> mark_;  // since the first snapshot, or the first tracked key that is compared
  bool reads_at_snapshot_ = true;
  bool snapshot_is_due_ = false;
  std::shared_ptr<TransactionNotifier> notifier_;
  std::vector<SavePoint> save_points_;
  std::atomic<bool> is_in_call_{false};
};

}  // namespace cambium
