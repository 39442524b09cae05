// Which anomalies can happen at which level of isolation. The anomalies and their names are those of Hermitage
// (github.com/ept/hermitage), after Adya. docs/TRANSACTIONS.md has the levels.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cambium/optimistic_transaction_db.h"
#include "cambium/transaction_db.h"
#include "testing/test_store.h"

namespace cambium::testing::anomalies_test {
namespace {

// A level of isolation: a kind of transactions, and how they read.
struct Level {
  const char* name;
  bool locks;  // pessimistic
  bool has_snapshot;
  bool reads_for_update;
  bool tracks_ranges;
};
constexpr Level kReadCommitted{"read committed, optimistic", false, false, false, false};
constexpr Level kSnapshot{"snapshot isolation, optimistic", false, true, false, false};
constexpr Level kForUpdate{"reads for update, optimistic", false, true, true, false};
constexpr Level kSerializable{"serializable, optimistic", false, true, true, true};
constexpr Level kLockingReadCommitted{"read committed, pessimistic", true, false, false, false};
constexpr Level kLockingSnapshot{"snapshot isolation, pessimistic", true, true, false, false};
constexpr Level kLockingForUpdate{"reads for update, pessimistic", true, false, true, false};
constexpr Level kLockingSerializable{"serializable, pessimistic", true, false, true, true};
constexpr Level kLevels[] = {kReadCommitted,        kSnapshot,        kForUpdate,        kSerializable,
                             kLockingReadCommitted, kLockingSnapshot, kLockingForUpdate, kLockingSerializable};

// A transaction that gives up at its first error.
class Actor {
 public:
  Actor(Transaction* transaction, const Level& level) : transaction_(transaction), level_(level) {}

  // "-" if the key does not exist, or if the transaction has given up.
  std::string Read(const std::string& key) {
    if (!is_alive_) return "-";
    std::string value;
    const Status s =
        level_.reads_for_update ? transaction_->GetForUpdate({}, key, &value) : transaction_->Get({}, key, &value);
    if (!s.ok() && !s.IsNotFound()) is_alive_ = false;
    return s.ok() ? value : "-";
  }
  void Put(const std::string& key, const std::string& value) {
    if (is_alive_ && !transaction_->Put(key, value).ok()) is_alive_ = false;
  }
  // How many keys have a value that ends with 0 and is above 25.
  int Scan() {
    if (is_alive_ && level_.tracks_ranges) is_alive_ = transaction_->TrackRange(std::nullopt, std::nullopt).ok();
    if (!is_alive_) return -1;
    int count = 0;
    const std::unique_ptr<Iterator> it(transaction_->GetIterator({}));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      if (it->value().ends_with("0") && it->value() > Slice("25")) ++count;
    }
    return count;
  }
  // False if it has given up, now or before.
  bool Commit() {
    if (is_alive_) is_alive_ = transaction_->Commit().ok();
    if (!is_alive_) Rollback();
    return is_alive_;
  }
  void Rollback() {
    static_cast<void>(transaction_->Rollback());
    is_alive_ = false;
  }
  [[nodiscard]] bool is_alive() const { return is_alive_; }

 private:
  std::unique_ptr<Transaction> transaction_;
  const Level& level_;
  bool is_alive_ = true;
};

// A database with 1 = 10 and 2 = 20.
class World {
 public:
  explicit World(const Level& level) : level_(level) {
    if (level.locks) {
      std::unique_ptr<TransactionDB> db;
      EXPECT_TRUE(TransactionDB::Open(store_.options, {.transaction_lock_timeout = 0}, kStorePath, &db).ok());
      locking_ = db.get();
      db_ = std::move(db);
    } else {
      EXPECT_TRUE(DB::Open(store_.options, kStorePath, &db_).ok());
    }
    EXPECT_TRUE(db_->Put({}, "1", "10").ok());
    EXPECT_TRUE(db_->Put({}, "2", "20").ok());
  }
  Actor Begin() {
    Transaction* const transaction =
        locking_ != nullptr ? locking_->BeginTransaction({}, {.set_snapshot = level_.has_snapshot})
                            : BeginOptimisticTransaction(db_.get(), {}, {.set_snapshot = level_.has_snapshot});
    return {transaction, level_};
  }
  std::string Get(const std::string& key) {
    std::string value;
    return db_->Get({}, key, &value).ok() ? value : "-";
  }

