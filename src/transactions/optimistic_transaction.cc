#include "transactions/optimistic_transaction.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {

// Holds if nothing that is tracked was written after `looked`, when CheckKeys and CheckRanges have looked at all of it.
class OptimisticTransaction::Condition final : public WriteCondition {
 public:
  // `watch`: of the ranges, since before that look; null: there are none.
  Condition(const OptimisticTransaction* transaction, SequenceNumber looked, const DbInside::WatchScope* watch)
      : transaction_(*transaction), looked_(looked), watch_(watch) {}
  [[nodiscard]] Status Check() const override CAMBIUM_REQUIRES(append_lock) {
    for (const TrackedRange& each : transaction_.ranges_) {
      if (each.family->dropped.load(std::memory_order_relaxed)) return DroppedStatus(*each.family);
    }
    has_watch_hit_ = watch_ != nullptr && watch_->is_hit();
    if (has_watch_hit_) return Status::Busy("a key in a tracked range was written by others");
    const bool has_news = transaction_.db_.GetLatestSequenceNumber() != looked_;
    if (!has_news || MutantIs(Mutant::kCommitLooksBeforeTheLock)) return Status::OK();
    return transaction_.CheckKeys(looked_, DbInside::Asks::kMemory);  // with the append lock, nothing is read
  }
  [[nodiscard]] bool has_watch_hit() const { return has_watch_hit_; }

 private:
  const OptimisticTransaction& transaction_;
  const SequenceNumber looked_;
  const DbInside::WatchScope* const watch_;
  mutable bool has_watch_hit_ = false;  // Check is const, and called by the thread that made this object
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

Status OptimisticTransaction::TrackNew(TrackedRange* range) {
  const SequenceNumber newest = StartWatching();
  const Snapshot* const snapshot = GetSnapshot();
  range->since = snapshot == nullptr ? newest : snapshot->GetSequenceNumber();
  return Status::OK();
}

Status OptimisticTransaction::CheckKeys(SequenceNumber not_before, DbInside::Asks asks) const {
  for (const auto& [id, its] : tracked_.families()) {
    for (const auto& [key, tracked] : its.keys) {
      const SequenceNumber since = std::max(tracked.since, not_before);
      CAMBIUM_RETURN_IF_ERROR(inside_.CheckUnchanged(*its.family, key, since, asks, GetSnapshot()));
    }
  }
  return Status::OK();
}

Status OptimisticTransaction::CheckRanges() const {
  for (const TrackedRange& each : ranges_) {
    CAMBIUM_RETURN_IF_ERROR(inside_.CheckIntervalUnchanged(*each.family, each.range.Interval(), each.since));
  }
  return Status::OK();
}

WatchedKeys OptimisticTransaction::KeysToWatch() const {
  std::map<std::uint32_t, std::pair<const Comparator*, std::vector<KeyInterval>>> families;
  for (const TrackedRange& each : ranges_) {
    auto& [order, intervals] = families[each.family->id];
    order = each.family->options().comparator;
    intervals.push_back(each.range.Interval());
  }
  WatchedKeys keys;
  for (const auto& [id, its] : families) keys.try_emplace(id, its.first, its.second);
  return keys;
}

Status OptimisticTransaction::CommitBatch() {
  CAMBIUM_FAULT_POINT("OptimisticTransaction:unwatched");
  std::optional<DbInside::WatchScope> watch;
  const bool has_ranges = !ranges_.empty();
  const bool watches_late = MutantIs(Mutant::kCommitWatchesAfterItsLook);
  if (has_ranges && !watches_late) watch.emplace(&inside_, KeysToWatch());
  CAMBIUM_FAULT_POINT("OptimisticTransaction:watched");
  const SequenceNumber looked = db_.GetLatestSequenceNumber();
  CAMBIUM_RETURN_IF_ERROR(CheckKeys(0, DbInside::Asks::kRecords));
  CAMBIUM_RETURN_IF_ERROR(CheckRanges());
  CAMBIUM_FAULT_POINT("OptimisticTransaction:looked");
  if (has_ranges && watches_late) watch.emplace(&inside_, KeysToWatch());
  const Condition condition(this, looked, watch ? &*watch : nullptr);
  const Status written = inside_.WriteIf(write_options_, batch_.GetWriteBatch(), condition);
  if (!condition.has_watch_hit()) return written;
  Status named = CheckRanges();  // finds the same write, and names its key
  return named.IsBusy() ? named : written;
}

Status OptimisticTransaction::PrepareBatch() {
  return Status::InvalidArgument("an optimistic transaction cannot be prepared: it has no locks that could hold until "
                                 "its commit; TransactionDB has transactions that can");
}

}  // namespace cambium
