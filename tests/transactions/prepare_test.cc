// Transactions in two phases: Prepare, and Commit or Rollback, also after the database was opened again.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/batch_check.h"
#include "api/db_inside.h"
#include "cambium/checkpoint.h"
#include "cambium/compaction_filter.h"
#include "io/file_header.h"
#include "io/sim/sim_image.h"
#include "manifest/features.h"
#include "testing/mutant_scope.h"
#include "transactions/prepared_record.h"
#include "transactions/prepared_test_store.h"

namespace cambium::testing::prepare_test {
namespace {

class PrepareTest : public ::testing::Test {
 protected:
  PrepareTest() { store_.MustOpenTransactions(); }

  // A transaction with the name "t" that has put "a" and expires in ten milliseconds.
  TransactionPtr BeginExpiring() {
    TransactionPtr made = store_.Begin({.expiration = 10});
    EXPECT_TRUE(made->SetName("t").ok());
    EXPECT_TRUE(made->Put("a", "1").ok());
    return made;
  }
  void LetItExpire() { store_.clock->Advance(1'000'000); }

  PreparedTestStore store_;
};

TEST_F(PrepareTest, PreparedWritesAreVisibleOnlyAfterTheCommit) {
  ASSERT_TRUE(store_.transactions->Put({}, "a", "0").ok());
  const TransactionPtr transaction = store_.BeginNamed("t", {{"a", "1"}, {"b", "2"}});
  ASSERT_TRUE(transaction->Prepare().ok());
  EXPECT_EQ(transaction->GetState(), Transaction::PREPARED);
  EXPECT_EQ(store_.PreparedNames(), "t");
  EXPECT_EQ(store_.GetOf("a"), "0");
  std::string own;
  EXPECT_TRUE(transaction->Get({}, "a", &own).ok());
  EXPECT_EQ(own, "1");
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_EQ(transaction->GetState(), Transaction::COMMITTED);
  EXPECT_EQ(store_.GetOf("a") + store_.GetOf("b"), "12");
  EXPECT_EQ(store_.PreparedNames(), "");
  EXPECT_TRUE(store_.transactions->Put({}, "a", "3").ok());
}

TEST_F(PrepareTest, RollbackRemovesThePrepared) {
  const TransactionPtr transaction = store_.BeginNamed("t", {{"a", "1"}});
  ASSERT_TRUE(transaction->Prepare().ok());
  ASSERT_TRUE(transaction->Rollback().ok());
  EXPECT_EQ(store_.PreparedNames(), "");
  EXPECT_EQ(store_.GetOf("a"), "NotFound");
  EXPECT_TRUE(store_.transactions->Put({}, "a", "3").ok());
  // It can be used again, with its name.
  ASSERT_TRUE(transaction->Put("a", "4").ok());
  ASSERT_TRUE(transaction->Prepare().ok());
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_EQ(store_.GetOf("a"), "4");
}

TEST_F(PrepareTest, APreparedTransactionIsThereAfterAReopenWithItsLocks) {
  for (const bool commits : {true, false}) {
    ASSERT_TRUE(store_.transactions->Put({}, "a", "0").ok());
    {
      const TransactionPtr transaction = store_.BeginNamed("t", {{"a", "1"}});
      ASSERT_TRUE(transaction->Delete("b").ok());
      std::string* const no_value = nullptr;
      ASSERT_TRUE(transaction->GetForUpdate({}, "read", no_value).ok());
      ASSERT_TRUE(transaction->GetForUpdate({}, "shared", no_value, /*exclusive=*/false).ok());
      ASSERT_TRUE(transaction->Prepare().ok());
    }
    store_.ReopenTransactions();
    for (const char* const key : {"a", "b", "read", "shared"}) {
      EXPECT_TRUE(store_.transactions->Put({}, key, "other").IsLockTimeout()) << key;
    }
    EXPECT_TRUE(store_.Begin()->GetForUpdate({}, "shared", static_cast<std::string*>(nullptr), false).ok());
    {
      const std::vector<TransactionPtr> all = store_.Prepared();
      ASSERT_EQ(all.size(), 1u);
      EXPECT_EQ(all[0]->GetName(), "t");
      EXPECT_EQ(all[0]->GetState(), Transaction::PREPARED);
      EXPECT_EQ(all[0]->GetNumPuts(), 1u);
      EXPECT_EQ(all[0]->GetNumDeletes(), 1u);
      EXPECT_EQ(all[0]->GetNumKeys(), 4u);
      std::string own;
      EXPECT_TRUE(all[0]->Get({}, "a", &own).ok());
      EXPECT_EQ(own, "1");
      const Status ended = commits ? all[0]->Commit() : all[0]->Rollback();
      ASSERT_TRUE(ended.ok()) << ended.ToString();
    }
    EXPECT_EQ(store_.GetOf("a"), commits ? "1" : "0");
    EXPECT_EQ(store_.GetOf("b"), "NotFound");
    EXPECT_EQ(store_.PreparedNames(), "");
    for (const char* const key : {"a", "b", "read", "shared"}) {
      EXPECT_TRUE(store_.transactions->Put({}, key, "0").ok()) << key;
      EXPECT_TRUE(store_.transactions->Delete({}, key).ok()) << key;
    }
    store_.ReopenTransactions();
    EXPECT_TRUE(store_.Prepared().empty());
  }
}

// Nobody has given WriteOptions to a transaction that Open has found.
TEST_F(PrepareTest, TheEndOfATransactionThatOpenHasFoundSurvivesAPowerCut) {
  for (const bool commits : {true, false}) {
    ASSERT_TRUE(store_.BeginNamed("t", {{"a", commits ? "1" : "2"}})->Prepare().ok());
    store_.ReopenTransactions();
    const TransactionPtr found(store_.transactions->GetTransactionByName("t"));
    ASSERT_NE(found, nullptr);
    ASSERT_TRUE((commits ? found->Commit() : found->Rollback()).ok());
    const SimImage now = store_.fs->Snapshot();
    PreparedTestStore after(
        std::make_shared<SimFileSystem>(now.CutKeeping(std::vector<bool>(now.Units().size(), false))));
    after.MustOpenTransactions();
    EXPECT_EQ(after.PreparedNames(), "") << commits;
    EXPECT_EQ(after.GetOf("a"), "1");
  }
}

// A transaction that has tracked, locked and deleted ranges is prepared, and the database opened again.
TEST_F(PrepareTest, ThePreparedHaveTheirRangesAfterAReopen) {
  for (const bool commits : {true, false}) {
    for (const char* const key : {"b", "d", "f", "h"}) ASSERT_TRUE(store_.transactions->Put({}, key, "0").ok());
    {
      const TransactionPtr transaction = store_.BeginNamed("t", {});
      ASSERT_TRUE(transaction->DeleteRange("a", "c").ok());
      ASSERT_TRUE(transaction->TrackRange("c", "e").ok());
      ASSERT_TRUE(transaction->GetRangeLock(nullptr, Endpoint("e"), Endpoint("f")).ok());
      ASSERT_TRUE(transaction->TrackRange("z", std::nullopt).ok());
      ASSERT_TRUE(transaction->Put("b", "1").ok());
      ASSERT_TRUE(transaction->Prepare().ok());
    }
    store_.ReopenTransactions();
    for (const char* const key : {"a", "b", "c", "d", "f", "zz"}) {
      EXPECT_TRUE(store_.transactions->Put({}, key, "other").IsLockTimeout()) << key;
    }
    for (const char* const key : {"ff", "h"}) EXPECT_TRUE(store_.transactions->Put({}, key, "0").ok()) << key;
    EXPECT_TRUE(store_.Begin()->TrackRange("c", "e").ok());
    EXPECT_TRUE(store_.Begin()->TrackRange("c", "f").IsLockTimeout());
    std::vector<PreparedTransaction> all;
    ASSERT_TRUE(ListPreparedTransactions(store_.base, &all).ok());
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].locks, 5u);
    const std::vector<TransactionPtr> found = store_.Prepared();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0]->GetNumDeletes(), 1u);
    ASSERT_TRUE((commits ? found[0]->Commit() : found[0]->Rollback()).ok());
    EXPECT_EQ(store_.GetOf("b"), commits ? "1" : "0");
    EXPECT_TRUE(store_.transactions->GetRangeLockStatusData().empty());
    for (const char* const key : {"b", "d", "f"}) EXPECT_TRUE(store_.transactions->Put({}, key, "0").ok()) << key;
  }
}

