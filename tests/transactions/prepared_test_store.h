// A TransactionDB in a simulated file system, with synced writes, for tests of prepared transactions.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cambium/transaction_db.h"
#include "testing/test_store.h"

namespace cambium::testing {

using TransactionPtr = std::unique_ptr<Transaction>;

struct PreparedTestStore : TestStore {
  explicit PreparedTestStore(std::shared_ptr<SimFileSystem> file_system = std::make_shared<SimFileSystem>())
      : TestStore(std::move(file_system)) {
    // A lock that is taken makes a call fail at once: no other thread could release it.
    locking.transaction_lock_timeout = locking.default_lock_timeout = 0;
    synced.sync = true;
  }

  Status OpenTransactions() {
    const Status opened = TransactionDB::Open(options, locking, kStorePath, &transactions);
    base = transactions.get();
    return opened;
  }
  void MustOpenTransactions() {
    const Status opened = OpenTransactions();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
  }
  // Ends the process as a kill does not: the database is closed.
  void ReopenTransactions() {
    ASSERT_TRUE(transactions->Close().ok());
    transactions.reset();
    MustOpenTransactions();
  }
  TransactionPtr Begin(const TransactionOptions& its = {}) {
    return TransactionPtr(transactions->BeginTransaction(synced, its));
  }
  // A transaction with this name that has put these keys.
  TransactionPtr BeginNamed(const std::string& name, const std::vector<std::pair<std::string, std::string>>& puts) {
    TransactionPtr made = Begin();
    EXPECT_TRUE(made->SetName(name).ok());
    for (const auto& [key, value] : puts) EXPECT_TRUE(made->Put(key, value).ok());
    return made;
  }
  std::string GetOf(Slice key) {
    std::string value;
    const Status s = base->Get({}, key, &value);
    return s.ok() ? value : s.IsNotFound() ? "NotFound" : s.ToString();
  }
  // "name1 name2": those that ListPreparedTransactions names.
  std::string PreparedNames() {
    std::vector<PreparedTransaction> all;
    const Status s = ListPreparedTransactions(base, &all);
    if (!s.ok()) return s.ToString();
    std::string names;
    for (const PreparedTransaction& each : all) names += (names.empty() ? "" : " ") + each.name;
    return names;
  }
  // All that are prepared; the caller owns them.
  std::vector<TransactionPtr> Prepared() {
    std::vector<Transaction*> all;
    transactions->GetAllPreparedTransactions(&all);
    return {all.begin(), all.end()};
  }

  TransactionDBOptions locking;
  WriteOptions synced;
  std::unique_ptr<TransactionDB> transactions;
  DB* base = nullptr;  // the open database
};

}  // namespace cambium::testing
