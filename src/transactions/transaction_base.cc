#include "transactions/transaction_base.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <utility>

#include "read/empty_iterator.h"
#include "util/mutant.h"

namespace cambium {
namespace {

TransactionID NextId() {
  static std::atomic<TransactionID> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

class TransactionBase::Call {
 public:
  // Sets *status if the call must fail.
  Call(TransactionBase* transaction, Status* status, Does does = Does::kReadsOrEnds) : transaction_(*transaction) {
    if (transaction_.is_in_call_.exchange(true, std::memory_order_acquire)) {
      *status = Status::InvalidArgument("the transaction is used by two threads at once");
      return;
    }
    is_first_ = true;
    *status = transaction_.inside_.CheckUsable();
    if (status->ok() && transaction_.GetState() == COMMITTED) {
      *status = Status::InvalidArgument("the transaction has been committed");
    }
    if (status->ok() && does == Does::kChanges && transaction_.GetState() == PREPARED) {
      *status = Status::InvalidArgument("the transaction is prepared: it can only be read, committed or rolled back");
    }
  }
  ~Call() {
    if (is_first_) transaction_.is_in_call_.store(false, std::memory_order_release);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  TransactionBase& transaction_;
  bool is_first_ = false;
};

TransactionBase::TransactionBase(DbInside* inside)
    : inside_(*inside),
      db_(inside->db()),
      batch_(db_.DefaultColumnFamily()->GetComparator(), 0, /*overwrite_key=*/true) {
  inside_.CountTransaction(1);
}

TransactionBase::~TransactionBase() {
  if (!inside_.IsOfThisProcess()) static_cast<void>(mark_.release());  // in a forked child a lock may be held for ever
  inside_.CountTransaction(-1);
}

void TransactionBase::Begin(const WriteOptions& options, bool set_snapshot, bool read_at_snapshot,
                            std::size_t max_batch_bytes) {
  Discard();
  ClearSnapshot();
  EnableIndexing();
  id_.store(NextId(), std::memory_order_relaxed);
  write_options_ = options;
  reads_at_snapshot_ = read_at_snapshot;
  batch_.SetMaxBytes(max_batch_bytes);
  began_ = NowMicros();
  state_.store(STARTED, std::memory_order_release);
  if (set_snapshot) SetSnapshot();
}

std::uint64_t TransactionBase::NowMicros() const { return inside_.GetClock()->NowMicros(); }

// ---- Snapshots ----

SequenceNumber TransactionBase::StartWatching() {
  if (mark_ != nullptr) return db_.GetLatestSequenceNumber();
  mark_ = std::make_unique<WriteHistory::Mark>(inside_.history());
  const SequenceNumber since = db_.GetLatestSequenceNumber();
  mark_->StartAt(since);
  return since;
}

void TransactionBase::SetSnapshot() {
  StartWatching();  // before, so that nothing that is written after the snapshot is forgotten
  snapshot_ = std::make_shared<ManagedSnapshot>(&db_);
  snapshot_is_due_ = false;
  notifier_ = nullptr;
}

void TransactionBase::SetSnapshotOnNextOperation(std::shared_ptr<TransactionNotifier> notifier) {
  snapshot_is_due_ = true;
  notifier_ = std::move(notifier);
}

void TransactionBase::TakeSnapshotIfDue() {
  if (!snapshot_is_due_) return;
  const std::shared_ptr<TransactionNotifier> notifier = notifier_;
  SetSnapshot();
  if (notifier != nullptr) notifier->SnapshotCreated(GetSnapshot());
}

void TransactionBase::ClearSnapshot() {
  snapshot_ = nullptr;
  snapshot_is_due_ = false;
  notifier_ = nullptr;
  StopWatchingIfIdle();
}

void TransactionBase::StopWatchingIfIdle() {
  if (snapshot_ == nullptr && tracked_.empty() && ranges_.empty()) mark_ = nullptr;
}

ReadOptions TransactionBase::AtSnapshot(const ReadOptions& options) const {
  ReadOptions its = options;
  if (reads_at_snapshot_ && its.snapshot == nullptr && !its.durable_only) its.snapshot = GetSnapshot();
  return its;
}

// ---- The end ----

Status TransactionBase::Prepare() {
  Status s;
  const Call call(this, &s, Does::kChanges);
  CAMBIUM_RETURN_IF_ERROR(s);
  WriteBatch& batch = *batch_.GetWriteBatch();
  CAMBIUM_RETURN_IF_ERROR(batch.status());
  if (!batch.IsFor(inside_.database_id())) {
    return Status::InvalidArgument("the write batch has column families of another database");
  }
  return PrepareBatch();
}

Status TransactionBase::SetName(const TransactionName& name) {
  Status s;
  const Call call(this, &s, Does::kChanges);
  CAMBIUM_RETURN_IF_ERROR(s);
  return SetNameTo(name);
}

Status TransactionBase::Commit() {
  Status s;
  const Call call(this, &s);
  CAMBIUM_RETURN_IF_ERROR(s);
  TakeSnapshotIfDue();
  CAMBIUM_RETURN_IF_ERROR(CommitBatch());
  state_.store(COMMITTED, std::memory_order_release);
  Discard();
  ClearSnapshot();
  return Status::OK();
}

Status TransactionBase::Rollback() {
  Status s;
  const Call call(this, &s);
  CAMBIUM_RETURN_IF_ERROR(s);
  const bool was_prepared = GetState() == PREPARED;
  if (was_prepared) CAMBIUM_RETURN_IF_ERROR(Withdraw());
  Discard();
  // After the unlock, because a prepared transaction keeps its locks.
  if (was_prepared) state_.store(STARTED, std::memory_order_release);
  return Status::OK();
}

void TransactionBase::Discard() {
  UntrackAll();
  tracked_.Clear();
  ranges_.clear();
  save_points_.clear();
  batch_.Clear();
  counts_ = {};
  StopWatchingIfIdle();
}

// ---- Save points ----

void TransactionBase::SetSavePoint() {
  Status s;
  const Call call(this, &s, Does::kChanges);
  if (!s.ok()) return;
  save_points_.push_back({snapshot_, snapshot_is_due_, notifier_, counts_, {}, ranges_.size()});
  try {
    batch_.SetSavePoint();
  } catch (...) {
    save_points_.pop_back();
    throw;
  }
}

Status TransactionBase::RollbackToSavePoint() {
  Status s;
  const Call call(this, &s, Does::kChanges);
  CAMBIUM_RETURN_IF_ERROR(s);
  if (save_points_.empty()) return Status::NotFound("no save point");
  CAMBIUM_RETURN_IF_ERROR(batch_.RollbackToSavePoint());
  SavePoint& to = save_points_.back();
  snapshot_ = to.snapshot;
  snapshot_is_due_ = to.snapshot_is_due;
  notifier_ = to.notifier;
  counts_ = to.counts;
  Forget(to.since_then);
  if (!MutantIs(Mutant::kSavePointsKeepRanges)) ForgetRanges(to.range_count);
  save_points_.pop_back();
  StopWatchingIfIdle();
  return Status::OK();
}

Status TransactionBase::PopSavePoint() {
  Status s;
  const Call call(this, &s, Does::kChanges);
  CAMBIUM_RETURN_IF_ERROR(s);
  if (save_points_.empty()) return Status::NotFound("no save point");
  const TrackedKeys& uses = save_points_.back().since_then;
  if (save_points_.size() > 1) {
    TrackedKeys& outer = save_points_[save_points_.size() - 2].since_then;
    // All entries first, so that nothing has changed if memory runs out.
    for (const auto& [id, its] : uses.families()) {
      for (const auto& [key, use] : its.keys) outer.Entry(its.family, key);
    }
    for (const auto& [id, its] : uses.families()) {
      for (const auto& [key, use] : its.keys) {
        TrackedKey& entry = *outer.Find(id, key);
        entry.reads += use.reads;
        entry.writes += use.writes;
      }
    }
  }
  save_points_.pop_back();
  return batch_.PopSavePoint();
}

void TransactionBase::Forget(const TrackedKeys& uses) {
  for (const auto& [id, its] : uses.families()) {
    for (const auto& [key, use] : its.keys) {
      TrackedKey* const entry = tracked_.Find(id, key);
      if (entry == nullptr) continue;
      assert(entry->reads >= use.reads && entry->writes >= use.writes);
      entry->reads -= use.reads;
      entry->writes -= use.writes;
      if (entry->reads + entry->writes > 0) continue;
      Untrack(*its.family, key);
      tracked_.Erase(id, key);
    }
  }
}

void TransactionBase::ForgetRanges(std::size_t first) {
  while (ranges_.size() > first) {
    Untrack(ranges_.back());
    ranges_.pop_back();
  }
}

void TransactionBase::Note(const std::shared_ptr<Family>& family, const std::string& key, SequenceNumber since,
                           const KeyUse& use) {
  TrackedKey& entry = tracked_.Entry(family, key);
  const bool is_new = entry.reads + entry.writes == 0;
  TrackedKey* later = nullptr;
  try {
    if (!save_points_.empty()) later = &save_points_.back().since_then.Entry(family, key);
  } catch (...) {
    if (is_new) tracked_.Erase(family->id, key);
    throw;
  }
  entry.since = is_new ? since : std::min(entry.since, since);
  entry.exclusive = entry.exclusive || use.exclusive;
  ++(use.writes ? entry.writes : entry.reads);
  if (later != nullptr) ++(use.writes ? later->writes : later->reads);
}

void TransactionBase::UndoGetForUpdate(ColumnFamilyHandle* handle, Slice slice) {
  Status s;
  const Call call(this, &s, Does::kChanges);
  if (!s.ok()) return;
  const Result<std::shared_ptr<Family>> family = inside_.SharedFamilyOf(handle);
  if (!family.ok()) return;
  const std::string key = slice.ToString();
  TrackedKey* const entry = tracked_.Find((*family)->id, key);
  if (entry == nullptr || entry->reads == 0) return;
  if (!save_points_.empty()) {
    // What was tracked before the save point stays, because a rollback must find it.
    TrackedKey* const later = save_points_.back().since_then.Find((*family)->id, key);
    if (later == nullptr || later->reads == 0) return;
    --later->reads;
  }
  --entry->reads;
  if (entry->reads + entry->writes > 0) return;
  Untrack(**family, key);
  tracked_.Erase((*family)->id, key);
  StopWatchingIfIdle();
}

// ---- Reads ----

Status TransactionBase::Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::string* value) {
  Status s;
  const Call call(this, &s);
  CAMBIUM_RETURN_IF_ERROR(s);
  CAMBIUM_RETURN_IF_ERROR(inside_.SharedFamilyOf(family).status());
  return batch_.GetFromBatchAndDB(&db_, AtSnapshot(options), family, key, value);
}

Status TransactionBase::Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, PinnableSlice* value) {
  Status s;
  const Call call(this, &s);
  CAMBIUM_RETURN_IF_ERROR(s);
  CAMBIUM_RETURN_IF_ERROR(inside_.SharedFamilyOf(family).status());
  return batch_.GetFromBatchAndDB(&db_, AtSnapshot(options), family, key, value);
}

void TransactionBase::MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, std::size_t count,
                               const Slice* keys, PinnableSlice* values, Status* statuses) {
  Status s;
  const Call call(this, &s);
  if (s.ok()) s = inside_.SharedFamilyOf(family).status();
  if (!s.ok()) return std::fill_n(statuses, count, s), void();
  batch_.MultiGetFromBatchAndDB(&db_, AtSnapshot(options), family, count, keys, values, statuses);
}

template <typename Value>
Status TransactionBase::TrackAndGet(const ReadOptions& options, ColumnFamilyHandle* handle, Slice key, Value* value,
                                    bool exclusive, bool validates) {
  Status s;
  const Call call(this, &s, Does::kChanges);
  CAMBIUM_RETURN_IF_ERROR(s);
  if (!validates && options.snapshot != nullptr) {
    return Status::InvalidArgument("GetForUpdate without do_validate reads the newest state, not a snapshot");
  }
  if (options.durable_only) {
    return Status::InvalidArgument("GetForUpdate reads the newest state or a snapshot, not the durable state");
  }
  CAMBIUM_TRY(const std::shared_ptr<Family> family, inside_.SharedFamilyOf(handle));
  TakeSnapshotIfDue();
  CAMBIUM_RETURN_IF_ERROR(Track(family, key.ToString(), {.exclusive = exclusive, .validates = validates}));
  if (options.snapshot != nullptr && options.snapshot->GetSequenceNumber() < ComparedSince(*family, key.ToString())) {
    return Status::InvalidArgument("GetForUpdate would read at a snapshot that is older than what Commit looks at");
  }
  if (value == nullptr) return Status::OK();
  Status read = batch_.GetFromBatchAndDB(&db_, validates ? AtSnapshot(options) : options, handle, key, value);
  CAMBIUM_RETURN_IF_ERROR(CheckAlive());
  return read;
}

SequenceNumber TransactionBase::ComparedSince(const Family& family, const std::string& key) {
  const TrackedKey* const tracked = tracked_.Find(family.id, key);
  return tracked == nullptr || tracked->since == kMaxSequenceNumber ? 0 : tracked->since;
}

Status TransactionBase::GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, Slice key,
                                     std::string* value, bool exclusive, bool do_validate) {
  return TrackAndGet(options, family, key, value, exclusive, do_validate);
}

