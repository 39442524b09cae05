#include "transactions/pessimistic_transaction.h"

#include <utility>

#include "index/key_for_message.h"
#include "util/mutant.h"

namespace cambium {

// ---- OpenTransactions ----

void OpenTransactions::AddExpiring(PessimisticTransaction* transaction) {
  const MutexLock lock(mutex_);
  expiring_.emplace(transaction->GetID(), transaction);
}

Status OpenTransactions::AddName(const TransactionName& name, PessimisticTransaction* transaction) {
  const MutexLock lock(mutex_);
  const auto [at, is_new] = names_.try_emplace(name, transaction);
  if (is_new) return Status::OK();
  return Status::InvalidArgument("another transaction has the name " + KeyForMessage(name) +
                                 (at->second == nullptr ? "; it is prepared, and its object was deleted" : ""));
}

void OpenTransactions::Remove(PessimisticTransaction* transaction, const TransactionName& name) {
  const MutexLock lock(mutex_);
  expiring_.erase(transaction->GetID());
  if (!name.empty()) names_.erase(name);
}

void OpenTransactions::Abandon(PessimisticTransaction* transaction, const TransactionName& name) {
  const MutexLock lock(mutex_);
  if (const auto expiring = expiring_.find(transaction->GetID()); expiring != expiring_.end()) {
    expiring->second = nullptr;
  }
  if (const auto named = names_.find(name); named != names_.end()) named->second = nullptr;
}

void OpenTransactions::ListPrepared(std::vector<Transaction*>* transactions) const {
  const MutexLock lock(mutex_);
  for (const auto& [name, transaction] : names_) {
    const bool is_prepared = transaction != nullptr && transaction->GetState() == Transaction::PREPARED;
    if (is_prepared) transactions->push_back(transaction);
  }
}

PessimisticTransaction* OpenTransactions::Find(const TransactionName& name) const {
  const MutexLock lock(mutex_);
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

bool OpenTransactions::StealFrom(TransactionID id) {
  const MutexLock lock(mutex_);
  const auto found = expiring_.find(id);
  if (found == expiring_.end()) return true;
  return found->second != nullptr && found->second->BeStolenFrom();
}

// ---- PessimisticTransaction ----

// Adds the operations of a record to the transaction's batch.
class PessimisticTransaction::AddOps final : public WriteBatch::Handler {
 public:
  AddOps(PessimisticTransaction* to, const PreparedRecord* record) : to_(*to), record_(*record) {}
  // OK, or why the transaction cannot be committed.
  [[nodiscard]] const Status& missing() const { return missing_; }
  Status Put(Slice, Slice) override { return Status::OK(); }  // the functions below get all families
  Status Delete(Slice) override { return Status::OK(); }
  Status PutCF(std::uint32_t id, Slice key, Slice value) override {
    ++to_.counts_.puts;
    return Add(id, [&](ColumnFamilyHandle* family) { return to_.batch_.Put(family, key, value); });
  }
  Status DeleteCF(std::uint32_t id, Slice key) override {
    ++to_.counts_.deletes;
    return Add(id, [&](ColumnFamilyHandle* family) { return to_.batch_.Delete(family, key); });
  }
  Status SingleDeleteCF(std::uint32_t id, Slice key) override {
    ++to_.counts_.deletes;
    return Add(id, [&](ColumnFamilyHandle* family) { return to_.batch_.SingleDelete(family, key); });
  }
  Status DeleteRangeCF(std::uint32_t id, Slice begin, Slice end) override {
    ++to_.counts_.deletes;
    return Add(id, [&](ColumnFamilyHandle* family) {
      const bool is_backward = family->GetComparator()->Compare(begin, end) > 0;
      if (is_backward) return Status::Corruption("a prepared range delete ends before it begins");
      return to_.batch_.DeleteRange(family, begin, end);
    });
  }

 private:
  template <typename AddTo>
  Status Add(std::uint32_t id, AddTo add) {
    const std::unique_ptr<ColumnFamilyHandle> handle = to_.context_.prepared.FamilyIn(record_, id);
    if (handle != nullptr) return add(handle.get());
    missing_ = Status::InvalidArgument("the prepared transaction writes column family " + std::to_string(id) +
                                       ", which was dropped; it can only be rolled back");
    return Status::OK();
  }
  PessimisticTransaction& to_;
  const PreparedRecord& record_;
  Status missing_;
};

PessimisticTransaction::PessimisticTransaction(DbInside* inside, LockContext* context, const WriteOptions& options,
                                               const TransactionOptions& transaction)
    : TransactionBase(inside), context_(*context) {
  Start(options, transaction);
}

PessimisticTransaction::~PessimisticTransaction() {
  if (!inside_.IsOfThisProcess()) return;  // in a forked child a lock may be held for ever
  Leave();
}

void PessimisticTransaction::Start(const WriteOptions& options, const TransactionOptions& transaction) {
  lock_timeout_ = transaction.lock_timeout >= 0 ? transaction.lock_timeout : context_.options.transaction_lock_timeout;
  owner_.deadlock_depth = transaction.deadlock_detect ? transaction.deadlock_detect_depth : 0;
  Begin(options, /*set_snapshot=*/false, transaction.read_at_snapshot, transaction.max_write_batch_size);
  skip_prepare_ = transaction.skip_prepare;
  cannot_commit_ = Status::OK();
  owner_.id = GetID();
  owner_.ignores_limit = false;
  owner_.expires_at = 0;
  if (transaction.set_snapshot) SetSnapshot();
  constexpr std::int64_t kNever = std::int64_t{1} << 50;  // milliseconds
  if (transaction.expiration < 0 || transaction.expiration > kNever) return;
  owner_.expires_at = NowMicros() + static_cast<std::uint64_t>(transaction.expiration) * 1000 + 1;
  context_.open.AddExpiring(this);
}

void PessimisticTransaction::Leave() {
  if (GetState() == PREPARED && !MutantIs(Mutant::kDeletedPreparedUnlocks)) {
    context_.open.Abandon(this, name_);
  } else {
    UntrackAll();
    context_.open.Remove(this, name_);
  }
  tracked_.Clear();
  ranges_.clear();
  name_.clear();
}

void PessimisticTransaction::BeginAgain(const WriteOptions& options, const TransactionOptions& transaction) {
  Leave();  // with the old id
  Start(options, transaction);
}

Status PessimisticTransaction::Recover(const TransactionName& name, const PreparedRecord& record) {
  CAMBIUM_RETURN_IF_ERROR(SetNameTo(name));
  owner_.ignores_limit = true;
  CAMBIUM_RETURN_IF_ERROR(RecoverRanges(record));
  for (const PreparedRecord::KeyLock& lock : record.locks.keys) {
    const std::unique_ptr<ColumnFamilyHandle> handle = context_.prepared.FamilyIn(record, lock.family);
    if (handle == nullptr) continue;  // it was dropped
    CAMBIUM_TRY(const std::shared_ptr<Family> family, inside_.SharedFamilyOf(handle.get()));
    const std::string key = lock.key.ToString();
    if (!MutantIs(Mutant::kRecoveryTakesNoLocks)) {
      CAMBIUM_RETURN_IF_ERROR(context_.locks.Lock(owner_, family->id, key, lock.exclusive, /*timeout_millis=*/0));
    }
    Note(family, key, kMaxSequenceNumber, {.writes = true, .exclusive = lock.exclusive});
  }
  owner_.ignores_limit = false;
  AddOps add(this, &record);
  CAMBIUM_RETURN_IF_ERROR(record.batch.Iterate(&add));
  cannot_commit_ = add.missing();
  NotePrepared(record.bytes);
  return Status::OK();
}

Status PessimisticTransaction::RecoverRanges(const PreparedRecord& record) {
  for (const PreparedRecord::RangeLock& lock : record.locks.ranges) {
    const std::unique_ptr<ColumnFamilyHandle> handle = context_.prepared.FamilyIn(record, lock.family);
    if (handle == nullptr) continue;  // it was dropped
    CAMBIUM_TRY(const std::shared_ptr<Family> family, inside_.SharedFamilyOf(handle.get()));
    const Comparator* const order = family->options().comparator;
    if (lock.range.IsEmpty(*order)) {
      return Status::Corruption("the locked range " + lock.range.ForMessage() + " ends before it begins");
    }
    ranges_.push_back({family, lock.range, kMaxSequenceNumber, lock.exclusive});
    if (MutantIs(Mutant::kRecoveryLocksNoRanges)) continue;
    const Status locked = context_.locks.LockRange(owner_, family->id, order, lock.range, lock.exclusive,
                                                   /*timeout_millis=*/0, &ranges_.back().lock);
    if (!locked.ok()) ranges_.pop_back();
    CAMBIUM_RETURN_IF_ERROR(locked);
  }
  return Status::OK();
}

Status PessimisticTransaction::SetNameTo(const TransactionName& name) {
  constexpr std::size_t kNameBytesMax = 511;
  if (GetState() != STARTED) return Status::InvalidArgument("the transaction has ended, so it gets no name");
  if (!name_.empty()) return Status::InvalidArgument("the transaction has a name already");
  if (name.empty() || name.size() > kNameBytesMax) {
    return Status::InvalidArgument("the name of a transaction has " + std::to_string(name.size()) +
                                   " bytes; legal is 1 to " + std::to_string(kNameBytesMax));
  }
  TransactionName copy = name;  // first: once the name is known to others, nothing may fail
  CAMBIUM_RETURN_IF_ERROR(context_.open.AddName(copy, this));
  name_ = std::move(copy);
  return Status::OK();
}

std::vector<TransactionID> PessimisticTransaction::GetWaitingTxns(std::uint32_t* family, std::string* key) const {
  WaitGraph::Wait wait;
  if (!context_.locks.waits().Find(GetID(), &wait)) return {};
  if (family != nullptr) *family = wait.family;
  if (key != nullptr) *key = wait.key;
  return wait.holders;
}

Status PessimisticTransaction::CheckAlive() const {
  if (GetState() == PREPARED) return Status::OK();  // it does not expire
  const bool is_expired = owner_.expires_at != 0 && NowMicros() >= owner_.expires_at;
  if (!is_expired && GetState() != LOCKS_STOLEN) return Status::OK();
  return Status::Expired("the transaction took longer than its expiration");
}

bool PessimisticTransaction::BeStolenFrom() {
  TransactionState expected = STARTED;
  return state_.compare_exchange_strong(expected, LOCKS_STOLEN) || expected == LOCKS_STOLEN || expected == COMMITTED;
}

Status PessimisticTransaction::Track(const std::shared_ptr<Family>& family, const std::string& key, const KeyUse& use) {
  CAMBIUM_RETURN_IF_ERROR(CheckAlive());
  if (context_.prepared.IsOwnFamily(family->id)) return PreparedStore::Refusal();
  const TrackedKey* const known = tracked_.Find(family->id, key);
  if (use.assumes_tracked && known == nullptr) {
    return Status::InvalidArgument("assume_tracked: the transaction does not track the key");
  }
  const bool exclusive = use.writes || use.exclusive;
  const bool is_locked = known != nullptr && (known->exclusive || !exclusive);
  if (!is_locked) {
    CAMBIUM_RETURN_IF_ERROR(context_.locks.Lock(owner_, family->id, key, exclusive, lock_timeout_));
  }
  const Snapshot* const snapshot = use.validates ? GetSnapshot() : nullptr;
  SequenceNumber since = kMaxSequenceNumber;
  if (snapshot != nullptr) {
    since = snapshot->GetSequenceNumber();
    // With the lock, a key that was not written up to now remains so.
    const bool is_compared = known != nullptr && known->since <= since;
    const Status s =
        is_compared ? Status::OK() : inside_.CheckUnchanged(*family, key, since, DbInside::Asks::kRecords, snapshot);
    if (!s.ok()) {
      if (known == nullptr) context_.locks.Unlock(owner_.id, family->id, key);
      return s;
    }
  }
  try {
    Note(family, key, since, {.writes = use.writes, .exclusive = exclusive});
  } catch (...) {
    if (known == nullptr) context_.locks.Unlock(owner_.id, family->id, key);
    throw;
  }
  return Status::OK();
}

void PessimisticTransaction::Untrack(const Family& family, const std::string& key) {
  context_.locks.Unlock(owner_.id, family.id, key);
}

Status PessimisticTransaction::CheckUnchanged(const Family& family, const KeyRange& range, SequenceNumber since) const {
  CAMBIUM_RETURN_IF_ERROR(inside_.CheckIntervalUnchanged(family, range.Interval(), since));
  if (range.to.at != KeyBound::At::kAfter) return Status::OK();
  return inside_.CheckUnchanged(family, range.to.key, since, DbInside::Asks::kRecords);
}

Status PessimisticTransaction::TrackNew(TrackedRange* range) {
  CAMBIUM_RETURN_IF_ERROR(CheckAlive());
  const Family& family = *range->family;
  if (context_.prepared.IsOwnFamily(family.id)) return PreparedStore::Refusal();
  CAMBIUM_RETURN_IF_ERROR(context_.locks.LockRange(owner_, family.id, family.options().comparator, range->range,
                                                   range->exclusive, lock_timeout_, &range->lock));
  range->since = kMaxSequenceNumber;
  const Snapshot* const snapshot = GetSnapshot();
  if (snapshot == nullptr) return Status::OK();
  range->since = snapshot->GetSequenceNumber();
  Status unchanged;
  try {
    unchanged = CheckUnchanged(family, range->range, range->since);
  } catch (...) {
    Untrack(*range);
    throw;
  }
  if (!unchanged.ok()) Untrack(*range);
  return unchanged;
}

void PessimisticTransaction::Untrack(const TrackedRange& range) {
  context_.locks.UnlockRange(owner_.id, range.family->id, range.lock);
}

void PessimisticTransaction::UntrackAll() {
  for (const auto& [id, its] : tracked_.families()) {
    for (const auto& [key, tracked] : its.keys) context_.locks.Unlock(owner_.id, id, key);
  }
  for (const TrackedRange& range : ranges_) Untrack(range);
}

// ---- The end ----

Status PessimisticTransaction::Enter(TransactionState from, TransactionState to) {
  // From here on no other transaction takes its locks.
  if (state_.compare_exchange_strong(from, to)) return Status::OK();
  return Status::Expired("the transaction took longer than its expiration");
}

Status PessimisticTransaction::CommitBatch() {
  CAMBIUM_RETURN_IF_ERROR(CheckAlive());
  CAMBIUM_RETURN_IF_ERROR(cannot_commit_);
  const TransactionState from = GetState() == PREPARED ? PREPARED : STARTED;
  if (from == STARTED && !skip_prepare_) {
    return Status::InvalidArgument("the transaction is not prepared, and its option skip_prepare is off");
  }
  const WriteBatch& batch = *batch_.GetWriteBatch();
  if (from == PREPARED && (batch.GetDataSize() != prepared_size_ || batch.Count() != prepared_count_)) {
    return Status::InvalidArgument("the batch of the transaction was changed after Prepare; it can be rolled back");
  }
  CAMBIUM_RETURN_IF_ERROR(Enter(from, AWAITING_COMMIT));
  Status written;
  try {
    written = WriteBatchOf(from);
  } catch (...) {
    state_.store(from, std::memory_order_release);
    throw;
  }
  if (written.ok()) {
    if (from == PREPARED) inside_.CountPrepared(-1, -static_cast<std::int64_t>(record_bytes_));
    Leave();
  } else {
    state_.store(from, std::memory_order_release);
  }
  return written;
}

void PessimisticTransaction::NotePrepared(std::size_t record_bytes) {
  prepared_size_ = batch_.GetDataSize();
  prepared_count_ = batch_.GetWriteBatch()->Count();
  record_bytes_ = record_bytes;
  inside_.CountPrepared(1, static_cast<std::int64_t>(record_bytes));
  state_.store(PREPARED, std::memory_order_release);
}

Status PessimisticTransaction::WriteBatchOf(TransactionState from) {
  WriteBatch* const batch = batch_.GetWriteBatch();
  if (from != PREPARED || MutantIs(Mutant::kCommitKeepsThePrepared)) return db_.Write(write_options_, batch);
  WriteBatch whole(batch->GetDataSize() + name_.size() + 32);
  whole.Append(*batch);
  if (MutantIs(Mutant::kPreparedIsRemovedApart)) {
    CAMBIUM_RETURN_IF_ERROR(db_.Write(write_options_, &whole));
    whole.Clear();
  }
  CAMBIUM_RETURN_IF_ERROR(context_.prepared.AddRemoval(name_, &whole));
  return db_.Write(write_options_, &whole);
}

PreparedRecord::Locks PessimisticTransaction::LocksForRecord() const {
  PreparedRecord::Locks locks;
  locks.keys.reserve(tracked_.count());
  for (const auto& [id, its] : tracked_.families()) {
    for (const auto& [key, tracked] : its.keys) locks.keys.push_back({id, tracked.exclusive, key});
  }
  for (const TrackedRange& each : ranges_) locks.ranges.push_back({each.family->id, each.exclusive, each.range});
  return locks;
}

Status PessimisticTransaction::PrepareBatch() {
  if (name_.empty()) return Status::InvalidArgument("a transaction needs a name (SetName) before it can be prepared");
  CAMBIUM_RETURN_IF_ERROR(CheckAlive());
  const WriteBatch& batch = *batch_.GetWriteBatch();
  CAMBIUM_RETURN_IF_ERROR(inside_.CheckForLater(batch, name_.size()).WithContext("Prepare"));
  CAMBIUM_RETURN_IF_ERROR(Enter(STARTED, AWAITING_PREPARE));
  Status written;
  std::size_t record_bytes = 0;
  try {
    written = context_.prepared.Add(write_options_, name_, LocksForRecord(), batch, &record_bytes);
  } catch (...) {
    state_.store(STARTED, std::memory_order_release);
    throw;
  }
  if (written.ok()) {
    NotePrepared(record_bytes);
  } else {
    state_.store(STARTED, std::memory_order_release);
  }
  return written.WithContext("Prepare");
}

Status PessimisticTransaction::Withdraw() {
  WriteBatch removal;
  CAMBIUM_RETURN_IF_ERROR(context_.prepared.AddRemoval(name_, &removal));
  CAMBIUM_RETURN_IF_ERROR(db_.Write(write_options_, &removal));
  inside_.CountPrepared(-1, -static_cast<std::int64_t>(record_bytes_));
  cannot_commit_ = Status::OK();
  return Status::OK();
}

}  // namespace cambium
