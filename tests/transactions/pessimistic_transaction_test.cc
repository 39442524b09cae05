// Transactions that lock their keys.
#include "cambium/transaction_db.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "testing/index_mode.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/test_store.h"
#include "util/prng.h"

namespace cambium::testing::pessimistic_transaction_test {
namespace {

using TransactionPtr = std::unique_ptr<Transaction>;

// A database in a simulated file system whose background tasks run in threads, with the system's clock.
struct Store {
  explicit Store(const TransactionDBOptions& transactions = {}) {
    options.file_system = std::make_shared<SimFileSystem>();
    options.info_log = NullLogger();
    const Status s = TransactionDB::Open(options, transactions, kStorePath, &db);
    EXPECT_TRUE(s.ok()) << s.ToString();
  }
  TransactionPtr Begin(const TransactionOptions& transaction = {}) {
    return TransactionPtr(db->BeginTransaction({}, transaction));
  }
  std::string Get(Slice key) {
    std::string value;
    const Status s = db->Get({}, key, &value);
    return s.ok() ? value : s.IsNotFound() ? "NotFound" : s.ToString();
  }
  Options options = SmallOptions();
  std::unique_ptr<TransactionDB> db;
};

TEST(PessimisticTransactionTest, ALockedKeyIsNotWrittenByOthers) {
  Store store({.transaction_lock_timeout = 0, .default_lock_timeout = 0});
  ASSERT_TRUE(store.db->Put({}, "a", "1").ok());
  const TransactionPtr first = store.Begin();
  std::string value;
  ASSERT_TRUE(first->GetForUpdate({}, "a", &value).ok());
  const TransactionPtr second = store.Begin();
  EXPECT_TRUE(second->Put("a", "2").IsLockTimeout());
  EXPECT_TRUE(second->Put("b", "2").ok());
  EXPECT_TRUE(store.db->Put({}, "a", "3").IsLockTimeout());
  EXPECT_TRUE(store.db->Delete({}, "a").IsLockTimeout());
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("c", "3").ok());
  ASSERT_TRUE(batch.Put("a", "3").ok());
  EXPECT_TRUE(store.db->Write({}, &batch).IsLockTimeout());
  EXPECT_EQ(store.Get("c"), "NotFound");
  EXPECT_EQ(store.Get("a"), "1");
  ASSERT_TRUE(first->Put("a", value + "!").ok());
  ASSERT_TRUE(first->Commit().ok());
  EXPECT_EQ(store.Get("a"), "1!");
  EXPECT_TRUE(second->Put("a", "2").ok());
  ASSERT_TRUE(second->Commit().ok());
  EXPECT_TRUE(store.db->GetLockStatusData().empty());
}

TEST(PessimisticTransactionTest, SharedLocksExcludeExclusiveOnes) {
  Store store({.transaction_lock_timeout = 0});
  const TransactionPtr first = store.Begin();
  const TransactionPtr second = store.Begin();
  std::string* const no_value = nullptr;
  ASSERT_TRUE(first->GetForUpdate({}, "a", no_value, /*exclusive=*/false).ok());
  ASSERT_TRUE(second->GetForUpdate({}, "a", no_value, /*exclusive=*/false).ok());
  EXPECT_TRUE(first->Put("a", "1").IsLockTimeout());
  const auto locks = store.db->GetLockStatusData();
  ASSERT_EQ(locks.size(), 1u);
  EXPECT_EQ(locks.begin()->second.key, "a");
  EXPECT_EQ(locks.begin()->second.ids.size(), 2u);
  EXPECT_FALSE(locks.begin()->second.exclusive);
  ASSERT_TRUE(second->Rollback().ok());
  EXPECT_TRUE(first->Put("a", "1").ok());  // alone, it gets the exclusive lock
  EXPECT_TRUE(second->GetForUpdate({}, "a", no_value, /*exclusive=*/false).IsLockTimeout());
}

TEST(PessimisticTransactionTest, AWriteSinceTheSnapshotIsAConflict) {
  Store store;
  ASSERT_TRUE(store.db->Put({}, "a", "1").ok());
  for (const bool flushes : {false, true}) {
    const TransactionPtr transaction = store.Begin({.set_snapshot = true});
    ASSERT_TRUE(store.db->Put({}, "a", "2").ok());
    if (flushes) {
      ASSERT_TRUE(store.db->Flush({}).ok());
    }
    EXPECT_TRUE(transaction->Put("a", "3").IsBusy());
    EXPECT_TRUE(transaction->GetForUpdate({}, "a", static_cast<std::string*>(nullptr)).IsBusy());
    EXPECT_TRUE(transaction->Put("b", "3").ok());
    EXPECT_TRUE(store.db->Put({}, "a", "4").ok());  // the failed calls have left no lock
    EXPECT_TRUE(transaction->PutUntracked("a", "5").ok());
    ASSERT_TRUE(transaction->Commit().ok());
    EXPECT_EQ(store.Get("a"), "5");
  }
}

TEST(PessimisticTransactionTest, AWaiterGetsTheLockWhenItIsReleased) {
  Store store({.transaction_lock_timeout = -1});
  TransactionPtr first = store.Begin();
  ASSERT_TRUE(first->Put("a", "1").ok());
  TransactionPtr second = store.Begin();
  std::thread waiter([&] {
    EXPECT_TRUE(second->Put("a", "2").ok());
    EXPECT_TRUE(second->Commit().ok());
  });
  std::uint32_t family = 7;
  std::string key;
  std::vector<TransactionID> holders;
  while (holders.empty()) holders = second->GetWaitingTxns(&family, &key);
  EXPECT_EQ(holders, (std::vector<TransactionID>{first->GetID()}));
  EXPECT_EQ(family, 0u);
  EXPECT_EQ(key, "a");
  ASSERT_TRUE(first->Commit().ok());
  waiter.join();
  EXPECT_EQ(store.Get("a"), "2");
}

TEST(PessimisticTransactionTest, ADeadlockIsFoundAndReported) {
  Store store({.transaction_lock_timeout = -1});
  const TransactionPtr first = store.Begin({.deadlock_detect = true});
  const TransactionPtr second = store.Begin({.deadlock_detect = true});
  ASSERT_TRUE(first->Put("a", "1").ok());
  ASSERT_TRUE(second->Put("b", "2").ok());
  std::thread waiter([&] { EXPECT_TRUE(first->Put("b", "1").ok()); });
  while (first->GetWaitingTxns(nullptr, nullptr).empty()) std::this_thread::yield();
  const Status s = second->Put("a", "2");
  EXPECT_TRUE(s.IsDeadlock()) << s.ToString();
  const std::vector<DeadlockPath> deadlocks = store.db->GetDeadlockInfoBuffer();
  ASSERT_EQ(deadlocks.size(), 1u);
  ASSERT_EQ(deadlocks[0].path.size(), 2u);
  EXPECT_EQ(deadlocks[0].path[0].txn_id, second->GetID());
  EXPECT_EQ(deadlocks[0].path[0].waiting_key, "a");
  EXPECT_EQ(deadlocks[0].path[1].txn_id, first->GetID());
  EXPECT_EQ(deadlocks[0].path[1].waiting_key, "b");
  ASSERT_TRUE(second->Rollback().ok());
  waiter.join();
  ASSERT_TRUE(first->Commit().ok());
  EXPECT_EQ(store.Get("b"), "1");
  store.db->SetDeadlockInfoBufferSize(0);
  EXPECT_TRUE(store.db->GetDeadlockInfoBuffer().empty());
}

TEST(PessimisticTransactionTest, LocksOfAnExpiredTransactionAreTaken) {
  Store store({.transaction_lock_timeout = 10'000});
  const TransactionPtr old = store.Begin({.expiration = 20});
  ASSERT_TRUE(old->Put("a", "1").ok());
  const TransactionPtr young = store.Begin();
  ASSERT_TRUE(young->Put("a", "2").ok());  // waits until the other has expired
  EXPECT_EQ(old->GetState(), Transaction::LOCKS_STOLEN);
  EXPECT_TRUE(old->Put("b", "1").IsExpired());
  EXPECT_TRUE(old->Commit().IsExpired());
  ASSERT_TRUE(old->Rollback().ok());  // leaves the lock to the other
  EXPECT_EQ(store.db->GetLockStatusData().size(), 1u);
  ASSERT_TRUE(young->Commit().ok());
  EXPECT_EQ(store.Get("a"), "2");
}

TEST(PessimisticTransactionTest, TheNumberOfLocksIsLimited) {
  Store store({.max_num_locks = 2});
  const TransactionPtr transaction = store.Begin();
  ASSERT_TRUE(transaction->Put("a", "1").ok());
  ASSERT_TRUE(transaction->Put("b", "1").ok());
  ASSERT_TRUE(transaction->Put("b", "2").ok());
  EXPECT_TRUE(transaction->Put("c", "1").IsLockLimit());
  transaction->SetSavePoint();
  ASSERT_TRUE(transaction->RollbackToSavePoint().ok());
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_EQ(store.Get("c"), "NotFound");
  EXPECT_TRUE(store.db->Put({}, "c", "1").ok());
}

TEST(PessimisticTransactionTest, ARollbackToASavePointUnlocksKeys) {
  Store store({.default_lock_timeout = 0});
  const TransactionPtr transaction = store.Begin();
  ASSERT_TRUE(transaction->Put("a", "1").ok());
  transaction->SetSavePoint();
  ASSERT_TRUE(transaction->Put("b", "1").ok());
  ASSERT_TRUE(transaction->RollbackToSavePoint().ok());
  EXPECT_TRUE(store.db->Put({}, "b", "2").ok());
  EXPECT_TRUE(store.db->Put({}, "a", "2").IsLockTimeout());
}

TEST(PessimisticTransactionTest, NamesAreUniqueAmongOpenTransactions) {
  Store store;
  const TransactionPtr first = store.Begin();
  ASSERT_TRUE(first->SetName("name").ok());
  EXPECT_TRUE(first->SetName("other").IsInvalidArgument());
  EXPECT_EQ(store.db->GetTransactionByName("name"), first.get());
  const TransactionPtr second = store.Begin();
  EXPECT_TRUE(second->SetName("name").IsInvalidArgument());
  EXPECT_TRUE(second->SetName("").IsInvalidArgument());
  EXPECT_TRUE(second->SetName(std::string(512, 'n')).IsInvalidArgument());
  ASSERT_TRUE(first->Commit().ok());
  EXPECT_EQ(store.db->GetTransactionByName("name"), nullptr);
  EXPECT_TRUE(second->SetName("name").ok());
}

TEST(PessimisticTransactionTest, WrongUseIsAnError) {
  Store store;
  const TransactionPtr transaction = store.Begin({.max_write_batch_size = 60});
  EXPECT_TRUE(store.db->DeleteRange({}, "b", "a").IsInvalidArgument());
  EXPECT_TRUE(store.db->Write({}, nullptr).IsInvalidArgument());
  EXPECT_TRUE(store.db->Put({}, nullptr, "a", "1").IsInvalidArgument());
  EXPECT_TRUE(store.db->Delete({}, nullptr, "a").IsInvalidArgument());
  EXPECT_TRUE(store.db->SingleDelete({}, nullptr, "a").IsInvalidArgument());
  EXPECT_TRUE(transaction->Prepare().IsInvalidArgument());  // it has no name
  EXPECT_TRUE(transaction->Put("big", std::string(100, 'v')).IsAborted());
  EXPECT_TRUE(transaction->Put(nullptr, "a", "1", /*assume_tracked=*/true).IsInvalidArgument());
  EXPECT_TRUE(store.db->Close().IsAborted());
}

TEST(PessimisticTransactionTest, TransactionsMoveMoneyAndLoseNone) {
  constexpr int kAccounts = 10;
  constexpr int kThreads = 4;
  Store store({.transaction_lock_timeout = 200});
  for (int i = 0; i < kAccounts; ++i) ASSERT_TRUE(store.db->Put({}, NumberedKey(i), "100").ok());
  const std::uint64_t seed = SeedFromEnvironment(5);
  std::atomic<int> commits{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Prng prng(seed + static_cast<std::uint64_t>(t));
      const std::uint64_t rounds = ScaledCount(150);
      for (std::uint64_t i = 0; i < rounds; ++i) {
        const TransactionPtr transaction = store.Begin({.deadlock_detect = true});
        const std::string from = NumberedKey(static_cast<int>(prng.Uniform(kAccounts)));
        const std::string to = NumberedKey(static_cast<int>(prng.Uniform(kAccounts)));
        std::string has;
        std::string gets;
        if (!transaction->GetForUpdate({}, from, &has).ok()) continue;
        if (!transaction->GetForUpdate({}, to, &gets).ok() || from == to) continue;
        if (!transaction->Put(from, std::to_string(std::stoi(has) - 1)).ok()) continue;
        if (!transaction->Put(to, std::to_string(std::stoi(gets) + 1)).ok()) continue;
        if (transaction->Commit().ok()) ++commits;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int sum = 0;
  for (int i = 0; i < kAccounts; ++i) sum += std::stoi(store.Get(NumberedKey(i)));
  EXPECT_EQ(sum, 100 * kAccounts);
  EXPECT_GT(commits.load(), 0);
  EXPECT_TRUE(store.db->GetLockStatusData().empty());
}

}  // namespace
}  // namespace cambium::testing::pessimistic_transaction_test