Status TransactionBase::GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, Slice key,
                                     PinnableSlice* value, bool exclusive, bool do_validate) {
  return TrackAndGet(options, family, key, value, exclusive, do_validate);
}

Iterator* TransactionBase::GetIterator(const ReadOptions& options, ColumnFamilyHandle* family) {
  Status s;
  const Call call(this, &s);
  if (s.ok()) s = inside_.SharedFamilyOf(family).status();
  if (!s.ok()) return new EmptyIterator(s);
  const ReadOptions its = AtSnapshot(options);
  ColumnFamilyHandle* const handle = family == nullptr ? db_.DefaultColumnFamily() : family;
  return batch_.NewIteratorWithBase(family, db_.NewIterator(its, handle), &its);
}

// ---- Ranges ----

Status TransactionBase::AddRange(std::shared_ptr<Family> family, KeyRange range, bool exclusive) {
  const Comparator& order = *family->options().comparator;
  const int ends = Compare(order, range.from, range.to);
  if (ends > 0) return Status::InvalidArgument("the range " + range.ForMessage() + " ends before it begins");
  TakeSnapshotIfDue();
  if (ends == 0) return Status::OK();
  const SequenceNumber since_max = GetSnapshot() == nullptr ? kMaxSequenceNumber : GetSnapshot()->GetSequenceNumber();
  for (const TrackedRange& each : ranges_) {
    const bool is_enough = each.family == family && each.since <= since_max && (each.exclusive || !exclusive);
    if (is_enough && each.range.HasAllOf(order, range)) return CheckAlive();
  }
  ranges_.push_back({std::move(family), std::move(range), 0, exclusive});
  Status tracked;
  try {
    tracked = TrackNew(&ranges_.back());
  } catch (...) {
    ranges_.pop_back();
    throw;
  }
  if (!tracked.ok()) ranges_.pop_back();
  return tracked;
}