 private:
  const Level& level_;
  TestStore store_;
  std::unique_ptr<DB> db_;
  TransactionDB* locking_ = nullptr;
};

// Each function runs a history, and returns whether the anomaly happened.

bool DirtyWrite(World* world) {  // G0
  Actor a = world->Begin();
  Actor b = world->Begin();
  a.Put("1", "11");
  b.Put("1", "12");
  a.Put("2", "21");
  a.Commit();
  b.Put("2", "22");
  b.Commit();
  const std::string both = world->Get("1") + " " + world->Get("2");
  return both != "11 21" && both != "12 22";
}

bool AbortedRead(World* world) {  // G1a
  Actor a = world->Begin();
  Actor b = world->Begin();
  a.Put("1", "101");
  const std::string before = b.Read("1");
  a.Rollback();
  return before == "101" || b.Read("1") == "101";
}

bool IntermediateRead(World* world) {  // G1b
  Actor a = world->Begin();
  Actor b = world->Begin();
  a.Put("1", "101");
  const std::string before = b.Read("1");
  a.Put("1", "11");
  a.Commit();
  return before == "101" || b.Read("1") == "101";
}

bool CircularInformation(World* world) {  // G1c
  Actor a = world->Begin();
  Actor b = world->Begin();
  a.Put("1", "11");
  b.Put("2", "22");
  const bool a_sees_b = a.Read("2") == "22";
  const bool b_sees_a = b.Read("1") == "11";
  return a.Commit() && b.Commit() && a_sees_b && b_sees_a;
}

bool ObservedTransactionVanishes(World* world) {  // OTV
  Actor a = world->Begin();
  Actor b = world->Begin();
  a.Put("1", "11");
  a.Put("2", "19");
  a.Commit();
  Actor c = world->Begin();
  b.Put("1", "12");
  b.Put("2", "18");
  const std::string first = c.Read("1");
  b.Commit();
  const bool sees_b = c.Read("2") == "18";
  return first == "11" && sees_b && c.Read("1") == "11" && c.Commit();
}

bool PredicateManyPreceders(World* world) {  // PMP
  Actor a = world->Begin();
  const int before = a.Scan();
  Actor b = world->Begin();
  b.Put("3", "30");
  b.Commit();
  return a.Scan() != before;
}

bool LostUpdate(World* world) {  // P4
  Actor a = world->Begin();
  Actor b = world->Begin();
  const bool same = a.Read("1") == b.Read("1");
  a.Put("1", "11");
  const bool a_commits = a.Commit();
  b.Put("1", "12");
  return same && a_commits && b.Commit();
}

bool ReadSkew(World* world) {  // G-single
  Actor a = world->Begin();
  const std::string first = a.Read("1");
  Actor b = world->Begin();
  b.Put("1", "12");
  b.Put("2", "18");
  b.Commit();
  return first == "10" && a.Read("2") == "18" && a.Commit();
}

bool WriteSkew(World* world) {  // G2-item
  Actor a = world->Begin();
  Actor b = world->Begin();
  for (Actor* const each : {&a, &b}) {
    each->Read("1");
    each->Read("2");
  }
  a.Put("1", "11");
  b.Put("2", "21");
  const bool a_commits = a.Commit();
  return b.Commit() && a_commits;
}

bool Phantom(World* world) {  // G2
  Actor a = world->Begin();
  Actor b = world->Begin();
  const bool none = a.Scan() == 0 && b.Scan() == 0;
  a.Put("3", "30");
  b.Put("4", "40");
  const bool a_commits = a.Commit();
  return none && b.Commit() && a_commits;
}

// The levels at which the anomaly happens.
std::vector<std::string> LevelsOf(bool (*anomaly)(World*)) {
  std::vector<std::string> names;
  for (const Level& level : kLevels) {
    World world(level);
    if (anomaly(&world)) names.emplace_back(level.name);
  }
  return names;
}
using Names = std::vector<std::string>;

TEST(AnomaliesTest, NoLevelAllowsDirtyWritesOrDirtyReads) {
  EXPECT_EQ(LevelsOf(DirtyWrite), Names());
  EXPECT_EQ(LevelsOf(AbortedRead), Names());
  EXPECT_EQ(LevelsOf(IntermediateRead), Names());
  EXPECT_EQ(LevelsOf(CircularInformation), Names());
  EXPECT_EQ(LevelsOf(ObservedTransactionVanishes), Names());
}

TEST(AnomaliesTest, SnapshotOrGetForUpdatePreventsLostUpdates) {
  EXPECT_EQ(LevelsOf(LostUpdate), (Names{kReadCommitted.name, kLockingReadCommitted.name}));
}

TEST(AnomaliesTest, ReadsWithoutASnapshotSeeDifferentStates) {
  EXPECT_EQ(LevelsOf(ReadSkew), (Names{kReadCommitted.name, kLockingReadCommitted.name}));
  EXPECT_EQ(LevelsOf(PredicateManyPreceders),
            (Names{kReadCommitted.name, kLockingReadCommitted.name, kLockingForUpdate.name}));
}

TEST(AnomaliesTest, OnlyReadsForUpdatePreventWriteSkew) {
  EXPECT_EQ(LevelsOf(WriteSkew),
            (Names{kReadCommitted.name, kSnapshot.name, kLockingReadCommitted.name, kLockingSnapshot.name}));
}

TEST(AnomaliesTest, OnlyTrackedRangesPreventPhantoms) {
  EXPECT_EQ(LevelsOf(Phantom), (Names{kReadCommitted.name, kSnapshot.name, kForUpdate.name, kLockingReadCommitted.name,
                                      kLockingSnapshot.name, kLockingForUpdate.name}));
}

}  // namespace
}  // namespace cambium::testing::anomalies_test