TEST_F(PrepareTest, ARecordWithABackwardRangeIsCorruption) {
  WriteBatch deletes;
  ASSERT_TRUE(deletes.DeleteRange("c", "a").ok());
  const std::vector<std::string> records = {
      EncodePreparedRecord(Id128{1}, {{0, "default"}}, {{}, {{0, true, KeyRange::Of("c", "a")}}}, WriteBatch()),
      EncodePreparedRecord(Id128{1}, {{0, "default"}}, {}, deletes),
  };
  for (const std::string& record : records) {
    PreparedTestStore store;
    store.MustOpen();
    ColumnFamilyHandle* prepared = nullptr;
    ASSERT_TRUE(store.db->CreateColumnFamily(store.options, std::string(kPreparedFamilyName), &prepared).ok());
    ASSERT_TRUE(store.db->Put({}, prepared, "t", record).ok());
    delete prepared;
    store.MustClose();
    const Status s = store.OpenTransactions();
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_NE(s.ToString().find("prepared transaction 74"), std::string::npos) << s.ToString();
  }
}

TEST_F(PrepareTest, MutantRecoveryLocksNoRangesIsNoticed) {
  const TransactionPtr transaction = store_.BeginNamed("t", {});
  ASSERT_TRUE(transaction->TrackRange("a", "c").ok());
  ASSERT_TRUE(transaction->Prepare().ok());
  const MutantScope mutant(Mutant::kRecoveryLocksNoRanges);
  PreparedTestStore after(std::make_shared<SimFileSystem>(store_.fs->Snapshot().CutKeeping(
      std::vector<bool>(store_.fs->Snapshot().Units().size(), true))));
  after.MustOpenTransactions();
  EXPECT_TRUE(after.transactions->Put({}, "b", "other").ok());
}