Status TransactionBase::TrackRange(ColumnFamilyHandle* family, std::optional<Slice> begin, std::optional<Slice> end) {
  Status s;
  const Call call(this, &s, Does::kChanges);
  CAMBIUM_RETURN_IF_ERROR(s);
  CAMBIUM_TRY(std::shared_ptr<Family> its, inside_.SharedFamilyOf(family));
  return AddRange(std::move(its), KeyRange::Of(begin, end), /*exclusive=*/false);
}

Status TransactionBase::GetRangeLock(ColumnFamilyHandle* family, const Endpoint& start, const Endpoint& end) {
  Status s;
  const Call call(this, &s, Does::kChanges);
  CAMBIUM_RETURN_IF_ERROR(s);
  if (!LocksRanges()) return Status::NotSupported("optimistic transactions lock nothing; TrackRange tracks a range");
  CAMBIUM_TRY(std::shared_ptr<Family> its, inside_.SharedFamilyOf(family));
  CAMBIUM_TRY(KeyRange range, KeyRange::Between(*its->options().comparator, start, end));
  return AddRange(std::move(its), std::move(range), /*exclusive=*/true);
}

std::vector<TransactionID> TransactionBase::GetWaitingTxns(std::uint32_t*, std::string*) const { return {}; }

// ---- Writes ----

