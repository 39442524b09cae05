// Memory that runs out in a call of a transaction: the call throws, and everything else is as before.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "cambium/optimistic_transaction_db.h"
#include "cambium/transaction_db.h"
#include "state/write_history.h"
#include "testing/files/ample_file_system.h"
#include "testing/scarce_memory.h"
#include "testing/test_store.h"

namespace cambium::testing::transaction_memory_test {
namespace {

const std::string kKey = "a key that is too long for a string without memory of its own";
const std::string kValue(100, 'v');

// A transaction with two writes, a save point between them.
struct World {
  World() {
    store.options.file_system = std::make_shared<AmpleFileSystem>(store.fs);
    EXPECT_TRUE(TransactionDB::Open(store.options, {.transaction_lock_timeout = 0}, kStorePath, &db).ok());
    EXPECT_TRUE(db->Put({}, "first", "1").ok());  // makes the first segment of the log
    transaction.reset(db->BeginTransaction({}));
    EXPECT_TRUE(transaction->Put(kKey + "1", kValue).ok());
    transaction->SetSavePoint();
    EXPECT_TRUE(transaction->Put(kKey + "2", kValue).ok());
  }
  std::string Own(const std::string& key) {
    std::string value;
    return transaction->Get({}, key, &value).ok() ? value : "";
  }
  // A transaction has a lock for each key that it tracks, and reads its writes.
  void ExpectSound(const std::string& where) {
    EXPECT_EQ(db->GetLockStatusData().size(), transaction->GetNumKeys()) << where;
    EXPECT_EQ(Own(kKey + "1"), kValue) << where;
  }
  TestStore store;
  std::unique_ptr<TransactionDB> db;
  std::unique_ptr<Transaction> transaction;
};

// Lets each allocation of the call fail, one after the other, each time in a new world.
void LetEachFail(const std::function<void(World*)>& call, const std::function<void(World*, bool, int)>& check) {
  if (!kMemoryCanBeScarce) GTEST_SKIP() << kMemoryIsAmple;
  for (int granted = 0; granted < 1000; ++granted) {
    World world;
    bool has_thrown = false;
    std::uint64_t refused = 0;
    {
      ScarceMemory scarce(static_cast<std::uint64_t>(granted));
      try {
        call(&world);
      } catch (const std::bad_alloc&) {
        has_thrown = true;
      }
      refused = scarce.End();
    }
    check(&world, has_thrown, granted);
    world.transaction.reset();
    EXPECT_TRUE(world.db->GetLockStatusData().empty()) << "a lock remains, " << granted;
    EXPECT_TRUE(world.db->GetRangeLockStatusData().empty()) << "a range remains, " << granted;
    if (refused == 0) return;
  }
  FAIL() << "the call never succeeded";
}

TEST(TransactionMemoryTest, APutThatFailsLeavesNoLockAndNoOperation) {
  LetEachFail([](World* world) { static_cast<void>(world->transaction->Put(kKey + "3", kValue)); },
              [](World* world, bool has_thrown, int granted) {
                const std::string where = "after " + std::to_string(granted);
                world->ExpectSound(where);
                if (!has_thrown) return;
                EXPECT_TRUE(world->transaction->RollbackToSavePoint().ok()) << where;
                EXPECT_EQ(world->transaction->GetWriteBatch()->GetWriteBatch()->Count(), 1u) << where;
                EXPECT_EQ(world->transaction->GetNumKeys(), 1u) << where;
                world->ExpectSound(where);
              });
}

// Both after a snapshot, so that the range is compared too.
TEST(TransactionMemoryTest, ARangeThatFailsLeavesNoLock) {
  const auto check = [](World* world, bool has_thrown, int granted) {
    const std::string where = "after " + std::to_string(granted);
    world->ExpectSound(where);
    // A DeleteRange may have locked its range, and then found no memory for its operation.
    EXPECT_LE(world->db->GetRangeLockStatusData().size(), 1u) << where;
    EXPECT_TRUE(world->transaction->RollbackToSavePoint().ok()) << where;
    EXPECT_TRUE(world->db->GetRangeLockStatusData().empty()) << where;
    EXPECT_EQ(world->transaction->GetWriteBatch()->GetWriteBatch()->Count(), 1u) << where;
    EXPECT_EQ(world->db->Put({}, kKey + "5", "1").ok(), true) << where << (has_thrown ? ", thrown" : "");
  };
  LetEachFail(
      [](World* world) {
        {
          const AmpleMemory ample;
          world->transaction->SetSnapshot();
        }
        static_cast<void>(world->transaction->TrackRange(kKey + "4", kKey + "6"));
      },
      check);
  LetEachFail([](World* world) { static_cast<void>(world->transaction->DeleteRange(kKey + "4", kKey + "6")); }, check);
}

TEST(TransactionMemoryTest, AnOptimisticCommitThatThrowsCanBeRepeated) {
  if (!kMemoryCanBeScarce) GTEST_SKIP() << kMemoryIsAmple;
  for (std::uint64_t granted = 0; granted < 1000; ++granted) {
    TestStore store;
    store.options.file_system = std::make_shared<AmpleFileSystem>(store.fs);
    store.MustOpen();
    store.Put("first", "1");
    const std::unique_ptr<Transaction> transaction(BeginOptimisticTransaction(store.db.get(), {}));
    ASSERT_TRUE(transaction->TrackRange(kKey + "4", kKey + "6").ok());
    ASSERT_TRUE(transaction->TrackRange(std::nullopt, kKey).ok());
    ASSERT_TRUE(transaction->Put(kKey + "9", kValue).ok());
    bool has_thrown = false;
    std::uint64_t refused = 0;
    {
      ScarceMemory scarce(granted);
      try {
        static_cast<void>(transaction->Commit());
      } catch (const std::bad_alloc&) {
        has_thrown = true;
      }
      refused = scarce.End();
    }
    const bool is_there = store.Get(kKey + "9") == kValue;
    EXPECT_EQ(is_there, transaction->GetState() == Transaction::COMMITTED) << granted;
    if (!is_there) {
      EXPECT_TRUE(transaction->Commit().ok()) << granted << (has_thrown ? ", thrown" : "");
    }
    store.Put("later", "1");  // no watch is left
    if (refused == 0) return;
  }
  FAIL() << "the commit never succeeded";
}

TEST(TransactionMemoryTest, SavePointsOfTransactionAndBatchStayTogether) {
  LetEachFail([](World* world) { world->transaction->SetSavePoint(); },
              [](World* world, bool has_thrown, int granted) {
                const std::string where = "after " + std::to_string(granted);
                if (!has_thrown) {
                  EXPECT_TRUE(world->transaction->PopSavePoint().ok()) << where;
                }
                EXPECT_TRUE(world->transaction->RollbackToSavePoint().ok()) << where;
                EXPECT_TRUE(world->transaction->RollbackToSavePoint().IsNotFound()) << where;
                EXPECT_EQ(world->transaction->GetWriteBatch()->GetWriteBatch()->Count(), 1u) << where;
                world->ExpectSound(where);
              });
  LetEachFail(
      [](World* world) {
        {
          const AmpleMemory ample;
          world->transaction->SetSavePoint();
          EXPECT_TRUE(world->transaction->Put(kKey + "4", kValue).ok());
        }
        static_cast<void>(world->transaction->PopSavePoint());
      },
      [](World* world, bool has_thrown, int granted) {
        const std::string where = "after " + std::to_string(granted);
        if (has_thrown) {
          EXPECT_TRUE(world->transaction->RollbackToSavePoint().ok()) << where;
        }
        EXPECT_TRUE(world->transaction->RollbackToSavePoint().ok()) << where;
        EXPECT_EQ(world->transaction->GetNumKeys(), 1u) << where;
        world->ExpectSound(where);
      });
}

TEST(TransactionMemoryTest, ARollbackToASavePointTakesNoMemory) {
  LetEachFail([](World* world) { static_cast<void>(world->transaction->RollbackToSavePoint()); },
              [](World* world, bool has_thrown, int granted) {
                EXPECT_FALSE(has_thrown) << "after " << granted;
                EXPECT_EQ(world->transaction->GetNumKeys(), 1u);
                world->ExpectSound("rolled back");
              });
}

TEST(TransactionMemoryTest, ACommitThatThrowsCanBeRepeated) {
  LetEachFail([](World* world) { static_cast<void>(world->transaction->Commit()); },
              [](World* world, bool has_thrown, int granted) {
                std::string value;
                const bool is_there = world->db->Get({}, kKey + "1", &value).ok();
                EXPECT_EQ(is_there, world->transaction->GetState() == Transaction::COMMITTED) << "after " << granted;
                if (is_there) return;
                EXPECT_TRUE(has_thrown);
                EXPECT_TRUE(world->transaction->Commit().ok()) << "after " << granted;
              });
}

TEST(TransactionMemoryTest, FailedSetNameRegistersNoName) {
  const std::string name(100, 'n');
  LetEachFail([&](World* world) { static_cast<void>(world->transaction->SetName(name)); },
              [&](World* world, bool has_thrown, int) {
                EXPECT_EQ(world->db->GetTransactionByName(name) != nullptr, !has_thrown);
                world->transaction.reset();
                EXPECT_EQ(world->db->GetTransactionByName(name), nullptr);
              });
}

TEST(TransactionMemoryTest, HistoryReportsMemtablesLostToOutOfMemory) {
  if (!kMemoryCanBeScarce) GTEST_SKIP() << kMemoryIsAmple;
  for (std::uint64_t granted = 0; granted < 10; ++granted) {
    WriteHistory history;
    WriteHistory::Mark mark(&history);
    mark.StartAt(10);
    const auto older = std::make_shared<LogTable>(BytewiseComparator(), nullptr);
    const auto newer = std::make_shared<LogTable>(BytewiseComparator(), nullptr);
    history.Leave(1, newer, 200, 1 << 30);
    {
      const ScarceMemory scarce(granted);
      history.Leave(2, older, 100, 1 << 30);
    }
    const WriteHistory::Part part = history.PartOf(1, 120);
    EXPECT_TRUE(!part.tables.empty() || part.floor >= 200) << granted;
  }
}

}  // namespace
}  // namespace cambium::testing::transaction_memory_test