TEST_F(PrepareTest, MutantRecoveryTakesNoLocksIsNoticed) {
  ASSERT_TRUE(store_.BeginNamed("t", {{"a", "1"}})->Prepare().ok());
  const MutantScope mutant(Mutant::kRecoveryTakesNoLocks);
  store_.ReopenTransactions();
  EXPECT_FALSE(store_.transactions->Put({}, "a", "other").IsLockTimeout());
}

// The locks of a prepared transaction must hold until it ends, whatever becomes of the object.
TEST_F(PrepareTest, ADeletedPreparedTransactionKeepsItsLocksAndName) {
  ASSERT_TRUE(store_.BeginNamed("t", {{"a", "1"}})->Prepare().ok());
  EXPECT_TRUE(store_.transactions->Put({}, "a", "other").IsLockTimeout());
  EXPECT_EQ(store_.transactions->GetTransactionByName("t"), nullptr);
  EXPECT_TRUE(store_.Begin()->SetName("t").IsInvalidArgument());
  EXPECT_EQ(store_.PreparedNames(), "t");
  store_.ReopenTransactions();
  const TransactionPtr found(store_.transactions->GetTransactionByName("t"));
  ASSERT_NE(found, nullptr);
  ASSERT_TRUE(found->Commit().ok());
  EXPECT_EQ(store_.GetOf("a"), "1");
}

TEST_F(PrepareTest, MutantDeletedPreparedUnlocksIsNoticed) {
  const MutantScope mutant(Mutant::kDeletedPreparedUnlocks);
  ASSERT_TRUE(store_.BeginNamed("t", {{"a", "1"}})->Prepare().ok());
  EXPECT_FALSE(store_.transactions->Put({}, "a", "other").IsLockTimeout());
}

TEST_F(PrepareTest, AnObjectThatBeginsAgainLeavesItsPreparedTransaction) {
  TransactionPtr transaction = store_.BeginNamed("t", {{"a", "1"}});
  ASSERT_TRUE(transaction->Prepare().ok());
  ASSERT_EQ(store_.transactions->BeginTransaction({}, {}, transaction.get()), transaction.get());
  EXPECT_EQ(transaction->GetState(), Transaction::STARTED);
  EXPECT_TRUE(transaction->Put("a", "2").IsLockTimeout());
  EXPECT_TRUE(transaction->Put("b", "2").ok());
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_EQ(store_.PreparedNames(), "t");
}

TEST_F(PrepareTest, APreparedTransactionDoesNotExpire) {
  const TransactionPtr transaction = BeginExpiring();
  ASSERT_TRUE(transaction->Prepare().ok());
  LetItExpire();
  EXPECT_TRUE(store_.transactions->Put({}, "a", "other").IsLockTimeout());
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_EQ(store_.GetOf("a"), "1");
}

TEST_F(PrepareTest, ADeletedPreparedTransactionDoesNotExpire) {
  ASSERT_TRUE(BeginExpiring()->Prepare().ok());
  LetItExpire();
  EXPECT_TRUE(store_.transactions->Put({}, "a", "other").IsLockTimeout());
}

TEST_F(PrepareTest, AnExpiredTransactionIsNotPrepared) {
  const TransactionPtr transaction = BeginExpiring();
  LetItExpire();
  EXPECT_TRUE(transaction->Prepare().IsExpired());
  EXPECT_EQ(store_.PreparedNames(), "");
}