template <typename Add>
Status TransactionBase::WriteKey(ColumnFamilyHandle* handle, Slice key, const KeyUse& use,
                                 std::uint64_t Counts::*counter, Add add) {
  Status s;
  const Call call(this, &s, Does::kChanges);
  CAMBIUM_RETURN_IF_ERROR(s);
  CAMBIUM_TRY(const std::shared_ptr<Family> family, inside_.SharedFamilyOf(handle));
  TakeSnapshotIfDue();
  CAMBIUM_RETURN_IF_ERROR(Track(family, key.ToString(), use));
  CAMBIUM_RETURN_IF_ERROR(add());
  ++(counts_.*counter);
  return Status::OK();
}

Status TransactionBase::Put(ColumnFamilyHandle* family, Slice key, Slice value, bool assume_tracked) {
  return WriteKey(family, key, {.writes = true, .assumes_tracked = assume_tracked}, &Counts::puts,
                  [&] { return batch_.Put(family, key, value); });
}

Status TransactionBase::Delete(ColumnFamilyHandle* family, Slice key, bool assume_tracked) {
  return WriteKey(family, key, {.writes = true, .assumes_tracked = assume_tracked}, &Counts::deletes,
                  [&] { return batch_.Delete(family, key); });
}

Status TransactionBase::SingleDelete(ColumnFamilyHandle* family, Slice key, bool assume_tracked) {
  return WriteKey(family, key, {.writes = true, .assumes_tracked = assume_tracked}, &Counts::deletes,
                  [&] { return batch_.SingleDelete(family, key); });
}

