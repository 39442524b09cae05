// OptimisticTransaction: tracks keys, and compares them when it commits.
//
//   Commit   look at all tracked keys  ─▶  append lock: look at them again, for what was written since ─▶ append
//
// The first look takes no lock. So under the append lock there is nothing to do if nothing was written in between, and
// otherwise one lookup for each key, mostly in the active memtable only.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cambium/optimistic_transaction_db.h"
#include "state/write_history.h"
#include "transactions/transaction_base.h"

namespace cambium {

class OptimisticTransaction final : public TransactionBase {
 public:
  OptimisticTransaction(DbImpl* db, const WriteOptions& options, const OptimisticTransactionOptions& transaction);
  ~OptimisticTransaction() override { UntrackAll(); }

  // Rolls back, and begins again.
  void BeginAgain(const WriteOptions& options, const OptimisticTransactionOptions& transaction);

  void SetSnapshot() override;
  void SetLockTimeout(std::int64_t) override {}
  Status SetName(const TransactionName& name) override;

 private:
  class Condition;

  Status Track(const std::shared_ptr<Family>& family, const std::string& key, const KeyUse& use) override;
  void Untrack(const Family&, const std::string&) override {}
  Status CommitBatch() override;
  void UntrackAll() override { mark_.reset(); }
  // Keeps what is written from now on, and returns the newest operation before.
  SequenceNumber StartWatching();
  // Compares each tracked key. With `not_before` only for what was written after it.
  [[nodiscard]] Status CheckAll(SequenceNumber not_before) const;

  std::optional<WriteHistory::Mark> mark_;  // since the first tracked key, or the first snapshot
};

}  // namespace cambium
