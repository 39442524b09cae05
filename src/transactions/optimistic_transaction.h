// OptimisticTransaction: tracks keys, and compares them when it commits.
//
//   Commit   look at all tracked keys ─▶ append lock: look again, for what was written since ─▶ append
//
// The first look takes no lock. So under the append lock there is nothing to do if nothing was written in between, and
// otherwise one lookup for each key, mostly in the active memtable only.
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
  Status SetName(const TransactionName& name) override;

 private:
  class Condition;

  Status Track(const std::shared_ptr<Family>& family, const std::string& key, const KeyUse& use) override;
  void Untrack(const Family&, const std::string&) override {}
  Status CommitBatch() override;
  Status PrepareBatch() override;
  void UntrackAll() override {}
  // Compares each tracked key. With `not_before` only for what was written after it.
  [[nodiscard]] Status CheckAll(SequenceNumber not_before, DbInside::Asks asks) const;
};

}  // namespace cambium