Status TransactionBase::DeleteRange(ColumnFamilyHandle* family, Slice begin, Slice end) {
  Status s;
  const Call call(this, &s, Does::kChanges);
  CAMBIUM_RETURN_IF_ERROR(s);
  CAMBIUM_TRY(std::shared_ptr<Family> its, inside_.SharedFamilyOf(family));
  KeyRange range = KeyRange::Of(begin, end);
  const bool is_empty = range.IsEmpty(*its->options().comparator);
  if (!MutantIs(Mutant::kDeleteRangeLocksNothing)) {
    CAMBIUM_RETURN_IF_ERROR(AddRange(std::move(its), std::move(range), /*exclusive=*/true));
  }
  if (is_empty) return Status::OK();
  CAMBIUM_RETURN_IF_ERROR(batch_.DeleteRange(family, begin, end));
  ++counts_.deletes;
  return Status::OK();
}

Status TransactionBase::PutUntracked(ColumnFamilyHandle* family, Slice key, Slice value) {
  return WriteKey(family, key, {.writes = true, .validates = false}, &Counts::puts,
                  [&] { return batch_.Put(family, key, value); });
}

Status TransactionBase::DeleteUntracked(ColumnFamilyHandle* family, Slice key) {
  return WriteKey(family, key, {.writes = true, .validates = false}, &Counts::deletes,
                  [&] { return batch_.Delete(family, key); });
}