TEST_F(PrepareTest, WrongUseIsAnError) {
  const TransactionPtr unnamed = store_.Begin();
  EXPECT_TRUE(unnamed->Prepare().IsInvalidArgument());
  EXPECT_EQ(unnamed->GetState(), Transaction::STARTED);
  const TransactionPtr needs = store_.Begin({.skip_prepare = false});
  ASSERT_TRUE(needs->Put("x", "1").ok());
  EXPECT_TRUE(needs->Commit().IsInvalidArgument());
  ASSERT_TRUE(needs->SetName("needs").ok());
  ASSERT_TRUE(needs->Prepare().ok());
  ASSERT_TRUE(needs->Commit().ok());
  EXPECT_TRUE(needs->Prepare().IsInvalidArgument());

  const TransactionPtr transaction = store_.BeginNamed("t", {{"a", "1"}});
  transaction->SetSavePoint();
  ASSERT_TRUE(transaction->Prepare().ok());
  EXPECT_TRUE(transaction->Prepare().IsInvalidArgument());
  EXPECT_TRUE(transaction->Put("b", "2").IsInvalidArgument());
  EXPECT_TRUE(transaction->Delete("a").IsInvalidArgument());
  EXPECT_TRUE(transaction->GetForUpdate({}, "c", static_cast<std::string*>(nullptr)).IsInvalidArgument());
  EXPECT_TRUE(transaction->RollbackToSavePoint().IsInvalidArgument());
  EXPECT_TRUE(transaction->PopSavePoint().IsInvalidArgument());
  EXPECT_TRUE(transaction->SetName("u").IsInvalidArgument());
  transaction->UndoGetForUpdate("a");
  EXPECT_TRUE(store_.transactions->Put({}, "a", "other").IsLockTimeout());
  EXPECT_TRUE(store_.transactions->Close().IsAborted());
  ASSERT_TRUE(transaction->Commit().ok());
}

TEST_F(PrepareTest, AFailedPrepareLeavesTheTransactionAsItWas) {
  ASSERT_TRUE(store_.BeginNamed("first", {{"x", "1"}})->Prepare().ok());  // makes the family
  const TransactionPtr transaction = store_.BeginNamed("t", {{"a", "1"}});
  store_.fs->SetQuota(0);
  Status prepared = transaction->Prepare();
  for (int i = 0; i < 1000 && prepared.ok(); ++i) {
    ASSERT_TRUE(transaction->Rollback().ok());
    ASSERT_TRUE(transaction->Put("a", std::string(2000, 'v')).ok());
    prepared = transaction->Prepare();
  }
  EXPECT_TRUE(prepared.IsNoSpace()) << prepared.ToString();
  EXPECT_EQ(transaction->GetState(), Transaction::STARTED);
  EXPECT_EQ(store_.PreparedNames(), "first");
  EXPECT_TRUE(transaction->Put("b", "2").ok());
  EXPECT_TRUE(transaction->Rollback().ok());
}

TEST_F(PrepareTest, TheFamilyOfThePreparedIsNotForOthers) {
  ASSERT_TRUE(store_.BeginNamed("t", {{"a", "1"}})->Prepare().ok());
  ASSERT_TRUE(store_.transactions->Close().ok());
  store_.transactions.reset();
  const DBOptions db_options = store_.options;
  const std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, store_.options},
                                                        {std::string(kPreparedFamilyName), store_.options}};
  std::vector<ColumnFamilyHandle*> handles;
  const Status opened =
      TransactionDB::Open(db_options, store_.locking, kStorePath, families, &handles, &store_.transactions);
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  ASSERT_EQ(handles.size(), 2u);
  EXPECT_TRUE(store_.transactions->Put({}, handles[1], "t", "x").IsInvalidArgument());
  EXPECT_TRUE(store_.Begin()->Put(handles[1], "t", "x").IsInvalidArgument());
  EXPECT_TRUE(store_.transactions->DropColumnFamily(handles[1]).IsInvalidArgument());
  for (ColumnFamilyHandle* const handle : handles) delete handle;
  const TransactionPtr found(store_.transactions->GetTransactionByName("t"));
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->Rollback().ok());
}

