// Unusual uses of transactions: objects that begin again, reads at other moments, handles and batches of other
// databases, extreme times. Each of these once went wrong.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/db_inside.h"
#include "cambium/optimistic_transaction_db.h"
#include "cambium/transaction_db.h"
#include "io/sim/sim_file_system.h"
#include "testing/mutant_scope.h"
#include "testing/test_store.h"

namespace cambium::testing::transaction_use_test {
namespace {

using TransactionPtr = std::unique_ptr<Transaction>;

Options SimulatedOptions() {
  Options options = SmallOptions();
  options.file_system = std::make_shared<SimFileSystem>();
  options.info_log = NullLogger();
  return options;
}

struct Locking {
  explicit Locking(const TransactionDBOptions& transactions = {}) {
    EXPECT_TRUE(TransactionDB::Open(SimulatedOptions(), transactions, kStorePath, &db).ok());
  }
  TransactionPtr Begin(const TransactionOptions& options = {}) {
    return TransactionPtr(db->BeginTransaction({}, options));
  }
  std::unique_ptr<TransactionDB> db;
};

struct Optimistic {
  Optimistic() { EXPECT_TRUE(OptimisticTransactionDB::Open(SimulatedOptions(), kStorePath, &db).ok()); }
  TransactionPtr Begin(const OptimisticTransactionOptions& options = {}) {
    return TransactionPtr(db->BeginTransaction({}, options));
  }
  std::unique_ptr<OptimisticTransactionDB> db;
};

// The first of two transactions releases the key for which the second waits, and then wants a key that the second has.
// Returns the number of rounds in which a deadlock is reported.
int FalseDeadlocks(bool reuses) {
  Locking store({.transaction_lock_timeout = 5000});
  int deadlocks = 0;
  for (int i = 0; i < 20; ++i) {
    TransactionPtr first = store.Begin({.deadlock_detect = true});
    const TransactionPtr second = store.Begin();
    first->SetSavePoint();
    EXPECT_TRUE(first->Put("a", "1").ok());
    EXPECT_TRUE(second->Put("b", "1").ok());
    std::thread waiter([&] {
      EXPECT_TRUE(second->Put("a", "2").ok());
      EXPECT_TRUE(second->Commit().ok());
    });
    while (second->GetWaitingTxns(nullptr, nullptr).empty()) std::this_thread::yield();
    if (reuses) {
      EXPECT_TRUE(first->Commit().ok());
      first.reset(store.db->BeginTransaction({}, {.deadlock_detect = true}, first.release()));
    } else {
      EXPECT_TRUE(first->RollbackToSavePoint().ok());
    }
    if (first->Put("b", "3").IsDeadlock()) ++deadlocks;
    waiter.join();
  }
  return deadlocks;
}

TEST(TransactionUseTest, AReleasedLockIsNoPartOfADeadlock) {
  EXPECT_EQ(FalseDeadlocks(true), 0);
  EXPECT_EQ(FalseDeadlocks(false), 0);
  // The waiter may notice the release before the other transaction asks for its second key.
  const MutantScope mutant(Mutant::kReleasedLocksStayAwaited);
  int deadlocks = 0;
  for (int i = 0; i < 200 && deadlocks == 0; ++i) deadlocks = FalseDeadlocks(false);
  EXPECT_GT(deadlocks, 0);
}

TEST(TransactionUseTest, ARollbackKeepsTheSnapshot) {
  Optimistic store;
  ASSERT_TRUE(store.db->Put({}, "a", "1").ok());
  const TransactionPtr transaction = store.Begin();
  ASSERT_TRUE(transaction->Rollback().ok());
  ASSERT_TRUE(store.db->Put({}, "a", "2").ok());
  std::string value;
  ASSERT_TRUE(transaction->Get({}, "a", &value).ok());
  EXPECT_EQ(value, "1");
  ASSERT_TRUE(transaction->Put("a", value + "+").ok());
  EXPECT_TRUE(transaction->Commit().IsBusy());
}

TEST(TransactionUseTest, GetForUpdateAndCommitCheckTheSameVersions) {
  Optimistic store;
  ASSERT_TRUE(store.db->Put({}, "a", "1").ok());
  const Snapshot* const old = store.db->GetSnapshot();
  ASSERT_TRUE(store.db->Put({}, "a", "2").ok());
  {
    const TransactionPtr transaction = store.Begin({.set_snapshot = false});
    std::string value;
    EXPECT_TRUE(transaction->GetForUpdate({.snapshot = old}, "a", &value).IsInvalidArgument());
    ReadOptions durable;
    durable.durable_only = true;
    EXPECT_TRUE(transaction->GetForUpdate(durable, "a", &value).IsInvalidArgument());
    EXPECT_TRUE(transaction->GetForUpdate({.snapshot = old}, nullptr, "a", &value, true, false).IsInvalidArgument());
    transaction->SetSnapshot();
    EXPECT_TRUE(transaction->GetForUpdate({.snapshot = transaction->GetSnapshot()}, "a", &value).ok());
    EXPECT_EQ(value, "2");
  }
  store.db->ReleaseSnapshot(old);
}

TEST(TransactionUseTest, ReusedTransactionStartsEmpty) {
  Optimistic store;
  TransactionPtr transaction = store.Begin();
  ASSERT_TRUE(transaction->Put("a", "1").ok());
  transaction->SetSavePoint();
  transaction->DisableIndexing();
  const TransactionID id = transaction->GetID();
  transaction.reset(store.db->BeginTransaction({}, {.set_snapshot = false}, transaction.release()));
  EXPECT_NE(transaction->GetID(), id);
  EXPECT_EQ(transaction->GetSnapshot(), nullptr);
  EXPECT_TRUE(transaction->RollbackToSavePoint().IsNotFound());
  ASSERT_TRUE(transaction->Put("b", "1").ok());
  std::string value;
  EXPECT_TRUE(transaction->Get({}, "a", &value).IsNotFound());
  EXPECT_TRUE(transaction->Get({}, "b", &value).ok());
  ASSERT_TRUE(transaction->Commit().ok());
  transaction->SetSavePoint();
  EXPECT_TRUE(transaction->PopSavePoint().IsInvalidArgument());
  EXPECT_TRUE(store.db->Get({}, "a", &value).IsNotFound());
}

TEST(TransactionUseTest, FamiliesOfAnotherDatabaseAreRefused) {
  Optimistic one;
  Optimistic two;
  ColumnFamilyHandle* of_one = nullptr;
  ColumnFamilyHandle* of_two = nullptr;
  ASSERT_TRUE(one.db->CreateColumnFamily(SimulatedOptions(), "f", &of_one).ok());
  ASSERT_TRUE(two.db->CreateColumnFamily(SimulatedOptions(), "f", &of_two).ok());
  {
    WriteBatch batch;
    ASSERT_TRUE(batch.Put(of_one, "k", "v").ok());
    const TransactionPtr transaction = two.Begin();
    std::string value;
    const Slice key("k");
    PinnableSlice pinned;
    Status status;
    EXPECT_TRUE(transaction->RebuildFromWriteBatch(&batch).IsInvalidArgument());
    EXPECT_TRUE(transaction->Get({}, of_one, "k", &value).IsInvalidArgument());
    EXPECT_TRUE(transaction->GetForUpdate({}, of_one, "k", &value).IsInvalidArgument());
    transaction->MultiGet({}, of_one, 1, &key, &pinned, &status);
    EXPECT_TRUE(status.IsInvalidArgument());
    const std::unique_ptr<Iterator> it(transaction->GetIterator({}, of_one));
    EXPECT_TRUE(it->status().IsInvalidArgument());
    EXPECT_TRUE(transaction->Put(of_two, "k", "v", false).ok());
  }
  ASSERT_TRUE(one.db->DestroyColumnFamilyHandle(of_one).ok());
  ASSERT_TRUE(two.db->DestroyColumnFamilyHandle(of_two).ok());
}

TEST(TransactionUseTest, TheHistoryIsNotNeededWithoutASnapshotAndTrackedKeys) {
  Optimistic store;
  const WriteHistory* const history = DbInside::Of(store.db.get())->history();
  const TransactionPtr transaction = store.Begin();
  EXPECT_EQ(history->mark_count(), 1u);
  transaction->ClearSnapshot();
  EXPECT_EQ(history->mark_count(), 0u);
  std::string* const no_value = nullptr;
  ASSERT_TRUE(transaction->GetForUpdate({}, "a", no_value).ok());
  EXPECT_EQ(history->mark_count(), 1u);
  transaction->UndoGetForUpdate("a");
  EXPECT_EQ(history->mark_count(), 0u);
  transaction->SetSavePoint();
  ASSERT_TRUE(transaction->Put("a", "1").ok());
  ASSERT_TRUE(transaction->RollbackToSavePoint().ok());
  EXPECT_EQ(history->mark_count(), 0u);
}

TEST(TransactionUseTest, VeryLongTimeoutsNeverExpire) {
  Locking store;
  constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();
  const TransactionPtr transaction = store.Begin({.lock_timeout = kForever, .expiration = kForever});
  EXPECT_TRUE(transaction->Put("a", "1").ok());
  const TransactionPtr other = store.Begin();
  other->SetLockTimeout(0);
  EXPECT_TRUE(other->Put("a", "2").IsLockTimeout());
  ASSERT_TRUE(transaction->Commit().ok());
}

TEST(TransactionUseTest, ADeletedKeyClearsTheSlice) {
  Optimistic store;
  ASSERT_TRUE(store.db->Put({}, "a", "1").ok());
  const TransactionPtr transaction = store.Begin();
  ASSERT_TRUE(transaction->Delete("a").ok());
  PinnableSlice value;
  value.PinSelf("old");
  EXPECT_TRUE(transaction->Get({}, "a", &value).IsNotFound());
  EXPECT_TRUE(value.empty());
}

TEST(TransactionUseTest, ManyKeysAreReadAndTrackedTogether) {
  Optimistic store;
  ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(SimulatedOptions(), "f", &family).ok());
  ASSERT_TRUE(store.db->Put({}, "a", "1").ok());
  ASSERT_TRUE(store.db->Put({}, family, "a", "2").ok());
  {
    const TransactionPtr transaction = store.Begin();
    ASSERT_TRUE(transaction->Put("b", "3").ok());
    ASSERT_TRUE(transaction->DeleteUntracked("c").ok());
    ASSERT_TRUE(transaction->SingleDeleteUntracked("d").ok());
    EXPECT_EQ(transaction->GetNumKeys(), 1u);
    std::vector<std::string> values;
    const std::vector<Status> read = transaction->MultiGet({}, {nullptr, nullptr, family}, {"a", "b", "a"}, &values);
    EXPECT_EQ(values, (std::vector<std::string>{"1", "3", "2"}));
    EXPECT_TRUE(read[0].ok() && read[1].ok() && read[2].ok());
    EXPECT_TRUE(transaction->MultiGet({}, {family}, {"a", "b"}, &values)[0].IsInvalidArgument());
    EXPECT_TRUE(transaction->MultiGet({}, {"x"}, &values)[0].IsNotFound());
    EXPECT_TRUE(transaction->MultiGetForUpdate({}, {nullptr, family}, {"a", "a"}, &values)[1].ok());
    EXPECT_EQ(values[1], "2");
    EXPECT_EQ(transaction->GetNumKeys(), 3u);
    ASSERT_TRUE(store.db->Put({}, family, "a", "4").ok());
    EXPECT_TRUE(transaction->Commit().IsBusy());
  }
  ASSERT_TRUE(store.db->DestroyColumnFamilyHandle(family).ok());
}

TEST(TransactionUseTest, ALongChainOfWaitsCountsAsADeadlock) {
  Locking store({.transaction_lock_timeout = 5000});
  std::vector<TransactionPtr> chain;
  for (int i = 0; i < 5; ++i) {
    chain.push_back(store.Begin());
    ASSERT_TRUE(chain.back()->Put(NumberedKey(i), "1").ok());
  }
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {  // each waits for the next
    threads.emplace_back([&, i] {
      EXPECT_TRUE(chain[i]->Put(NumberedKey(static_cast<int>(i) + 1), "1").ok());
      EXPECT_TRUE(chain[i]->Rollback().ok());
    });
    while (chain[i]->GetWaitingTxns(nullptr, nullptr).empty()) std::this_thread::yield();
  }
  const TransactionPtr last = store.Begin({.deadlock_detect = true, .deadlock_detect_depth = 3});
  EXPECT_TRUE(last->IsDeadlockDetect());
  EXPECT_TRUE(last->Put(NumberedKey(0), "1").IsDeadlock());
  const std::vector<DeadlockPath> deadlocks = store.db->GetDeadlockInfoBuffer();
  ASSERT_EQ(deadlocks.size(), 1u);
  EXPECT_TRUE(deadlocks[0].limit_exceeded);
  ASSERT_TRUE(chain.back()->Rollback().ok());
  for (std::thread& thread : threads) thread.join();
}

TEST(TransactionUseTest, OptionsOfWritesApplyToTheCommit) {
  Optimistic store;
  WriteOptions both;
  both.sync = both.disableWAL = true;  // refused by every write
  const TransactionPtr transaction = store.Begin();
  ASSERT_TRUE(transaction->Put("a", "1").ok());
  transaction->SetWriteOptions(both);
  EXPECT_TRUE(transaction->GetWriteOptions()->sync);
  EXPECT_TRUE(transaction->Commit().IsInvalidArgument());
  transaction->GetWriteOptions()->disableWAL = false;
  EXPECT_TRUE(transaction->Commit().ok());
}

}  // namespace
}  // namespace cambium::testing::transaction_use_test