Status TransactionBase::SingleDeleteUntracked(ColumnFamilyHandle* family, Slice key) {
  return WriteKey(family, key, {.writes = true, .validates = false}, &Counts::deletes,
                  [&] { return batch_.SingleDelete(family, key); });
}

Status TransactionBase::RebuildFromWriteBatch(WriteBatch* batch) {
  if (batch == nullptr) return Status::InvalidArgument("RebuildFromWriteBatch: the batch is null");
  CAMBIUM_RETURN_IF_ERROR(batch->status());
  if (!batch->IsFor(inside_.database_id())) {
    return Status::InvalidArgument("the write batch has column families of another database");
  }
  struct Replay final : WriteBatch::Handler {
    explicit Replay(TransactionBase* its) : to(*its) {}
    Status Put(Slice, Slice) override { return Status::OK(); }  // the functions below get all families
    Status Delete(Slice) override { return Status::OK(); }
    Status PutCF(std::uint32_t id, Slice key, Slice value) override {
      CAMBIUM_TRY(const std::unique_ptr<ColumnFamilyHandle> handle, Handle(id));
      return to.Put(handle.get(), key, value, false);
    }
    Status DeleteCF(std::uint32_t id, Slice key) override {
      CAMBIUM_TRY(const std::unique_ptr<ColumnFamilyHandle> handle, Handle(id));
      return to.Delete(handle.get(), key, false);
    }
    Status SingleDeleteCF(std::uint32_t id, Slice key) override {
      CAMBIUM_TRY(const std::unique_ptr<ColumnFamilyHandle> handle, Handle(id));
      return to.SingleDelete(handle.get(), key, false);
    }
    Status DeleteRangeCF(std::uint32_t id, Slice begin, Slice end) override {
      CAMBIUM_TRY(const std::unique_ptr<ColumnFamilyHandle> handle, Handle(id));
      return to.DeleteRange(handle.get(), begin, end);
    }
    Result<std::unique_ptr<ColumnFamilyHandle>> Handle(std::uint32_t id) const {
      std::unique_ptr<ColumnFamilyHandle> handle = to.inside_.NewHandle(id);
      if (handle == nullptr) return Status::InvalidArgument("no column family has the id " + std::to_string(id));
      return handle;
    }
    TransactionBase& to;
  } replay(this);
  return batch->Iterate(&replay);
}

// ---- Forms with vectors ----

std::vector<Status> Transaction::MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                                          const std::vector<Slice>& keys, std::vector<std::string>* values) {
  std::vector<Status> statuses(keys.size());
  values->resize(keys.size());
  if (families.size() != keys.size()) {
    const Status s = Status::InvalidArgument("MultiGet: each key needs a column family");
    std::fill(statuses.begin(), statuses.end(), s);
    return statuses;
  }
  for (std::size_t first = 0, end = 0; first < keys.size(); first = end) {
    while (end < keys.size() && families[end] == families[first]) ++end;
    std::vector<PinnableSlice> found(end - first);
    MultiGet(options, families[first], end - first, &keys[first], found.data(), &statuses[first]);
    for (std::size_t i = first; i < end; ++i) (*values)[i] = found[i - first].ToString();
  }
  return statuses;
}

std::vector<Status> Transaction::MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                          std::vector<std::string>* values) {
  return MultiGet(options, std::vector<ColumnFamilyHandle*>(keys.size(), nullptr), keys, values);
}

std::vector<Status> Transaction::MultiGetForUpdate(const ReadOptions& options,
                                                   const std::vector<ColumnFamilyHandle*>& families,
                                                   const std::vector<Slice>& keys, std::vector<std::string>* values) {
  std::vector<Status> statuses(keys.size());
  values->resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    statuses[i] = i < families.size() ? GetForUpdate(options, families[i], keys[i], &(*values)[i])
                                      : Status::InvalidArgument("MultiGetForUpdate: each key needs a column family");
  }
  return statuses;
}

}  // namespace cambium