TEST_F(PrepareTest, ATransactionOnADroppedFamilyCanOnlyBeRolledBack) {
  ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(store_.transactions->CreateColumnFamily(store_.options, "gone", &family).ok());
  {
    const TransactionPtr transaction = store_.BeginNamed("t", {{"a", "1"}});
    ASSERT_TRUE(transaction->Put(family, "b", "2").ok());
    ASSERT_TRUE(transaction->Prepare().ok());
    ASSERT_TRUE(store_.transactions->DropColumnFamily(family).ok());
    EXPECT_FALSE(transaction->Commit().ok());
    EXPECT_EQ(transaction->GetState(), Transaction::PREPARED);
    EXPECT_EQ(store_.PreparedNames(), "t");
  }
  delete family;
  // A family that is made again under the name is another one.
  ASSERT_TRUE(store_.transactions->CreateColumnFamily(store_.options, "gone", &family).ok());
  delete family;
  ASSERT_TRUE(store_.transactions->Close().ok());
  store_.transactions.reset();
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_TRUE(TransactionDB::Open(store_.options, store_.locking, kStorePath,
                                  {{kDefaultColumnFamilyName, store_.options}, {"gone", store_.options}}, &handles,
                                  &store_.transactions)
                  .ok());
  store_.base = store_.transactions.get();
  for (ColumnFamilyHandle* const handle : handles) delete handle;
  const TransactionPtr found(store_.transactions->GetTransactionByName("t"));
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->Commit().IsInvalidArgument());
  EXPECT_EQ(found->GetState(), Transaction::PREPARED);
  EXPECT_TRUE(found->Rollback().ok());
  EXPECT_EQ(store_.PreparedNames(), "");
  EXPECT_EQ(store_.GetOf("a"), "NotFound");
}

TEST_F(PrepareTest, AMalformedRecordMakesOpenFailAndNamesTheTransaction) {
  ASSERT_TRUE(store_.BeginNamed("t", {{"a", "1"}})->Prepare().ok());
  ASSERT_TRUE(store_.transactions->Close().ok());
  store_.transactions.reset();
  {
    std::vector<ColumnFamilyHandle*> handles;
    std::unique_ptr<DB> db;
    const std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, store_.options},
                                                          {std::string(kPreparedFamilyName), store_.options}};
    ASSERT_TRUE(DB::Open(store_.options, kStorePath, families, &handles, &db).ok());
    ASSERT_TRUE(db->Put({}, handles[1], "t", "\x01\x05").ok());
    for (ColumnFamilyHandle* const handle : handles) delete handle;
    std::vector<PreparedTransaction> list;
    EXPECT_TRUE(ListPreparedTransactions(db.get(), &list).IsCorruption());
    ASSERT_TRUE(db->Close().ok());
  }
  const Status opened = store_.OpenTransactions();
  EXPECT_TRUE(opened.IsCorruption()) << opened.ToString();
  EXPECT_NE(opened.ToString().find("prepared transaction"), std::string::npos) << opened.ToString();
  EXPECT_EQ(store_.transactions, nullptr);
  std::vector<ColumnFamilyHandle*> handles(3);
  EXPECT_TRUE(TransactionDB::Open(store_.options, store_.locking, kStorePath,
                                  {{kDefaultColumnFamilyName, store_.options}}, &handles, &store_.transactions)
                  .IsCorruption());
  EXPECT_TRUE(handles.empty());
}

