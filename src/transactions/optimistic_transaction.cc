#include "transactions/optimistic_transaction.h"

#include <algorithm>
#include <utility>

#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {

// Holds if no tracked key was written after `looked`, when CheckAll has looked at all of them.
class OptimisticTransaction::Condition final : public WriteCondition {
 public:
  Condition(const OptimisticTransaction* transaction, SequenceNumber looked)
      : transaction_(*transaction), looked_(looked) {}
  [[nodiscard]] Status Check() const override {
    const bool has_news = transaction_.db_.GetLatestSequenceNumber() != looked_;
    if (!has_news || MutantIs(Mutant::kCommitLooksBeforeTheLock)) return Status::OK();
    return transaction_.CheckAll(looked_, DbInside::Asks::kMemory);  // with the append lock, nothing is read
  }

 private:
  const OptimisticTransaction& transaction_;
  const SequenceNumber looked_;
};

OptimisticTransaction::OptimisticTransaction(DbInside* inside, const WriteOptions& options,
                                             const OptimisticTransactionOptions& transaction)
    : TransactionBase(inside) {
  Begin(options, transaction.set_snapshot, transaction.read_at_snapshot, 0);
}

void OptimisticTransaction::BeginAgain(const WriteOptions& options, const OptimisticTransactionOptions& transaction) {
  Begin(options, transaction.set_snapshot, transaction.read_at_snapshot, 0);
}

Status OptimisticTransaction::SetNameTo(const TransactionName&) {
  return Status::NotSupported("optimistic transactions have no names");
}

Status OptimisticTransaction::Track(const std::shared_ptr<Family>& family, const std::string& key, const KeyUse& use) {
  if (use.writes && !use.validates) return Status::OK();  // untracked
  const TrackedKey* const known = tracked_.Find(family->id, key);
  if (use.assumes_tracked && known == nullptr) {
    return Status::InvalidArgument("assume_tracked: the transaction does not track the key");
  }
  const SequenceNumber newest = StartWatching();
  const Snapshot* const snapshot = use.validates ? GetSnapshot() : nullptr;
  Note(family, key, snapshot == nullptr ? newest : snapshot->GetSequenceNumber(), use);
  return Status::OK();
}

Status OptimisticTransaction::CheckAll(SequenceNumber not_before, DbInside::Asks asks) const {
  for (const auto& [id, its] : tracked_.families()) {
    for (const auto& [key, tracked] : its.keys) {
      const SequenceNumber since = std::max(tracked.since, not_before);
      CAMBIUM_RETURN_IF_ERROR(inside_.CheckUnchanged(*its.family, key, since, asks, GetSnapshot()));
    }
  }
  return Status::OK();
}

Status OptimisticTransaction::CommitBatch() {
  const SequenceNumber looked = db_.GetLatestSequenceNumber();
  CAMBIUM_RETURN_IF_ERROR(CheckAll(0, DbInside::Asks::kRecords));
  CAMBIUM_FAULT_POINT("OptimisticTransaction:looked");
  const Condition condition(this, looked);
  return inside_.WriteIf(write_options_, batch_.GetWriteBatch(), condition);
}

Status OptimisticTransaction::PrepareBatch() {
  return Status::InvalidArgument("an optimistic transaction cannot be prepared: it has no locks that could hold until "
                                 "its commit; TransactionDB has transactions that can");
}

}  // namespace cambium
