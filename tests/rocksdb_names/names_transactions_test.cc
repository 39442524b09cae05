// Transactions under RocksDB's names.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rocksdb/options.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db.h"
#include "rocksdb_names/open_names.h"

using ROCKSDB_NAMESPACE::ColumnFamilyDescriptor;
using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::ColumnFamilyOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DBOptions;
using ROCKSDB_NAMESPACE::Iterator;
using ROCKSDB_NAMESPACE::OptimisticTransactionDB;
using ROCKSDB_NAMESPACE::OptimisticTransactionDBOptions;
using ROCKSDB_NAMESPACE::OptimisticTransactionOptions;
using ROCKSDB_NAMESPACE::PinnableSlice;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::SliceParts;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::Transaction;
using ROCKSDB_NAMESPACE::TransactionDB;
using ROCKSDB_NAMESPACE::TransactionDBOptions;
using ROCKSDB_NAMESPACE::TransactionOptions;
using ROCKSDB_NAMESPACE::WriteOptions;

namespace rocksdb_names_test::names_transactions_test {

class NamesTransactionsTest : public NamesTest {
 protected:
  void OpenOptimistic(const OptimisticTransactionDBOptions& transactions = {}) {
    db_.reset();
    std::vector<ColumnFamilyHandle*> handles;
    const Status opened = OptimisticTransactionDB::Open(options_, transactions, path_,
                                                        {ColumnFamilyDescriptor("default", ColumnFamilyOptions())},
                                                        &handles, &optimistic_);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    delete handles[0];
    db_.reset(optimistic_);
  }
  void OpenLocking(const TransactionDBOptions& transactions = {}) {
    db_.reset();
    const Status opened = TransactionDB::Open(options_, transactions, path_, &locking_);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    db_.reset(locking_);
  }
  static std::string GetIn(Transaction* transaction, const std::string& key, const ReadOptions& options = {}) {
    std::string value;
    const Status read = transaction->Get(options, key, &value);
    if (read.IsNotFound()) return "none";
    EXPECT_TRUE(read.ok()) << read.ToString();
    return value;
  }

