#include "transactions/pessimistic_transaction.h"

#include <utility>

namespace cambium {

// ---- OpenTransactions ----

void OpenTransactions::AddExpiring(PessimisticTransaction* transaction) {
  const MutexLock lock(mutex_);
  expiring_.emplace(transaction->GetID(), transaction);
}

Status OpenTransactions::AddName(const TransactionName& name, PessimisticTransaction* transaction) {
  const MutexLock lock(mutex_);
  if (names_.try_emplace(name, transaction).second) return Status::OK();
  return Status::InvalidArgument("another transaction has this name");
}

void OpenTransactions::Remove(PessimisticTransaction* transaction, const TransactionName& name) {
  const MutexLock lock(mutex_);
  expiring_.erase(transaction->GetID());
  if (!name.empty()) names_.erase(name);
}

PessimisticTransaction* OpenTransactions::Find(const TransactionName& name) const {
  const MutexLock lock(mutex_);
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

bool OpenTransactions::StealFrom(TransactionID id) {
  const MutexLock lock(mutex_);
  const auto found = expiring_.find(id);
  return found == expiring_.end() || found->second->BeStolenFrom();
}

// ---- PessimisticTransaction ----

PessimisticTransaction::PessimisticTransaction(DbInside* inside, LockContext* context, const WriteOptions& options,
                                               const TransactionOptions& transaction)
    : TransactionBase(inside), context_(*context) {
  Start(options, transaction);
}

PessimisticTransaction::~PessimisticTransaction() {
  if (!inside_.IsOfThisProcess()) return;  // in a forked child a lock may be held for ever
  UntrackAll();
  Leave();
}

void PessimisticTransaction::Start(const WriteOptions& options, const TransactionOptions& transaction) {
  lock_timeout_ = transaction.lock_timeout >= 0 ? transaction.lock_timeout : context_.options.transaction_lock_timeout;
  owner_.deadlock_depth = transaction.deadlock_detect ? transaction.deadlock_detect_depth : 0;
  Begin(options, transaction.set_snapshot, transaction.read_at_snapshot, transaction.max_write_batch_size);
  owner_.id = GetID();
  owner_.expires_at = 0;
  constexpr std::int64_t kNever = std::int64_t{1} << 50;  // milliseconds
  if (transaction.expiration < 0 || transaction.expiration > kNever) return;
  owner_.expires_at = NowMicros() + static_cast<std::uint64_t>(transaction.expiration) * 1000 + 1;
  context_.open.AddExpiring(this);
}

void PessimisticTransaction::Leave() {
  context_.open.Remove(this, name_);
  name_.clear();
}

void PessimisticTransaction::BeginAgain(const WriteOptions& options, const TransactionOptions& transaction) {
  UntrackAll();
  tracked_.Clear();
  Leave();  // with the old id
  Start(options, transaction);
}

Status PessimisticTransaction::SetName(const TransactionName& name) {
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
    if (const Status s = is_compared ? Status::OK() : inside_.CheckUnchanged(*family, key, since); !s.ok()) {
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

void PessimisticTransaction::UntrackAll() {
  for (const auto& [id, its] : tracked_.families()) {
    for (const auto& [key, tracked] : its.keys) context_.locks.Unlock(owner_.id, id, key);
  }
}

Status PessimisticTransaction::CommitBatch() {
  CAMBIUM_RETURN_IF_ERROR(CheckAlive());
  // From here on no other transaction takes its locks.
  TransactionState expected = STARTED;
  if (!state_.compare_exchange_strong(expected, AWAITING_COMMIT)) {
    return Status::Expired("the transaction took longer than its expiration");
  }
  Status written;
  try {
    written = db_.Write(write_options_, batch_.GetWriteBatch());
  } catch (...) {
    state_.store(STARTED, std::memory_order_release);
    throw;
  }
  if (written.ok()) {
    Leave();
  } else {
    state_.store(STARTED, std::memory_order_release);
  }
  return written;
}

}  // namespace cambium
