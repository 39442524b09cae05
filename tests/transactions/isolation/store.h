// Store: an open database of the workload, with transactions of one kind; and what it holds.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cambium/optimistic_transaction_db.h"
#include "cambium/transaction_db.h"
#include "transactions/isolation/history.h"
#include "util/prng.h"

namespace cambium::testing::isolation {

// All writes of a database go through transactions of one kind, or through single writes beside them.
enum class Kind : unsigned char { kOptimistic, kPessimistic };

// Sizes so small that flushes, compactions, sweeps and log GC run all the time. The same seed gives the same options.
// `is_forgetful`: with the smallest memtables, so that few flushed ones are kept for open transactions.
[[nodiscard]] Options RandomOptions(std::uint64_t seed, bool is_forgetful = false);

// What a new database has: it gets this by a synced write of transaction 1.
[[nodiscard]] State SetUpState();

using TransactionPtr = std::unique_ptr<Transaction>;

// Any thread, except for Open, Close and the destructor. Delete transactions first.
class Store {
 public:
  // A new database gets its families and what SetUpState says.
  Status Open(const Options& options, const std::string& path, Kind kind);
  // For a process that only reads. There are no transactions then.
  Status OpenForReadOnly(const Options& options, const std::string& path, Kind kind);
  Status Close();
  ~Store();
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  [[nodiscard]] DB& db() const { return *db_; }
  [[nodiscard]] OptimisticTransactionDB* optimistic() const { return optimistic_; }
  [[nodiscard]] TransactionDB* pessimistic() const { return pessimistic_; }
  [[nodiscard]] ColumnFamilyHandle* FamilyOfKey(const std::string& key) const;
  [[nodiscard]] ColumnFamilyHandle* receipts() const { return handles_.at(2); }

  // Reads everything at a snapshot: by iterators, and by MultiGet and Get, which must agree; and adds the accounts up
  // each time. Returns "", or what is wrong.
  std::string Observe(State* state) const;

 private:
  Status SetUp();
  std::string ReadByIterator(const Snapshot* snapshot, State* state) const;
  std::string ReadByKey(const Snapshot* snapshot, const State& state) const;

  std::unique_ptr<DB> db_;
  OptimisticTransactionDB* optimistic_ = nullptr;
  TransactionDB* pessimistic_ = nullptr;
  Kind kind_ = Kind::kOptimistic;
  std::vector<ColumnFamilyHandle*> handles_;  // default, "one", "receipts"
};

}  // namespace cambium::testing::isolation
