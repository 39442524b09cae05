// OptimisticTransaction: tracks keys and ranges, and looks whether they were written when it commits.
//
//   Commit   watch the ranges ─▶ look at all tracked keys and ranges ─▶ append lock: look again, for what was written
//            since ─▶ append
//
// The first look takes no lock. So under the append lock there is nothing to do if nothing was written in between, and
// otherwise one lookup for each key, mostly in the active memtable only. Ranges are not looked at again: writers mark
// their watch (state/range_watches.h).
#pragma once

#include <memory>
#include <string>

#include "cambium/optimistic_transaction_db.h"
#include "transactions/transaction_base.h"

namespace cambium {

class OptimisticTransaction final : public TransactionBase {
 public:
  OptimisticTransaction(DbInside* inside, const WriteOptions& options, const OptimisticTransactionOptions& transaction);

  // Rolls back, and begins again.
  void BeginAgain(const WriteOptions& options, const OptimisticTransactionOptions& transaction);

  void SetLockTimeout(std::int64_t) override {}
  [[nodiscard]] bool IsOf(const DbInside* inside) const { return &inside_ == inside; }
 private:
  class Condition;

  Status SetNameTo(const TransactionName& name) override;
  Status Track(const std::shared_ptr<Family>& family, const std::string& key, const KeyUse& use) override;
  void Untrack(const Family&, const std::string&) override {}
  Status TrackNew(TrackedRange* range) override;
  void Untrack(const TrackedRange&) override {}
  Status CommitBatch() override;
  Status PrepareBatch() override;
  void UntrackAll() override {}
  // Compares each tracked key. With `not_before` only for what was written after it.
  [[nodiscard]] Status CheckKeys(SequenceNumber not_before, DbInside::Asks asks) const;
  // Looks for changes in each tracked range.
  [[nodiscard]] Status CheckRanges() const;
  [[nodiscard]] WatchedKeys KeysToWatch() const;
};

}  // namespace cambium
