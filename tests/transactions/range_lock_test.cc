// Ranges that pessimistic transactions lock, and range deletes in transactions of both kinds.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cambium/optimistic_transaction_db.h"
#include "cambium/transaction_db.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/test_comparators.h"
#include "testing/test_store.h"
#include "transactions/key_range.h"
#include "util/fault_point.h"
#include "util/prng.h"

namespace cambium::testing::range_lock_test {
namespace {

using TransactionPtr = std::unique_ptr<Transaction>;

// A database in a simulated file system whose background tasks run in threads, with the system's clock. By default no
// call waits for a lock.
struct Store {
  explicit Store(const TransactionDBOptions& transactions = {.transaction_lock_timeout = 0, .default_lock_timeout = 0},
                 const Comparator* comparator = nullptr) {
    options.file_system = std::make_shared<SimFileSystem>();
    options.info_log = NullLogger();
    if (comparator != nullptr) options.comparator = comparator;
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

Status Track(Transaction* transaction, const char* key, bool exclusive) {
  return transaction->GetForUpdate({}, key, static_cast<std::string*>(nullptr), exclusive);
}

TEST(RangeLockTest, ATrackedRangeCanBeReadButNotWrittenByOthers) {
  Store store;
  const TransactionPtr first = store.Begin();
  const TransactionPtr second = store.Begin();
  ASSERT_TRUE(first->TrackRange("c", "f").ok());
  EXPECT_TRUE(second->TrackRange("a", "z").ok());
  EXPECT_TRUE(Track(second.get(), "d", /*exclusive=*/false).ok());
  EXPECT_TRUE(Track(second.get(), "d", /*exclusive=*/true).IsLockTimeout());
  EXPECT_TRUE(second->Put("d", "2").IsLockTimeout());
  EXPECT_TRUE(second->Delete("c").IsLockTimeout());
  EXPECT_TRUE(second->DeleteRange("e", "h").IsLockTimeout());
  EXPECT_TRUE(second->GetRangeLock(nullptr, Endpoint("a"), Endpoint("c")).IsLockTimeout());
  ASSERT_TRUE(second->Rollback().ok());
  EXPECT_TRUE(second->Put("f", "2").ok());
  EXPECT_TRUE(second->Put("b", "2").ok());
  EXPECT_TRUE(second->DeleteRange("f", "h").ok());
  EXPECT_TRUE(first->Put("d", "1").ok());  // its own range
  EXPECT_TRUE(first->GetRangeLock(nullptr, Endpoint("c"), Endpoint("e")).ok());
  ASSERT_TRUE(first->Commit().ok());
  EXPECT_TRUE(second->Put("d", "2").ok());
  ASSERT_TRUE(second->Commit().ok());
  EXPECT_EQ(store.Get("d"), "2");
  EXPECT_TRUE(store.db->GetRangeLockStatusData().empty());
  EXPECT_TRUE(store.db->GetLockStatusData().empty());
}

// Returns whether a range is locked although another transaction has a key in it, and a key although another one has
// a range with it.
std::pair<bool, bool> Intruders() {
  Store store;
  const TransactionPtr first = store.Begin();
  const TransactionPtr second = store.Begin();
  EXPECT_TRUE(first->Put("d", "1").ok());
  const bool range_intrudes = !second->TrackRange("c", "f").IsLockTimeout();
  EXPECT_TRUE(first->TrackRange("m", "p").ok());
  const bool key_intrudes = !second->Put("n", "2").IsLockTimeout();
  return {range_intrudes, key_intrudes};
}

TEST(RangeLockTest, KeysAndRangesExcludeEachOther) {
  EXPECT_EQ(Intruders(), std::pair(false, false));
  {
    const MutantScope mutant(Mutant::kRangesIgnoreLockedKeys);
    EXPECT_EQ(Intruders(), std::pair(true, false));
  }
  const MutantScope mutant(Mutant::kKeysIgnoreRanges);
  EXPECT_EQ(Intruders(), std::pair(false, true));
}

TEST(RangeLockTest, MutantSharedRangesExcludeEachOtherIsNoticed) {
  Store store;
  const TransactionPtr first = store.Begin();
  const TransactionPtr second = store.Begin();
  ASSERT_TRUE(first->TrackRange("c", "f").ok());
  const MutantScope mutant(Mutant::kSharedRangesExcludeEachOther);
  EXPECT_TRUE(second->TrackRange("c", "f").IsLockTimeout());
}

TEST(RangeLockTest, WritesOutsideOfTransactionsRespectRanges) {
  Store store;
  const TransactionPtr transaction = store.Begin();
  ASSERT_TRUE(transaction->TrackRange("c", "f").ok());
  EXPECT_TRUE(store.db->Put({}, "d", "1").IsLockTimeout());
  EXPECT_TRUE(store.db->Delete({}, "d").IsLockTimeout());
  EXPECT_TRUE(store.db->DeleteRange({}, "a", "d").IsLockTimeout());
  bool written = true;
  EXPECT_TRUE(PutIfAbsent(store.db.get(), {}, "d", "1", &written).IsLockTimeout());
  EXPECT_FALSE(written);
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.DeleteRange("e", "h").ok());
  EXPECT_TRUE(store.db->Write({}, &batch).IsLockTimeout());
  EXPECT_EQ(store.Get("a"), "NotFound");
  EXPECT_TRUE(store.db->DeleteRange({}, "a", "c").ok());
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_TRUE(store.db->Write({}, &batch).ok());
  EXPECT_EQ(store.Get("a"), "1");
  EXPECT_TRUE(store.db->GetRangeLockStatusData().empty());
}

TEST(RangeLockTest, EndpointsAreAsInRocksDb) {
  Store store;
  const TransactionPtr first = store.Begin();
  const auto is_free = [&](const char* key) { return store.db->Put({}, key, "1").ok(); };
  ASSERT_TRUE(first->GetRangeLock(nullptr, Endpoint("b"), Endpoint("d")).ok());
  EXPECT_TRUE(!is_free("b") && !is_free("d") && is_free("a") && is_free("d0"));
  ASSERT_TRUE(first->Rollback().ok());
  ASSERT_TRUE(first->GetRangeLock(nullptr, Endpoint("b"), Endpoint("d", true)).ok());  // with all that begin with d
  EXPECT_TRUE(!is_free("d") && !is_free("dzzz") && is_free("e"));
  ASSERT_TRUE(first->Rollback().ok());
  ASSERT_TRUE(first->GetRangeLock(nullptr, Endpoint("b", true), Endpoint("\xff", true)).ok());
  EXPECT_TRUE(is_free("b") && is_free("bzzz") && !is_free("c") && !is_free("\xff\xff"));
  ASSERT_TRUE(first->Rollback().ok());
  ASSERT_TRUE(first->GetRangeLock(nullptr, Endpoint("y"), Endpoint("", true)).ok());
  EXPECT_TRUE(is_free("x") && !is_free("y") && !is_free("\xff\xff\xff"));
  ASSERT_TRUE(first->Rollback().ok());
  ASSERT_TRUE(first->GetRangeLock(nullptr, Endpoint("k"), Endpoint("k")).ok());  // a range of one key
  EXPECT_TRUE(!is_free("k") && is_free("k0") && is_free("j"));
  EXPECT_TRUE(first->GetRangeLock(nullptr, Endpoint("k"), Endpoint("j")).IsInvalidArgument());
}

// Only a comparator whose keys with a common beginning are neighbours has a place behind them.
TEST(RangeLockTest, RangesHaveTheOrderOfTheComparator) {
  Store store({.transaction_lock_timeout = 0, .default_lock_timeout = 0}, LengthFirstComparator());
  const TransactionPtr first = store.Begin();
  EXPECT_TRUE(first->GetRangeLock(nullptr, Endpoint("b"), Endpoint("b", true)).IsInvalidArgument());
  EXPECT_TRUE(first->TrackRange("aa", "b").IsInvalidArgument());  // the longer key comes later
  ASSERT_TRUE(first->TrackRange("b", "aa").ok());
  EXPECT_TRUE(store.db->Put({}, "z", "1").IsLockTimeout());
  EXPECT_TRUE(store.db->Put({}, "a", "1").ok());
  EXPECT_TRUE(store.db->Put({}, "aa", "1").ok());
  ASSERT_TRUE(first->GetRangeLock(nullptr, Endpoint("bbb"), Endpoint("", true)).ok());
  EXPECT_TRUE(store.db->Put({}, "aaaa", "1").IsLockTimeout());
}

TEST(RangeLockTest, EqualKeysOfAComparatorAreInTheSameRange) {
  Store store({.transaction_lock_timeout = 0, .default_lock_timeout = 0}, CaseFoldingComparator());
  const TransactionPtr first = store.Begin();
  ASSERT_TRUE(first->GetRangeLock(nullptr, Endpoint("B"), Endpoint("d")).ok());
  EXPECT_TRUE(store.db->Put({}, "D", "1").IsLockTimeout());
  EXPECT_TRUE(store.db->Put({}, "b", "1").IsLockTimeout());
  EXPECT_TRUE(store.db->Put({}, "E", "1").ok());
}

TEST(RangeLockTest, SavePointsRestoreWhatIsLocked) {
  Store store;
  const TransactionPtr first = store.Begin();
  ASSERT_TRUE(first->TrackRange("a", "c").ok());
  first->SetSavePoint();
  ASSERT_TRUE(first->TrackRange("a", "b").ok());  // part of a range that it has: no lock of its own
  ASSERT_TRUE(first->TrackRange("c", "f").ok());
  EXPECT_EQ(store.db->GetRangeLockStatusData().size(), 2u);
  EXPECT_TRUE(store.db->Put({}, "d", "1").IsLockTimeout());
  ASSERT_TRUE(first->RollbackToSavePoint().ok());
  EXPECT_TRUE(store.db->Put({}, "d", "1").ok());
  EXPECT_TRUE(store.db->Put({}, "a", "1").IsLockTimeout());
  first->SetSavePoint();
  ASSERT_TRUE(first->TrackRange("c", "f").ok());
  ASSERT_TRUE(first->PopSavePoint().ok());
  EXPECT_TRUE(store.db->Put({}, "d", "1").IsLockTimeout());
  // A key keeps the lock of the range, also if its own is undone.
  ASSERT_TRUE(Track(first.get(), "e", true).ok());
  first->UndoGetForUpdate("e");
  EXPECT_TRUE(store.db->Put({}, "e", "1").IsLockTimeout());
  ASSERT_TRUE(first->Rollback().ok());
  EXPECT_TRUE(store.db->Put({}, "a", "1").ok());
  EXPECT_TRUE(store.db->GetRangeLockStatusData().empty());
}

TEST(RangeLockTest, LocksAreListed) {
  Store store;
  const TransactionPtr first = store.Begin();
  ASSERT_TRUE(first->TrackRange("a", std::nullopt).ok());
  auto all = store.db->GetRangeLockStatusData();
  ASSERT_EQ(all.size(), 1u);
  const RangeLockInfo shared = all.begin()->second;
  EXPECT_EQ(shared.begin, "a");
  EXPECT_EQ(shared.end, std::nullopt);
  EXPECT_FALSE(shared.exclusive);
  EXPECT_EQ(shared.ids, std::vector<TransactionID>{first->GetID()});
  ASSERT_TRUE(first->Rollback().ok());
  ASSERT_TRUE(first->GetRangeLock(nullptr, Endpoint("a"), Endpoint("b")).ok());
  all = store.db->GetRangeLockStatusData();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.begin()->second.end, "b");
  EXPECT_TRUE(all.begin()->second.has_end && all.begin()->second.exclusive);
}

TEST(RangeLockTest, ARangeCountsAsOneLock) {
  Store store({.max_num_locks = 2, .transaction_lock_timeout = 0});
  const TransactionPtr first = store.Begin();
  ASSERT_TRUE(first->TrackRange("a", "c").ok());
  ASSERT_TRUE(first->Put("x", "1").ok());
  EXPECT_TRUE(first->TrackRange("d", "f").IsLockLimit());
  EXPECT_TRUE(first->Put("y", "1").IsLockLimit());
  ASSERT_TRUE(first->Rollback().ok());
  ASSERT_TRUE(first->TrackRange("d", "f").ok());
  const TransactionPtr second = store.Begin();
  EXPECT_TRUE(second->DeleteRange("a", "z").IsLockTimeout());  // a request that fails leaves no count
  ASSERT_TRUE(second->Put("y", "1").ok());
  EXPECT_TRUE(second->Put("z", "1").IsLockLimit());
}

TEST(RangeLockTest, WhatChangedAfterTheSnapshotIsAConflict) {
  Store store;
  ASSERT_TRUE(store.db->Put({}, "d", "1").ok());
  const TransactionPtr first = store.Begin({.set_snapshot = true});
  ASSERT_TRUE(store.db->Put({}, "d", "2").ok());
  ASSERT_TRUE(store.db->Put({}, "k", "2").ok());
  EXPECT_TRUE(first->TrackRange("c", "f").IsBusy());
  EXPECT_TRUE(first->DeleteRange("c", "f").IsBusy());
  EXPECT_TRUE(first->GetRangeLock(nullptr, Endpoint("h"), Endpoint("k")).IsBusy());  // the last key
  EXPECT_TRUE(store.db->GetRangeLockStatusData().empty());
  EXPECT_TRUE(first->TrackRange("h", "k").ok());
  EXPECT_TRUE(first->Commit().ok());
}

TEST(RangeLockTest, LocksOfAnExpiredTransactionAreTaken) {
  Store store({.transaction_lock_timeout = 10'000});
  for (const bool range_is_old : {true, false}) {
    const TransactionPtr old = store.Begin({.expiration = 20});
    ASSERT_TRUE((range_is_old ? old->TrackRange("a", "c") : old->Put("b", "1")).ok());
    const TransactionPtr young = store.Begin();
    ASSERT_TRUE((range_is_old ? young->Put("b", "2") : young->DeleteRange("a", "c")).ok());  // waits for the expiration
    EXPECT_EQ(old->GetState(), Transaction::LOCKS_STOLEN);
    EXPECT_TRUE(old->Commit().IsExpired());
    ASSERT_TRUE(old->Rollback().ok());  // leaves the lock to the other
    EXPECT_EQ(store.db->GetRangeLockStatusData().size() + store.db->GetLockStatusData().size(), 1u);
    ASSERT_TRUE(young->Commit().ok());
  }
}

TEST(RangeLockTest, ARequestWaitsForTheEndOfALock) {
  Store store({.transaction_lock_timeout = 10'000, .default_lock_timeout = 10'000});
  const std::vector<std::function<Status(Transaction*)>> locks = {
      [](Transaction* t) { return t->Put("d", "1"); },
      [](Transaction* t) { return t->TrackRange("c", "f"); },
      [](Transaction* t) { return t->DeleteRange("a", "e"); },
  };
  for (const auto& of_first : locks) {
    for (const auto& of_second : locks) {
      TransactionPtr first = store.Begin();
      ASSERT_TRUE(of_first(first.get()).ok());
      const TransactionPtr second = store.Begin();
      std::atomic<bool> has_lock{false};
      std::thread waiter([&] {
        EXPECT_TRUE(of_second(second.get()).ok());
        has_lock = true;
        EXPECT_TRUE(second->Commit().ok());
      });
      const bool both_shared = &of_first == &locks[1] && &of_second == &locks[1];
      if (!both_shared) {
        while (second->GetWaitingTxns(nullptr, nullptr).empty()) std::this_thread::yield();
        EXPECT_FALSE(has_lock);
        EXPECT_EQ(second->GetWaitingTxns(nullptr, nullptr), std::vector<TransactionID>{first->GetID()});
      }
      EXPECT_TRUE(first->Commit().ok());
      waiter.join();
    }
  }
  EXPECT_TRUE(store.db->GetRangeLockStatusData().empty());
}

TEST(RangeLockTest, ADeadlockOverRangesIsReportedWithItsCircle) {
  Store store({.transaction_lock_timeout = 10'000});
  const TransactionPtr first = store.Begin();
  const TransactionPtr second = store.Begin({.deadlock_detect = true});
  ASSERT_TRUE(first->TrackRange("a", "c").ok());
  ASSERT_TRUE(second->Put("n", "2").ok());
  std::thread waiter([&] {
    EXPECT_TRUE(first->TrackRange("m", "p").ok());  // after the other one has given up
    EXPECT_TRUE(first->Commit().ok());
  });
  while (first->GetWaitingTxns(nullptr, nullptr).empty()) std::this_thread::yield();
  const Status s = second->DeleteRange("b", "bb");
  EXPECT_TRUE(s.IsDeadlock()) << s.ToString();
  EXPECT_NE(s.ToString().find("range [62, 6262)"), std::string::npos) << s.ToString();
  const std::vector<DeadlockPath> deadlocks = store.db->GetDeadlockInfoBuffer();
  ASSERT_EQ(deadlocks.size(), 1u);
  ASSERT_EQ(deadlocks[0].path.size(), 2u);
  EXPECT_EQ(deadlocks[0].path[0].txn_id, second->GetID());
  EXPECT_EQ(deadlocks[0].path[0].waiting_key, "b");
  EXPECT_EQ(deadlocks[0].path[1].txn_id, first->GetID());
  EXPECT_EQ(deadlocks[0].path[1].waiting_key, "n");
  EXPECT_FALSE(deadlocks[0].path[1].exclusive);
  ASSERT_TRUE(second->Rollback().ok());
  waiter.join();
}

// The first of two transactions releases the range for which the second waits, and then wants a key of the second.
int FalseDeadlocks() {
  Store store({.transaction_lock_timeout = 5000});
  int deadlocks = 0;
  for (int i = 0; i < 20; ++i) {
    const TransactionPtr first = store.Begin({.deadlock_detect = true});
    const TransactionPtr second = store.Begin();
    first->SetSavePoint();
    EXPECT_TRUE(first->TrackRange("a", "c").ok());
    EXPECT_TRUE(second->Put("x", "1").ok());
    std::thread waiter([&] {
      EXPECT_TRUE(second->Put("b", "2").ok());
      EXPECT_TRUE(second->Commit().ok());
    });
    while (second->GetWaitingTxns(nullptr, nullptr).empty()) std::this_thread::yield();
    EXPECT_TRUE(first->RollbackToSavePoint().ok());
    if (first->Put("x", "3").IsDeadlock()) ++deadlocks;
    waiter.join();
  }
  return deadlocks;
}

TEST(RangeLockTest, AReleasedRangeIsNoPartOfADeadlock) {
  EXPECT_EQ(FalseDeadlocks(), 0);
  // The waiter may notice the release before the other transaction asks for its key.
  const MutantScope mutant(Mutant::kReleasedRangesStayAwaited);
  int deadlocks = 0;
  for (int i = 0; i < 200 && deadlocks == 0; ++i) deadlocks = FalseDeadlocks();
  EXPECT_GT(deadlocks, 0);
}

// While a transaction takes a range, another one asks for a key in it at the named place. Returns whether each has its
// lock. `has_key`: a third one has a key in the range, so that it cannot be taken.
std::pair<bool, bool> LockBesideARange(const char* place, bool has_key) {
  Store store;
  const TransactionPtr ranged = store.Begin();
  const TransactionPtr keyed = store.Begin();
  const TransactionPtr third = store.Begin();
  if (has_key) {
    EXPECT_TRUE(third->Put("d", "1").ok());
  }
  std::thread other;
  std::atomic<bool> key_is_locked{false};
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string(name) != place || other.joinable()) return;
    other = std::thread([&] { key_is_locked = keyed->Put("e", "1").ok(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it may be done by then, or wait for the claim
  });
  const bool range_is_locked = ranged->TrackRange("c", "f").ok();
  FaultPoints::Instance().Set(nullptr);
  other.join();
  return {range_is_locked, key_is_locked};
}

TEST(RangeLockTest, AKeyIsNotLockedBesideTheRangeThatIsBeingLocked) {
  EXPECT_EQ(LockBesideARange("KeyLocks:claimed", false), std::pair(true, false));
  // A claim that is withdrawn does not make others fail.
  EXPECT_EQ(LockBesideARange("KeyLocks:claimed", true), std::pair(false, true));
  {
    const MutantScope mutant(Mutant::kRangeLooksBeforeItsClaim);
    EXPECT_EQ(LockBesideARange("KeyLocks:looked", false), std::pair(true, true));
  }
  const MutantScope mutant(Mutant::kClaimsCountAsLocks);
  EXPECT_EQ(LockBesideARange("KeyLocks:claimed", true), std::pair(false, false));
}

// Batches lock keys and ranges in one order, that of the comparator, so none waits for another one that waits for it.
TEST(RangeLockTest, BatchesWithRangesNeverWaitInACircle) {
  Store store({.default_lock_timeout = 60'000}, ReverseBytewiseComparator());
  const std::uint64_t seed = SeedFromEnvironment(23);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      Prng prng(seed + static_cast<std::uint64_t>(t));
      const auto key = [&] { return std::string(1, static_cast<char>('a' + prng.Uniform(8))); };
      for (std::uint64_t i = 0; i < ScaledCount(200); ++i) {
        WriteBatch batch;
        for (std::uint64_t op = 0; op < 4; ++op) {
          const std::string one = key();
          const std::string other = key();
          const Status added = prng.OneIn(2) ? batch.Put(one, "1")
                                             : batch.DeleteRange(std::max(one, other), std::min(one, other));
          EXPECT_TRUE(added.ok());
        }
        const Status s = store.db->Write({}, &batch);
        EXPECT_TRUE(s.ok()) << s.ToString();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(store.db->GetRangeLockStatusData().empty());
}

// ---- Range deletes ----

// The keys and values that the transaction shows.
std::string Contents(Transaction* transaction) {
  std::string text;
  const std::unique_ptr<Iterator> it(transaction->GetIterator({}));
  for (it->SeekToFirst(); it->Valid(); it->Next()) text += it->key().ToString() + it->value().ToString() + " ";
  return text;
}

// Runs the same range deletes in a transaction of each kind.
void DeleteRanges(DB* db, Transaction* transaction) {
  ASSERT_TRUE(transaction->Put("c", "2").ok());
  ASSERT_TRUE(transaction->Put("m", "2").ok());
  transaction->SetSavePoint();
  ASSERT_TRUE(transaction->DeleteRange("b", "f").ok());
  ASSERT_TRUE(transaction->Put("d", "3").ok());
  EXPECT_EQ(Contents(transaction), "a1 d3 g1 m2 ");
  std::string value;
  EXPECT_TRUE(transaction->Get({}, "c", &value).IsNotFound());
  EXPECT_TRUE(transaction->Get({}, "e", &value).IsNotFound());
  EXPECT_TRUE(transaction->GetForUpdate({}, "b", &value).IsNotFound());
  ASSERT_TRUE(transaction->RollbackToSavePoint().ok());
  EXPECT_EQ(Contents(transaction), "a1 b1 c2 e1 g1 m2 ");
  EXPECT_TRUE(transaction->DeleteRange("f", "b").IsInvalidArgument());
  EXPECT_TRUE(transaction->DeleteRange("f", "f").ok());
  EXPECT_EQ(transaction->GetNumDeletes(), 0u);
  ASSERT_TRUE(transaction->DeleteRange("b", "f").ok());
  EXPECT_EQ(transaction->GetNumDeletes(), 1u);
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_TRUE(transaction->DeleteRange("b", "f").IsInvalidArgument());
  EXPECT_TRUE(db->Get({}, "b", &value).IsNotFound());
  EXPECT_TRUE(db->Get({}, "c", &value).IsNotFound());
  EXPECT_TRUE(db->Get({}, "g", &value).ok());
}

TEST(RangeLockTest, ARangeDeleteIsSeenByItsTransactionAndThenByAll) {
  const auto fill = [](DB* db) {
    for (const char* const key : {"a", "b", "e", "g"}) ASSERT_TRUE(db->Put({}, key, "1").ok());
  };
  Store store;
  fill(store.db.get());
  const TransactionPtr locking = store.Begin();
  DeleteRanges(store.db.get(), locking.get());
  TestStore below;
  below.MustOpen();
  fill(below.db.get());
  const TransactionPtr optimistic(BeginOptimisticTransaction(below.db.get(), {}));
  DeleteRanges(below.db.get(), optimistic.get());
}

// Returns whether a write in the range of a range delete is noticed: by a lock, and by an optimistic commit.
std::pair<bool, bool> RangeDeletesAreProtected() {
  Store store;
  const TransactionPtr locking = store.Begin();
  EXPECT_TRUE(locking->DeleteRange("b", "f").ok());
  const bool is_locked = store.db->Put({}, "c", "1").IsLockTimeout();
  TestStore below;
  below.MustOpen();
  const TransactionPtr optimistic(BeginOptimisticTransaction(below.db.get(), {}));
  EXPECT_TRUE(optimistic->DeleteRange("b", "f").ok());
  below.Put("c", "1");
  return {is_locked, optimistic->Commit().IsBusy()};
}

TEST(RangeLockTest, AWriteInTheRangeOfARangeDeleteIsAConflict) {
  EXPECT_EQ(RangeDeletesAreProtected(), std::pair(true, true));
  const MutantScope mutant(Mutant::kDeleteRangeLocksNothing);
  EXPECT_EQ(RangeDeletesAreProtected(), std::pair(false, false));
}

TEST(RangeLockTest, MisuseIsRefused) {
  Store store;
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "other", &handle).ok());
  const std::unique_ptr<ColumnFamilyHandle> other(handle);
  const TransactionPtr transaction = store.Begin();
  EXPECT_TRUE(transaction->TrackRange("f", "d").IsInvalidArgument());
  EXPECT_TRUE(transaction->TrackRange("d", "d").ok());
  EXPECT_TRUE(store.db->GetRangeLockStatusData().empty());
  ASSERT_TRUE(transaction->TrackRange(other.get(), "a", "c").ok());
  ASSERT_TRUE(store.db->Put({}, "b", "1").ok());  // of the default family
  ASSERT_TRUE(store.db->DropColumnFamily(other.get()).ok());
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_TRUE(transaction->GetRangeLock(nullptr, Endpoint("a"), Endpoint("b")).IsInvalidArgument());
  EXPECT_TRUE(store.db->GetRangeLockStatusData().empty());
  TestStore below;
  below.MustOpen();
  const TransactionPtr optimistic(BeginOptimisticTransaction(below.db.get(), {}));
  EXPECT_TRUE(optimistic->GetRangeLock(nullptr, Endpoint("a"), Endpoint("b")).IsNotSupported());
}

// ---- Random locks ----

// Places between the keys 0 to 15: before key i is 2i, after it is 2i + 1. A lock covers the places from `from` on and
// before `to`.
struct ModelLock {
  int from;
  int to;
  bool exclusive;
  bool is_key;
};

// Transactions lock random keys and ranges. Whether a lock is free follows from the locks that the others have.
class RandomLocks {
 public:
  explicit RandomLocks(std::uint64_t seed) : prng_(seed) {
    for (int i = 0; i < 4; ++i) actors_.push_back({store_.Begin(), {}, {}});
  }
  void Step() {
    Actor& actor = actors_[prng_.Uniform(actors_.size())];
    switch (prng_.Uniform(12)) {
      case 0:
        ASSERT_TRUE(actor.transaction->Rollback().ok());
        actor.locks.clear();
        actor.save_points.clear();
        return;
      case 1:
        actor.transaction->SetSavePoint();
        actor.save_points.push_back(actor.locks);
        return;
      case 2:
        ASSERT_EQ(actor.transaction->RollbackToSavePoint().ok(), !actor.save_points.empty());
        RestoreLocks(&actor);
        return;
      default:
        Lock(&actor);
    }
  }

 private:
  struct Actor {
    TransactionPtr transaction;
    std::vector<ModelLock> locks;
    std::vector<std::vector<ModelLock>> save_points;
  };
  static std::string KeyOf(int i) { return std::string(1, static_cast<char>('a' + i)); }

  // A key that was shared before the save point stays exclusive if it has become so.
  static void RestoreLocks(Actor* actor) {
    if (actor->save_points.empty()) return;
    std::vector<ModelLock> before = std::move(actor->save_points.back());
    actor->save_points.pop_back();
    for (ModelLock& each : before) {
      for (const ModelLock& later : actor->locks) {
        const bool is_same = each.is_key && later.is_key && later.from == each.from;
        each.exclusive = each.exclusive || (is_same && later.exclusive);
      }
    }
    actor->locks = std::move(before);
  }
  void Lock(Actor* actor) {
    const bool exclusive = prng_.OneIn(2);
    const int first = static_cast<int>(prng_.Uniform(15));
    const int last = first + static_cast<int>(prng_.Uniform(static_cast<std::uint64_t>(16 - first)));
    ModelLock lock{2 * first, 2 * first + 1, exclusive, prng_.OneIn(2)};
    Status s;
    Transaction& transaction = *actor->transaction;
    if (lock.is_key) {
      s = Track(&transaction, KeyOf(first).c_str(), exclusive);
    } else if (exclusive) {
      lock.to = 2 * last + 1;
      s = transaction.GetRangeLock(nullptr, Endpoint(KeyOf(first)), Endpoint(KeyOf(last)));
    } else {
      lock.to = 2 * last;
      s = transaction.TrackRange(KeyOf(first), KeyOf(last));
      if (first == last) {
        ASSERT_TRUE(s.ok());
        return;
      }
    }
    bool is_free = true;
    for (const Actor& other : actors_) {
      if (&other == actor) continue;
      for (const ModelLock& each : other.locks) {
        if (each.from < lock.to && lock.from < each.to && (each.exclusive || exclusive)) is_free = false;
      }
    }
    ASSERT_EQ(s.ok(), is_free) << s.ToString();
    ASSERT_TRUE(is_free || s.IsLockTimeout()) << s.ToString();
    if (is_free) actor->locks.push_back(lock);
  }

  Store store_;
  Prng prng_;
  std::vector<Actor> actors_;
};

TEST(RangeLockTest, RandomLocksExcludeEachOtherAsTheirRangesSay) {
  const std::uint64_t seed = SeedFromEnvironment(21);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  for (std::uint64_t round = 0; round < ScaledCount(20); ++round) {
    RandomLocks locks(seed + round);
    for (int i = 0; i < 300 && !::testing::Test::HasFatalFailure(); ++i) locks.Step();
  }
}

// Threads write and sum up a range. The sum never changes, because each write moves one from a key to another.
TEST(RangeLockTest, ThreadsSeeTheSameSumInALockedRange) {
  constexpr int kKeys = 8;
  Store store({.transaction_lock_timeout = 100, .default_lock_timeout = 100});
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(store.db->Put({}, "k" + std::to_string(i), "10").ok());
  const std::uint64_t seed = SeedFromEnvironment(22);
  std::atomic<int> sums{0};
  std::atomic<int> moves{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Prng prng(seed + static_cast<std::uint64_t>(t));
      for (std::uint64_t i = 0; i < ScaledCount(100); ++i) {
        const TransactionPtr transaction = store.Begin({.deadlock_detect = true});
        if (t % 2 == 0) {
          if (!transaction->TrackRange("k", "l").ok()) continue;
          int sum = 0;
          const std::unique_ptr<Iterator> it(transaction->GetIterator({}));
          for (it->Seek("k"); it->Valid(); it->Next()) sum += std::stoi(it->value().ToString());
          EXPECT_EQ(sum, 10 * kKeys);
          if (transaction->Commit().ok()) ++sums;
          continue;
        }
        // The keys come and go: at 0 a key is deleted.
        std::string key[2] = {"k" + std::to_string(prng.Uniform(kKeys)), "k" + std::to_string(prng.Uniform(kKeys))};
        if (key[0] == key[1]) continue;
        int has[2] = {0, 0};
        bool is_alive = true;
        for (int side = 0; side < 2; ++side) {
          std::string value;
          const Status s = transaction->GetForUpdate({}, key[side], &value);
          is_alive = is_alive && (s.ok() || s.IsNotFound());
          if (s.ok()) has[side] = std::stoi(value);
        }
        if (!is_alive || has[0] == 0) continue;
        const Status taken =
            has[0] == 1 ? transaction->Delete(key[0]) : transaction->Put(key[0], std::to_string(has[0] - 1));
        if (!taken.ok() || !transaction->Put(key[1], std::to_string(has[1] + 1)).ok()) continue;
        if (transaction->Commit().ok()) ++moves;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(sums.load(), 0);
  EXPECT_GT(moves.load(), 0);
  EXPECT_TRUE(store.db->GetRangeLockStatusData().empty());
  EXPECT_TRUE(store.db->GetLockStatusData().empty());
}

}  // namespace
}  // namespace cambium::testing::range_lock_test