// A batch that Commit could not write must fail at Prepare: another participant may already have committed then.
TEST_F(PrepareTest, PrepareRefusesWhatCommitCouldNotWrite) {
  ColumnFamilyOptions small_pages = store_.options;
  small_pages.page_size = 1024;
  ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(store_.transactions->CreateColumnFamily(small_pages, "small pages", &family).ok());
  const TransactionPtr long_key = store_.BeginNamed("long key", {});
  ASSERT_TRUE(long_key->Put(family, std::string(20'000, 'k'), "v").ok());
  EXPECT_TRUE(long_key->Prepare().IsInvalidArgument());
  EXPECT_TRUE(long_key->Commit().IsInvalidArgument());

  const TransactionPtr range = store_.BeginNamed("range", {});
  ASSERT_TRUE(range->DeleteRange(family, "a", std::string(20'000, 'k')).ok());
  EXPECT_TRUE(range->Prepare().IsInvalidArgument());
  EXPECT_TRUE(range->Commit().IsInvalidArgument());
  delete family;

  PreparedTestStore other(std::make_shared<SimFileSystem>());
  other.options.random_source = std::make_shared<SimRandomSource>(8);  // another id
  other.MustOpenTransactions();
  const TransactionPtr across = store_.BeginNamed("across", {});
  ASSERT_TRUE(across->GetWriteBatch()->Put(other.base->DefaultColumnFamily(), "a", "1").ok());
  EXPECT_TRUE(across->Prepare().IsInvalidArgument());

  EXPECT_EQ(store_.PreparedNames(), "");
  for (const Transaction* const each : {long_key.get(), range.get(), across.get()}) {
    EXPECT_EQ(each->GetState(), Transaction::STARTED);
  }
}

TEST(CheckBatchTest, RecordsOfABatchAreCountedAsTheLogWritesThem) {
  TestStore store;
  store.MustOpen();
  WriteBatch batch;
  std::uint64_t bytes = 0;
  for (const std::size_t size : {0, 1, 7, 8, 900}) {
    ASSERT_TRUE(batch.Put("key", std::string(size, 'v')).ok());
    bytes += (56 + 3 + size + 7) / 8 * 8;
  }
  ASSERT_TRUE(batch.Delete("gone").ok());
  bytes += (56 + 4 + 7) / 8 * 8;
  DbInside& inside = *DbInside::Of(store.db.get());
  EXPECT_TRUE(inside.CheckForLater(batch, 1).ok());
  const CommitPoint& commits = inside.commits();
  EXPECT_TRUE(CheckBatch(commits, batch, bytes).ok());
  EXPECT_TRUE(CheckBatch(commits, batch, bytes - 1).IsInvalidArgument());
}

TEST_F(PrepareTest, ABatchThatWasChangedAfterPrepareIsNotCommitted) {
  const TransactionPtr transaction = store_.BeginNamed("t", {{"a", "1"}});
  ASSERT_TRUE(transaction->Prepare().ok());
  ASSERT_TRUE(transaction->GetWriteBatch()->Put("b", "2").ok());
  EXPECT_TRUE(transaction->Commit().IsInvalidArgument());
  EXPECT_EQ(store_.PreparedNames(), "t");
  EXPECT_TRUE(transaction->Rollback().ok());
  EXPECT_EQ(store_.PreparedNames(), "");
}

// Programs open all families that exist with the same options.
TEST_F(PrepareTest, AFilterDoesNotTouchTheRecords) {
  class RemoveAll final : public CompactionFilter {
   public:
    [[nodiscard]] const char* Name() const override { return "RemoveAll"; }
    Decision FilterV2(int, const Slice&, ValueType, const Slice&, std::string*, std::string*) const override {
      return Decision::kRemove;
    }
  };
  const RemoveAll filter;
  ASSERT_TRUE(store_.transactions->Put({}, "x", "1").ok());
  ASSERT_TRUE(store_.BeginNamed("t", {{"a", "1"}})->Prepare().ok());
  ASSERT_TRUE(store_.transactions->Close().ok());
  store_.transactions.reset();
  store_.options.compaction_filter = &filter;
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_TRUE(TransactionDB::Open(store_.options, store_.locking, kStorePath,
                                  {{kDefaultColumnFamilyName, store_.options},
                                   {std::string(kPreparedFamilyName), store_.options}},
                                  &handles, &store_.transactions)
                  .ok());
  store_.base = store_.transactions.get();
  for (ColumnFamilyHandle* const handle : handles) {
    EXPECT_TRUE(store_.transactions->CompactRange({}, handle, nullptr, nullptr).ok());
    delete handle;
  }
  EXPECT_EQ(store_.GetOf("x"), "NotFound");
  EXPECT_EQ(store_.PreparedNames(), "t");
}

TEST_F(PrepareTest, TheFamilyIsOnlyCreatedByPrepare) {
  ColumnFamilyHandle* family = nullptr;
  const std::string name(kPreparedFamilyName);
  EXPECT_TRUE(store_.transactions->CreateColumnFamily(store_.options, name, &family).IsInvalidArgument());
  std::vector<ColumnFamilyHandle*> handles;
  EXPECT_TRUE(store_.transactions->CreateColumnFamilies(store_.options, {name}, &handles).IsInvalidArgument());
  ASSERT_TRUE(store_.transactions->Close().ok());
  store_.transactions.reset();
  store_.options.create_missing_column_families = true;
  std::unique_ptr<DB> db;
  EXPECT_TRUE(DB::Open(store_.options, kStorePath,
                       {{kDefaultColumnFamilyName, store_.options}, {name, store_.options}}, &handles, &db)
                  .IsInvalidArgument());
}

TEST_F(PrepareTest, TheLimitOfLocksDoesNotKeepTheDatabaseClosed) {
  ASSERT_TRUE(store_.BeginNamed("t", {{"a", "1"}, {"b", "1"}, {"c", "1"}})->Prepare().ok());
  store_.locking.max_num_locks = 1;
  store_.ReopenTransactions();
  EXPECT_TRUE(store_.transactions->Put({}, "x", "1").IsBusy());
  for (const TransactionPtr& each : store_.Prepared()) EXPECT_TRUE(each->Commit().ok());
  EXPECT_TRUE(store_.transactions->Put({}, "x", "1").ok());
}

TEST_F(PrepareTest, ATransactionDoesNotBeginAgainInAnotherDatabase) {
  PreparedTestStore other;
  other.MustOpenTransactions();
  const TransactionPtr transaction = store_.Begin();
  ASSERT_TRUE(transaction->Put("a", "1").ok());
  EXPECT_EQ(other.transactions->BeginTransaction({}, {}, transaction.get()), nullptr);
  EXPECT_TRUE(transaction->Commit().ok());
}

TEST_F(PrepareTest, ThePropertySpaceCountsThem) {
  const auto figure = [&](const std::string& name) {
    std::map<std::string, std::string> map;
    EXPECT_TRUE(store_.base->GetMapProperty("cambium.space", &map));
    return std::stoull(map.at(name));
  };
  EXPECT_EQ(figure("prepared_transactions"), 0u);
  TransactionPtr transaction = store_.BeginNamed("t", {{"a", std::string(1000, 'v')}});
  ASSERT_TRUE(transaction->Prepare().ok());
  EXPECT_EQ(figure("prepared_transactions"), 1u);
  EXPECT_GT(figure("prepared_bytes"), 1000u);
  ASSERT_TRUE(store_.BeginNamed("u", {})->Prepare().ok());
  EXPECT_EQ(figure("prepared_transactions"), 2u);
  ASSERT_TRUE(transaction->Rollback().ok());
  transaction.reset();
  store_.ReopenTransactions();
  EXPECT_EQ(figure("prepared_transactions"), 1u);
  for (const TransactionPtr& each : store_.Prepared()) EXPECT_TRUE(each->Commit().ok());
  EXPECT_EQ(figure("prepared_transactions"), 0u);
  EXPECT_EQ(figure("prepared_bytes"), 0u);
}

// A database with the families "one" and "two", into which an import has put a prepared transaction of another database,
// where the ids were others. Returns what "two" has after its commit.
std::string CommitAnImportedTransaction(PreparedTestStore* store) {
  store->options.create_missing_column_families = true;
  const std::vector<ColumnFamilyDescriptor> families = {
      {kDefaultColumnFamilyName, store->options}, {"one", store->options}, {"two", store->options}};
  const auto open = [&](std::vector<ColumnFamilyHandle*>* handles) {
    EXPECT_TRUE(TransactionDB::Open(store->options, store->locking, kStorePath, families, handles, &store->transactions)
                    .ok());
  };
  std::vector<ColumnFamilyHandle*> handles;
  open(&handles);
  WriteBatch batch;
  EXPECT_TRUE(batch.Put(handles[1], "a", "for two").ok());
  const std::uint32_t id_of_one = handles[1]->GetID();
  const std::string record =
      EncodePreparedRecord(Id128{1}, {{id_of_one, "two"}}, {{{id_of_one, true, "a"}}, {}}, batch);
  ColumnFamilyHandle* prepared = nullptr;
  DB* const below = store->transactions->GetBaseDB();
  EXPECT_TRUE(below->CreateColumnFamily(store->options, std::string(kPreparedFamilyName), &prepared).ok());
  EXPECT_TRUE(below->Put({}, prepared, "t", record).ok());
  delete prepared;
  for (ColumnFamilyHandle* const handle : handles) delete handle;
  EXPECT_TRUE(store->transactions->Close().ok());
  open(&handles);
  const TransactionPtr found(store->transactions->GetTransactionByName("t"));
  EXPECT_TRUE(found->Commit().ok());
  std::string value;
  const Status got = store->transactions->Get({}, handles[2], "a", &value);
  for (ColumnFamilyHandle* const handle : handles) delete handle;
  return got.ok() ? value : got.ToString();
}

TEST(PreparedFamiliesTest, InAnotherDatabaseFamiliesAreFoundByName) {
  {
    PreparedTestStore store;
    EXPECT_EQ(CommitAnImportedTransaction(&store), "for two");
  }
  const MutantScope mutant(Mutant::kPreparedFamiliesByNumber);
  PreparedTestStore store;
  EXPECT_NE(CommitAnImportedTransaction(&store), "for two");
}

// The header of the newest MANIFEST says which versions may write to the database.
std::uint32_t FeaturesOnDisk(const TestStore& store) {
  const std::vector<std::string> manifests = store.FilesOf("MANIFEST");
  std::string bytes;
  EXPECT_TRUE(store.fs->probe().ReadContents(*std::ranges::max_element(manifests), &bytes).ok());
  const Result<FileHeader> header = DecodeFileHeader(Slice(bytes).substr(0, kFileHeaderSize), "MANIFEST");
  return header.ok() ? header->optional_features : 0xffffffff;
}

TEST_F(PrepareTest, TheFirstPrepareSetsTheFeatureBitAndADropOfItsFamilyClearsIt) {
  ASSERT_TRUE(store_.BeginNamed("named", {{"a", "1"}})->Commit().ok());
  EXPECT_EQ(FeaturesOnDisk(store_), 0u);
  ASSERT_TRUE(store_.BeginNamed("t", {{"a", "1"}})->Prepare().ok());
  EXPECT_EQ(FeaturesOnDisk(store_), kFeaturePreparedTransactions);
  store_.ReopenTransactions();
  EXPECT_EQ(FeaturesOnDisk(store_), kFeaturePreparedTransactions);
  ASSERT_TRUE(store_.transactions->Close().ok());
  store_.transactions.reset();
  for (const std::uint32_t after : {kFeaturePreparedTransactions, 0u}) {
    std::vector<ColumnFamilyHandle*> handles;
    std::unique_ptr<DB> db;
    std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, store_.options}};
    if (after != 0) families.emplace_back(std::string(kPreparedFamilyName), store_.options);
    ASSERT_TRUE(DB::Open(store_.options, kStorePath, families, &handles, &db).ok());
    EXPECT_EQ(FeaturesOnDisk(store_), after);
    if (after != 0) {
      ASSERT_TRUE(db->DropColumnFamily(handles[1]).ok());
    }
    for (ColumnFamilyHandle* const handle : handles) delete handle;
    ASSERT_TRUE(db->Close().ok());
    EXPECT_EQ(FeaturesOnDisk(store_), 0u);
  }
}

TEST_F(PrepareTest, MutantNoBitForPreparedTransactionsIsNoticed) {
  const MutantScope mutant(Mutant::kNoBitForPreparedTransactions);
  ASSERT_TRUE(store_.BeginNamed("t", {{"a", "1"}})->Prepare().ok());
  EXPECT_EQ(FeaturesOnDisk(store_), 0u);
}

TEST_F(PrepareTest, ACheckpointHasThePreparedTransactions) {
  ASSERT_TRUE(store_.BeginNamed("t", {{"a", "1"}})->Prepare().ok());
  Checkpoint* checkpoint = nullptr;
  ASSERT_TRUE(Checkpoint::Create(store_.base, &checkpoint).ok());
  const std::unique_ptr<Checkpoint> owned(checkpoint);
  const Status copied = owned->CreateCheckpoint("/copy");
  ASSERT_TRUE(copied.ok()) << copied.ToString();
  std::unique_ptr<TransactionDB> copy;
  ASSERT_TRUE(TransactionDB::Open(store_.options, store_.locking, "/copy", &copy).ok());
  const TransactionPtr found(copy->GetTransactionByName("t"));
  ASSERT_NE(found, nullptr);
  ASSERT_TRUE(found->Commit().ok());
  std::string value;
  EXPECT_TRUE(copy->Get({}, "a", &value).ok());
  EXPECT_EQ(value, "1");
  EXPECT_EQ(store_.GetOf("a"), "NotFound");
}

TEST_F(PrepareTest, ManyPreparedTransactionsSurviveFlushesAndCompactions) {
  constexpr int kCount = 300;
  for (int i = 0; i < kCount; ++i) {
    const std::string name = NumberedKey(i);
    ASSERT_TRUE(store_.BeginNamed(name, {{"key of " + name, std::string(500, 'v') + name}})->Prepare().ok());
    ASSERT_TRUE(store_.transactions->Put({}, "other " + name, std::string(300, 'o')).ok());
  }
  ASSERT_TRUE(store_.transactions->Flush({}).ok());
  ASSERT_TRUE(store_.transactions->CompactRange({}, nullptr, nullptr).ok());
  store_.ReopenTransactions();
  {
    const std::vector<TransactionPtr> all = store_.Prepared();
    ASSERT_EQ(all.size(), static_cast<std::size_t>(kCount));
    for (int i = 0; i < kCount; ++i) {
      EXPECT_EQ(all[static_cast<std::size_t>(i)]->GetName(), NumberedKey(i));
      Transaction& each = *all[static_cast<std::size_t>(i)];
      ASSERT_TRUE((i % 2 == 0 ? each.Commit() : each.Rollback()).ok());
    }
  }
  store_.ReopenTransactions();
  EXPECT_TRUE(store_.Prepared().empty());
  for (int i = 0; i < kCount; ++i) {
    const std::string name = NumberedKey(i);
    EXPECT_EQ(store_.GetOf("key of " + name), i % 2 == 0 ? std::string(500, 'v') + name : "NotFound");
  }
}

}  // namespace
}  // namespace cambium::testing::prepare_test