  OptimisticTransactionDB* optimistic_ = nullptr;
  TransactionDB* locking_ = nullptr;
};

TEST_F(NamesTransactionsTest, AnOptimisticCommitFailsIfATrackedKeyWasWritten) {
  OpenOptimistic();
  Put("a", "1");
  const std::unique_ptr<Transaction> transaction(optimistic_->BeginTransaction(WriteOptions()));
  std::string value;
  ASSERT_TRUE(transaction->GetForUpdate(ReadOptions(), "a", &value).ok());
  ASSERT_TRUE(transaction->Put("b", value + "0").ok());
  EXPECT_EQ(Get("b"), "none");
  EXPECT_EQ(GetIn(transaction.get(), "b"), "10");
  ASSERT_TRUE(optimistic_->GetBaseDB()->Put(WriteOptions(), "a", "2").ok());
  EXPECT_TRUE(transaction->Commit().IsBusy());
  EXPECT_EQ(Get("b"), "none");
}

TEST_F(NamesTransactionsTest, ReadsSeeTheNewestStateUnlessTheirOptionsHaveASnapshot) {
  OpenOptimistic();
  Put("a", "old");
  OptimisticTransactionOptions with_snapshot;
  with_snapshot.set_snapshot = true;
  const std::unique_ptr<Transaction> transaction(optimistic_->BeginTransaction(WriteOptions(), with_snapshot));
  Put("a", "new");
  EXPECT_EQ(GetIn(transaction.get(), "a"), "new");
  ReadOptions at_snapshot;
  at_snapshot.snapshot = transaction->GetSnapshot();
  EXPECT_EQ(GetIn(transaction.get(), "a", at_snapshot), "old");
  ASSERT_TRUE(transaction->Put("a", "mine").ok());
  EXPECT_TRUE(transaction->Commit().IsBusy()) << "it was written after the snapshot";
}

TEST_F(NamesTransactionsTest, LockedKeysCannotBeWrittenByOthers) {
  TransactionDBOptions patient;
  patient.transaction_lock_timeout = 1;
  patient.default_lock_timeout = 1;
  OpenLocking(patient);
  std::unique_ptr<Transaction> first(locking_->BeginTransaction(WriteOptions()));
  const std::unique_ptr<Transaction> second(locking_->BeginTransaction(WriteOptions()));
  ASSERT_TRUE(first->Put("a", "first").ok());
  const Status waited = second->Put("a", "second");
  EXPECT_EQ(waited.code(), Status::kTimedOut);
  EXPECT_EQ(waited.subcode(), Status::kLockTimeout);
  EXPECT_TRUE(locking_->Put(WriteOptions(), "a", "third").IsTimedOut());
  const auto locks = locking_->GetLockStatusData();
  ASSERT_EQ(locks.size(), 1u);
  EXPECT_EQ(locks.begin()->second.key, "a");
  EXPECT_EQ(locks.begin()->second.ids, std::vector{first->GetID()});
  EXPECT_TRUE(locks.begin()->second.exclusive);
  ASSERT_TRUE(locking_->GetBaseDB()->Put(WriteOptions(), "a", "below").ok()) << "the base has no locks";
  ASSERT_TRUE(first->Commit().ok());
  EXPECT_EQ(first->GetState(), Transaction::COMMITTED);
  EXPECT_TRUE(second->Put("a", "second").ok());
  EXPECT_EQ(Get("a"), "first");
}

TEST_F(NamesTransactionsTest, ADeadlockIsReportedWithItsCircle) {
  OpenLocking();
  TransactionOptions detecting;
  detecting.deadlock_detect = true;
  detecting.lock_timeout = 60'000;
  const std::unique_ptr<Transaction> first(locking_->BeginTransaction(WriteOptions(), detecting));
  const std::unique_ptr<Transaction> second(locking_->BeginTransaction(WriteOptions(), detecting));
  ASSERT_TRUE(first->Put("a", "1").ok());
  ASSERT_TRUE(second->Put("b", "2").ok());
  // Each asks for the other's key. The one that asks last gets the deadlock, and gives its keys back.
  const auto ask = [](Transaction* transaction, const char* key, Status* result) {
    *result = transaction->Put(key, "again");
    if (!result->ok()) { EXPECT_TRUE(transaction->Rollback().ok()); }
  };
  Status of_first;
  Status of_second;
  std::thread other([&] { ask(first.get(), "b", &of_first); });
  ask(second.get(), "a", &of_second);
  other.join();
  EXPECT_NE(of_first.IsBusy(), of_second.IsBusy());
  const auto deadlocks = locking_->GetDeadlockInfoBuffer();
  ASSERT_EQ(deadlocks.size(), 1u);
  EXPECT_FALSE(deadlocks[0].empty());
  EXPECT_EQ(deadlocks[0].path.size(), 2u);
}

TEST_F(NamesTransactionsTest, SavePointsUndoWhatFollows) {
  OpenLocking();
  const std::unique_ptr<Transaction> transaction(locking_->BeginTransaction(WriteOptions()));
  ASSERT_TRUE(transaction->Put("a", "1").ok());
  transaction->SetSavePoint();
  const Slice parts[] = {"b", "c"};
  ASSERT_TRUE(transaction->Put(SliceParts(parts, 2), SliceParts(parts, 1)).ok());
  EXPECT_EQ(GetIn(transaction.get(), "bc"), "b");
  EXPECT_EQ(transaction->GetNumPuts(), 2u);
  ASSERT_TRUE(transaction->RollbackToSavePoint().ok());
  EXPECT_TRUE(transaction->RollbackToSavePoint().IsNotFound());
  EXPECT_EQ(GetIn(transaction.get(), "bc"), "none");
  const std::unique_ptr<Iterator> all(transaction->GetIterator(ReadOptions()));
  all->SeekToFirst();
  ASSERT_TRUE(all->Valid());
  EXPECT_EQ(all->key(), "a");
  all->Next();
  EXPECT_FALSE(all->Valid());
}

TEST_F(NamesTransactionsTest, AnOldTransactionBeginsAgainInItsDatabaseOnly) {
  OpenLocking();
  std::unique_ptr<Transaction> transaction(locking_->BeginTransaction(WriteOptions()));
  ASSERT_TRUE(transaction->Put("a", "1").ok());
  WriteOptions synced;
  synced.sync = true;
  EXPECT_EQ(locking_->BeginTransaction(synced, TransactionOptions(), transaction.get()), transaction.get());
  EXPECT_TRUE(transaction->GetWriteOptions()->sync);
  EXPECT_EQ(GetIn(transaction.get(), "a"), "none");
  OptimisticTransactionDB* other = nullptr;
  ASSERT_TRUE(OptimisticTransactionDB::Open(options_, directory_.File("other"), &other).ok());
  EXPECT_EQ(other->BeginTransaction(WriteOptions(), {}, transaction.get()), nullptr);
  delete other;
}

TEST_F(NamesTransactionsTest, PreparedTransactionsAreFoundAfterReopening) {
  OpenLocking();
  std::unique_ptr<Transaction> transaction(locking_->BeginTransaction(WriteOptions()));
  ASSERT_TRUE(transaction->SetName("order").ok());
  ASSERT_TRUE(transaction->Put("a", "1").ok());
  transaction->GetWriteOptions()->sync = true;
  ASSERT_TRUE(transaction->Prepare().ok());
  std::vector<Transaction*> prepared;
  locking_->GetAllPreparedTransactions(&prepared);
  EXPECT_EQ(prepared, std::vector{transaction.get()}) << "the object that the program has";
  EXPECT_EQ(locking_->GetTransactionByName("order"), transaction.get());
  transaction.reset();
  EXPECT_EQ(locking_->GetTransactionByName("order"), nullptr) << "only the next Open finds it";

  OpenLocking();
  locking_->GetAllPreparedTransactions(&prepared);
  ASSERT_EQ(prepared.size(), 1u);
  EXPECT_EQ(locking_->GetTransactionByName("order"), prepared[0]) << "the same object again";
  transaction.reset(prepared[0]);
  EXPECT_EQ(transaction->GetName(), "order");
  EXPECT_EQ(transaction->GetState(), Transaction::PREPARED);
  EXPECT_TRUE(transaction->GetWriteOptions()->sync);
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(NamesTransactionsTest, FamiliesAndManyKeysAreReadInATransaction) {
  OpenLocking();
  ColumnFamilyHandle* more = nullptr;
  ASSERT_TRUE(locking_->CreateColumnFamily(ColumnFamilyOptions(), "more", &more).ok());
  {
    const std::unique_ptr<Transaction> transaction(locking_->BeginTransaction(WriteOptions()));
    ASSERT_TRUE(transaction->Put(more, "a", "in more").ok());
    ASSERT_TRUE(transaction->Put("a", "in default").ok());
    std::vector<std::string> values;
    const std::vector<Status> read = transaction->MultiGetForUpdate(
        ReadOptions(), {more, locking_->DefaultColumnFamily()}, {"a", "a"}, &values);
    EXPECT_TRUE(read[0].ok() && read[1].ok());
    EXPECT_EQ(values, (std::vector<std::string>{"in more", "in default"}));
    const Slice keys[] = {"a", "b"};
    PinnableSlice pinned[2];
    Status statuses[2];
    transaction->MultiGet(ReadOptions(), more, 2, keys, pinned, statuses);
    EXPECT_EQ(pinned[0], "in more");
    EXPECT_TRUE(statuses[1].IsNotFound());
    PinnableSlice one;
    ASSERT_TRUE(transaction->GetForUpdate(ReadOptions(), more, "a", &one).ok());
    EXPECT_EQ(one, "in more");
    EXPECT_TRUE(transaction->GetForUpdate(ReadOptions(), "b", static_cast<PinnableSlice*>(nullptr)).ok());
    EXPECT_EQ(transaction->GetNumKeys(), 3u);
    ASSERT_TRUE(transaction->Commit().ok());
  }
  delete more;
}

TEST_F(NamesTransactionsTest, ARangeLockKeepsOthersOut) {
  TransactionDBOptions transactions;
  transactions.transaction_lock_timeout = transactions.default_lock_timeout = 1;
  OpenLocking(transactions);
  const std::unique_ptr<Transaction> transaction(locking_->BeginTransaction(WriteOptions()));
  using ROCKSDB_NAMESPACE::Endpoint;
  ASSERT_TRUE(transaction->GetRangeLock(locking_->DefaultColumnFamily(), Endpoint("b"), Endpoint("d", true)).ok());
  EXPECT_TRUE(locking_->Put(WriteOptions(), "dd", "1").IsTimedOut());
  EXPECT_TRUE(locking_->Put(WriteOptions(), "e", "1").ok());
  ASSERT_TRUE(transaction->Rollback().ok());
  EXPECT_TRUE(locking_->Put(WriteOptions(), "dd", "1").ok());
}

TEST_F(NamesTransactionsTest, WhatDoesNotExistIsRefused) {
  TransactionDBOptions other_policy;
  other_policy.write_policy = ROCKSDB_NAMESPACE::WRITE_PREPARED;
  TransactionDB* none = nullptr;
  EXPECT_TRUE(TransactionDB::Open(options_, other_policy, path_, &none).IsNotSupported());
  EXPECT_EQ(none, nullptr);
  EXPECT_TRUE(TransactionDB::Open(options_, TransactionDBOptions(), path_, nullptr).IsInvalidArgument());
  OpenLocking();
  const std::unique_ptr<Transaction> transaction(locking_->BeginTransaction(WriteOptions()));
  EXPECT_TRUE(transaction->Merge("a", "1").IsNotSupported());
  ReadOptions tailing;
  tailing.tailing = true;
  std::string value;
  EXPECT_TRUE(transaction->Get(tailing, "a", &value).IsNotSupported());
  EXPECT_TRUE(transaction->GetForUpdate(tailing, "a", &value).IsNotSupported());
  const std::unique_ptr<Iterator> refused(transaction->GetIterator(tailing));
  EXPECT_TRUE(refused->status().IsNotSupported());
}

TEST_F(NamesTransactionsTest, HintsOfTransactionsAreLogged) {
  OptimisticTransactionDBOptions hints;
  hints.occ_lock_buckets = 16;
  hints.shared_lock_buckets = ROCKSDB_NAMESPACE::MakeSharedOccLockBuckets(16);
  OpenOptimistic(hints);
  EXPECT_NE(Log().find("occ_lock_buckets"), std::string::npos) << Log();
  TransactionDBOptions locking_hints;
  locking_hints.skip_concurrency_control = true;
  OpenLocking(locking_hints);
  EXPECT_NE(Log().find("skip_concurrency_control"), std::string::npos) << Log();
}

TEST_F(NamesTransactionsTest, ClosingTheBaseClosesTheDatabase) {
  OpenLocking();
  {
    const std::unique_ptr<Transaction> transaction(locking_->BeginTransaction(WriteOptions()));
    EXPECT_TRUE(locking_->GetBaseDB()->Close().IsAborted()) << "a transaction exists";
  }
  ASSERT_TRUE(locking_->GetBaseDB()->Close().ok());
  EXPECT_FALSE(locking_->Put(WriteOptions(), "a", "1").ok());
  EXPECT_EQ(locking_->BeginTransaction(WriteOptions()), nullptr);
}

}  // namespace rocksdb_names_test::names_transactions_test
