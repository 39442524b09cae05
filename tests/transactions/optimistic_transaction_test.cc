// Optimistic transactions: a commit succeeds exactly if no other writer has written a tracked key.
#include "cambium/optimistic_transaction_db.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/db_inside.h"
#include "cambium/compaction_filter.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/test_store.h"
#include "util/fault_point.h"
#include "util/prng.h"

namespace cambium::testing::optimistic_transaction_test {
namespace {

using TransactionPtr = std::unique_ptr<Transaction>;

TransactionPtr Begin(TestStore* store, const OptimisticTransactionOptions& options = {}) {
  return TransactionPtr(BeginOptimisticTransaction(store->db.get(), {}, options));
}

std::string Get(Transaction* transaction, Slice key, const ReadOptions& options = {}) {
  std::string value;
  const Status s = transaction->Get(options, key, &value);
  return s.ok() ? value : s.IsNotFound() ? "NotFound" : s.ToString();
}

TEST(OptimisticTransactionTest, WritesAreVisibleToTheTransactionFirstAndToAllAfterCommit) {
  TestStore store;
  store.MustOpen();
  store.Put("a", "1");
  const TransactionPtr transaction = Begin(&store);
  ASSERT_TRUE(transaction->Put("b", "2").ok());
  ASSERT_TRUE(transaction->Delete("a").ok());
  EXPECT_EQ(Get(transaction.get(), "a"), "NotFound");
  EXPECT_EQ(Get(transaction.get(), "b"), "2");
  EXPECT_EQ(store.Get("a"), "1");
  EXPECT_EQ(store.Get("b"), "NotFound");
  EXPECT_EQ(transaction->GetNumKeys(), 2u);
  EXPECT_EQ(transaction->GetNumPuts(), 1u);
  EXPECT_EQ(transaction->GetNumDeletes(), 1u);
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_EQ(store.Get("a"), "NotFound");
  EXPECT_EQ(store.Get("b"), "2");
}

TEST(OptimisticTransactionTest, ARolledBackTransactionLeavesNothingAndCanBeUsedAgain) {
  TestStore store;
  store.MustOpen();
  const TransactionPtr transaction = Begin(&store);
  ASSERT_TRUE(transaction->Put("a", "1").ok());
  ASSERT_TRUE(transaction->Rollback().ok());
  EXPECT_EQ(Get(transaction.get(), "a"), "NotFound");
  EXPECT_EQ(transaction->GetNumKeys(), 0u);
  store.Put("a", "2");  // no conflict: the transaction does not track the key any more
  ASSERT_TRUE(transaction->Put("b", "3").ok());
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_EQ(store.Get("a"), "2");
  EXPECT_EQ(store.Get("b"), "3");
}

// What others may do to key "k" while a transaction is open.
struct Intrusion {
  const char* name;
  std::function<Status(DB*)> write;
};
std::vector<Intrusion> Intrusions(const std::string& value) {
  return {
      {"put", [=](DB* db) { return db->Put({}, "k", value + "x"); }},
      {"put of an equal value", [=](DB* db) { return db->Put({}, "k", value); }},
      {"delete", [](DB* db) { return db->Delete({}, "k"); }},
      {"put and delete",
       [=](DB* db) {
         const Status s = db->Put({}, "k", value);
         return s.ok() ? db->Delete({}, "k") : s;
       }},
      {"range delete", [](DB* db) { return db->DeleteRange({}, "j", "l"); }},
      {"transaction",
       [=](DB* db) {
         const TransactionPtr other(BeginOptimisticTransaction(db, {}));
         const Status s = other->Put("k", value);
         return s.ok() ? other->Commit() : s;
       }},
  };
}
// What may happen to memtables and files meanwhile.
struct Upkeep {
  const char* name;
  std::function<void(TestStore*)> run;
};
std::vector<Upkeep> AllUpkeep() {
  return {
      {"nothing", [](TestStore*) {}},
      {"flush", [](TestStore* store) { store->Flush(); }},
      {"compaction", [](TestStore* store) { store->Compact(); }},
      {"flushes of other keys",
       [](TestStore* store) {
         store->Flush();
         store->Put("other", "1");
         store->Flush();
         store->Compact();
       }},
  };
}

// Runs a transaction that reads key "k" for update; `intrude` runs before its commit. Returns how Commit ended.
Status CommitAround(TestStore* store, bool with_snapshot, const std::function<void()>& intrude) {
  const TransactionPtr transaction = Begin(store, {.set_snapshot = with_snapshot});
  if (!with_snapshot) {
    static_cast<void>(transaction->GetForUpdate({}, "k", static_cast<std::string*>(nullptr)));
  }
  intrude();
  // With a snapshot, the key is tracked only now, but as of the snapshot.
  if (with_snapshot) static_cast<void>(transaction->GetForUpdate({}, "k", static_cast<std::string*>(nullptr)));
  EXPECT_TRUE(transaction->Put("result", "1").ok());
  return transaction->Commit();
}

// Returns the descriptions of the cases in which a commit does not end as it must.
std::vector<std::string> WrongCommits() {
  std::vector<std::string> wrong;
  for (const std::string& value : {std::string("inline"), std::string(200, 's')}) {
    for (const bool exists : {true, false}) {
      for (const bool with_snapshot : {true, false}) {
        for (const Upkeep& before : AllUpkeep()) {
          for (const Upkeep& after : AllUpkeep()) {
            std::vector<Intrusion> intrusions = Intrusions(value);
            intrusions.push_back({"nothing", nullptr});
            intrusions.push_back({"another key", [](DB* db) { return db->Put({}, "kk", "1"); }});
            intrusions.push_back({"a range next to it", [](DB* db) { return db->DeleteRange({}, "kk", "l"); }});
            for (const Intrusion& intrusion : intrusions) {
              TestStore store;
              store.MustOpen();
              if (exists) store.Put("k", value);
              before.run(&store);
              const Status s = CommitAround(&store, with_snapshot, [&] {
                const Status written = intrusion.write == nullptr ? Status::OK() : intrusion.write(store.db.get());
                EXPECT_TRUE(written.ok());
                after.run(&store);
              });
              const bool conflicts = &intrusion - intrusions.data() < 6;
              if (conflicts ? s.IsBusy() : s.ok()) continue;
              wrong.push_back(std::string(intrusion.name) + " after " + before.name + ", before " + after.name +
                              (with_snapshot ? ", snapshot: " : ": ") + s.ToString());
            }
          }
        }
      }
    }
  }
  return wrong;
}

TEST(OptimisticTransactionTest, ACommitFailsExactlyIfATrackedKeyWasWritten) {
  EXPECT_EQ(WrongCommits(), std::vector<std::string>());
  const MutantScope mutant(Mutant::kHistoryForgetsFlushed);
  EXPECT_FALSE(WrongCommits().empty());
}

// Adds one to a counter in a transaction, while another write comes between the commit's first look and its append.
// Returns the counter, or "Busy".
std::string CountBesideAWrite() {
  TestStore store;
  store.MustOpen();
  store.Put("counter", "1");
  const TransactionPtr transaction = Begin(&store);
  std::string value;
  EXPECT_TRUE(transaction->GetForUpdate({}, "counter", &value).ok());
  EXPECT_TRUE(transaction->Put("counter", std::to_string(std::stoi(value) + 1)).ok());
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string(name) == "OptimisticTransaction:looked") store.Put("counter", "10");
  });
  const Status s = transaction->Commit();
  FaultPoints::Instance().Set(nullptr);
  return s.IsBusy() ? "Busy" : store.Get("counter");
}

TEST(OptimisticTransactionTest, WriteBetweenFirstCheckAndAppendIsAConflict) {
  EXPECT_EQ(CountBesideAWrite(), "Busy");
  const MutantScope mutant(Mutant::kCommitLooksBeforeTheLock);
  EXPECT_EQ(CountBesideAWrite(), "2");  // the 10 is lost
}

TEST(OptimisticTransactionTest, TransactionOlderThanHistoryGetsTryAgain) {
  TestStore store;
  store.MustOpen();
  store.Put("k", "1");
  const TransactionPtr old = Begin(&store);
  ASSERT_TRUE(old->Put("k", "2").ok());
  const std::size_t limit = store.options.write_buffer_size * 3;
  for (int i = 0; i < 4000; ++i) store.Put(NumberedKey(i), std::string(20, 'v'));
  store.Flush();
  EXPECT_LE(DbInside::Of(store.db.get())->history()->bytes(), limit);
  EXPECT_GT(DbInside::Of(store.db.get())->history()->bytes(), 0u);
  const Status s = old->Commit();
  EXPECT_TRUE(s.IsTryAgain()) << s.ToString();
  EXPECT_EQ(store.Get("k"), "1");
  // A new one is not affected.
  const TransactionPtr young = Begin(&store);
  ASSERT_TRUE(young->Put("k", "3").ok());
  EXPECT_TRUE(young->Commit().ok());
}

// Writes more than the history may keep.
void ExceedTheHistory(TestStore* store) {
  for (int i = 0; i < 4000; ++i) store->Put(NumberedKey(i), std::string(20, 'v'));
  store->Flush();
}

// Beyond the history, the record of a separated value tells when it was written, also after log GC has moved it.
TEST(OptimisticTransactionTest, SeparatedValuesAreExactBeyondTheHistory) {
  const std::string value(500, 's');
  for (const bool moves : {false, true}) {
    SCOPED_TRACE(moves ? "after log GC" : "");
    TestStore store;
    store.options.blob_file_size = 16u << 10;
    store.options.blob_garbage_collection_age_cutoff = 1;
    store.MustOpen();
    for (const char* const key : {"same", "changed", "deleted", "covered", "replaced by inline"}) store.Put(key, value);
    store.Put("inline", "i");
    std::map<std::string, TransactionPtr> old;
    for (const char* const key : {"same", "changed", "deleted", "covered", "inline", "replaced by inline", "absent"}) {
      old[key] = Begin(&store);
      ASSERT_TRUE(old[key]->Put(key, "mine").ok());
    }
    store.Put("changed", value);
    store.Put("replaced by inline", "i");
    ASSERT_TRUE(store.db->Delete({}, "deleted").ok());
    ASSERT_TRUE(store.db->DeleteRange({}, store.db->DefaultColumnFamily(), "covered", "covered0").ok());
    ExceedTheHistory(&store);
    if (moves) {
      store.Compact();
      store.RunUntilIdle();
      EXPECT_FALSE(store.FilesOf(".gc").empty());
    }
    const std::map<std::string, std::string> expected = {
        {"same", "OK"},         {"changed", "Busy"}, {"deleted", "Busy"},                {"covered", "Busy"},
        {"inline", "TryAgain"}, {"absent", "OK"},    {"replaced by inline", "TryAgain"},
    };
    for (const auto& [key, transaction] : old) {
      const Status s = transaction->Commit();
      const std::string text = s.ok() ? "OK" : s.IsBusy() ? "Busy" : s.IsTryAgain() ? "TryAgain" : s.ToString();
      EXPECT_EQ(text, expected.at(key)) << key;
    }
    EXPECT_EQ(store.Get("same"), "mine");
    EXPECT_EQ(store.Get("changed"), value);
  }
}

// The first transaction that needs a version gets TryAgain, and its family keeps versions from then on.
void KeepVersions(TestStore* store) {
  store->Put("inline", "i");
  {
    const TransactionPtr first = Begin(store);
    ASSERT_TRUE(first->Put("inline", "mine").ok());
    ExceedTheHistory(store);
    EXPECT_TRUE(first->Commit().IsTryAgain());
  }
  const TransactionPtr second = Begin(store);
  ASSERT_TRUE(second->Put("inline", "mine").ok());
  ExceedTheHistory(store);
  EXPECT_TRUE(second->Commit().ok());  // it was written before the family kept versions
}

// Beyond the history, inline values are as exact as separated ones, in a family that keeps versions.
TEST(OptimisticTransactionTest, InlineValuesAreExactBeyondTheHistoryOfAFamilyThatKeepsVersions) {
  for (const bool with_snapshot : {true, false}) {
    TestStore store;
    store.MustOpen();
    KeepVersions(&store);
    const char* const keys[] = {"same", "changed", "deleted", "covered", "made", "absent", "made and deleted"};
    for (const char* const key : {"same", "changed", "deleted", "covered"}) store.Put(key, "1");
    store.Flush();
    std::map<std::string, TransactionPtr> old;
    for (const char* const key : keys) {
      old[key] = Begin(&store, {.set_snapshot = with_snapshot});
      ASSERT_TRUE(old[key]->Put(key, "mine").ok());
    }
    store.Put("changed", "1");
    store.Put("made", "1");
    store.Put("made and deleted", "1");
    ASSERT_TRUE(store.db->Delete({}, "made and deleted").ok());
    ASSERT_TRUE(store.db->Delete({}, "deleted").ok());
    ASSERT_TRUE(store.db->DeleteRange({}, store.db->DefaultColumnFamily(), "covered", "covered0").ok());
    ExceedTheHistory(&store);
    store.Compact();
    // Nothing is kept of a delete. A snapshot shows whether the key existed.
    const char* const gone = with_snapshot ? "Busy" : "TryAgain";
    const char* const never = with_snapshot ? "OK" : "TryAgain";
    const std::map<std::string, std::string> expected = {
        {"same", "OK"}, {"changed", "Busy"}, {"deleted", gone},           {"covered", gone},
        {"made", "Busy"}, {"absent", never}, {"made and deleted", never},
    };
    for (const auto& [key, transaction] : old) {
      const Status s = transaction->Commit();
      const std::string text = s.ok() ? "OK" : s.IsBusy() ? "Busy" : s.IsTryAgain() ? "TryAgain" : s.ToString();
      EXPECT_EQ(text, expected.at(key)) << key;
    }
  }
}

TEST(OptimisticTransactionTest, MutantVersionsAreNotComparedIsNoticed) {
  TestStore store;
  store.MustOpen();
  KeepVersions(&store);
  store.Put("k", "1");
  const TransactionPtr old = Begin(&store);
  ASSERT_TRUE(old->Put("k", "mine").ok());
  store.Put("k", "2");
  ExceedTheHistory(&store);
  const MutantScope mutant(Mutant::kVersionsAreNotCompared);
  EXPECT_TRUE(old->Commit().ok());
}

TEST(OptimisticTransactionTest, MutantRecordsAreNotComparedIsNoticed) {
  TestStore store;
  store.MustOpen();
  store.Put("k", std::string(500, 's'));
  const TransactionPtr old = Begin(&store);
  ASSERT_TRUE(old->Put("k", "mine").ok());
  store.Put("k", std::string(500, 't'));
  ExceedTheHistory(&store);
  const MutantScope mutant(Mutant::kRecordsAreNotCompared);
  EXPECT_TRUE(old->Commit().ok());
}

// The number of a separated value is that of the change, which is no write; an inline one keeps its version.
TEST(OptimisticTransactionTest, AValueThatAFilterHasChangedIsNotTakenForAWrite) {
  class Change final : public CompactionFilter {
   public:
    explicit Change(std::string to) : to_(std::move(to)) {}
    [[nodiscard]] const char* Name() const override { return "Change"; }
    Decision FilterV2(int, const Slice& key, ValueType, const Slice&, std::string* value,
                      std::string*) const override {
      if (key != Slice("k")) return Decision::kKeep;
      *value = to_;
      return Decision::kChangeValue;
    }

   private:
    const std::string to_;
  };
  for (const std::string& from : {std::string("inline"), std::string(500, 's')}) {
    for (const std::string& to : {std::string("changed"), std::string(600, 'f')}) {
      for (const bool is_written : {false, true}) {
        const Change filter(to);
        TestStore store;
        store.options.compaction_filter = &filter;
        store.MustOpen();
        KeepVersions(&store);
        store.Put("k", from);
        const TransactionPtr old = Begin(&store);
        ASSERT_TRUE(old->Put("k", "mine").ok());
        if (is_written) store.Put("k", from);
        ExceedTheHistory(&store);
        store.Compact();
        EXPECT_EQ(store.Get("k"), to);
        const Status s = old->Commit();
        const bool is_exact = to.size() < 64;
        EXPECT_EQ(s.IsTryAgain(), !is_exact) << s.ToString();
        EXPECT_EQ(s.ok(), is_exact && !is_written) << s.ToString();
      }
    }
  }
}

TEST(OptimisticTransactionTest, TheHistoryIsFreedWithTheOldestTransaction) {
  TestStore store;
  store.MustOpen();
  WriteHistory* const history = DbInside::Of(store.db.get())->history();
  TransactionPtr first = Begin(&store);
  store.Put("a", "1");
  TransactionPtr second = Begin(&store);
  store.Put("b", "1");
  store.Flush();
  EXPECT_GT(history->bytes(), 0u);
  first.reset();
  EXPECT_GT(history->bytes(), 0u);
  second.reset();
  EXPECT_EQ(history->bytes(), 0u);
  EXPECT_EQ(history->mark_count(), 0u);
  store.Put("c", "1");
  store.Flush();
  EXPECT_EQ(history->bytes(), 0u);
}

TEST(OptimisticTransactionTest, ReadAtSnapshotSelectsTheStateOfReads) {
  TestStore store;
  store.MustOpen();
  store.Put("a", "1");
  const TransactionPtr at_snapshot = Begin(&store);
  const TransactionPtr newest = Begin(&store, {.set_snapshot = true, .read_at_snapshot = false});
  store.Put("a", "2");
  EXPECT_EQ(Get(at_snapshot.get(), "a"), "1");
  EXPECT_EQ(Get(newest.get(), "a"), "2");
  EXPECT_EQ(Get(newest.get(), "a", {.snapshot = newest->GetSnapshot()}), "1");
  const std::unique_ptr<Iterator> it(at_snapshot->GetIterator({}));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value().ToString(), "1");
  at_snapshot->ClearSnapshot();
  EXPECT_EQ(Get(at_snapshot.get(), "a"), "2");
  at_snapshot->SetSnapshot();
  store.Put("a", "3");
  EXPECT_EQ(Get(at_snapshot.get(), "a"), "2");
}

TEST(OptimisticTransactionTest, SetSnapshotOnNextOperationDefersSnapshot) {
  struct Notifier final : TransactionNotifier {
    void SnapshotCreated(const Snapshot* its) override { snapshot = its; }
    const Snapshot* snapshot = nullptr;
  };
  TestStore store;
  store.MustOpen();
  store.Put("a", "1");
  const TransactionPtr transaction = Begin(&store, {.set_snapshot = false});
  const auto notifier = std::make_shared<Notifier>();
  transaction->SetSnapshotOnNextOperation(notifier);
  EXPECT_EQ(transaction->GetSnapshot(), nullptr);
  store.Put("a", "2");
  ASSERT_TRUE(transaction->Put("b", "1").ok());
  ASSERT_NE(notifier->snapshot, nullptr);
  EXPECT_EQ(notifier->snapshot, transaction->GetSnapshot());
  store.Put("a", "3");
  EXPECT_EQ(Get(transaction.get(), "a"), "2");
}

TEST(OptimisticTransactionTest, ARollbackToASavePointForgetsKeysTrackedSince) {
  TestStore store;
  store.MustOpen();
  const TransactionPtr transaction = Begin(&store);
  ASSERT_TRUE(transaction->Put("a", "1").ok());
  transaction->SetSavePoint();
  ASSERT_TRUE(transaction->Put("a", "2").ok());
  ASSERT_TRUE(transaction->Put("b", "2").ok());
  ASSERT_TRUE(transaction->RollbackToSavePoint().ok());
  EXPECT_EQ(Get(transaction.get(), "a"), "1");
  EXPECT_EQ(Get(transaction.get(), "b"), "NotFound");
  EXPECT_EQ(transaction->GetNumKeys(), 1u);
  EXPECT_EQ(transaction->GetNumPuts(), 1u);
  store.Put("b", "others");  // not tracked any more
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_EQ(store.Get("a"), "1");
  EXPECT_EQ(store.Get("b"), "others");

  const TransactionPtr second = Begin(&store);
  EXPECT_TRUE(second->RollbackToSavePoint().IsNotFound());
  EXPECT_TRUE(second->PopSavePoint().IsNotFound());
  second->SetSavePoint();
  second->SetSavePoint();
  ASSERT_TRUE(second->Put("c", "1").ok());
  ASSERT_TRUE(second->PopSavePoint().ok());
  ASSERT_TRUE(second->RollbackToSavePoint().ok());
  EXPECT_EQ(second->GetNumKeys(), 0u);
}

TEST(OptimisticTransactionTest, UntrackedAndUndoneKeysDoNotConflict) {
  TestStore store;
  store.MustOpen();
  const TransactionPtr transaction = Begin(&store);
  std::string value;
  ASSERT_TRUE(transaction->PutUntracked("a", "1").ok());
  ASSERT_TRUE(transaction->GetForUpdate({}, "b", &value).IsNotFound());
  transaction->UndoGetForUpdate("b");
  ASSERT_TRUE(transaction->Put("c", "1").ok());
  transaction->UndoGetForUpdate("c");  // a write stays tracked
  EXPECT_EQ(transaction->GetNumKeys(), 1u);
  store.Put("a", "others");
  store.Put("b", "others");
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_EQ(store.Get("a"), "1");
}

TEST(OptimisticTransactionTest, WritesThatAreNotIndexedAreCommittedButNotRead) {
  TestStore store;
  store.MustOpen();
  const TransactionPtr transaction = Begin(&store);
  transaction->DisableIndexing();
  ASSERT_TRUE(transaction->Put("a", "1").ok());
  EXPECT_EQ(Get(transaction.get(), "a"), "NotFound");
  transaction->EnableIndexing();
  ASSERT_TRUE(transaction->Put("b", "1").ok());
  EXPECT_EQ(Get(transaction.get(), "b"), "1");
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_EQ(store.Get("a"), "1");
}

TEST(OptimisticTransactionTest, WrongUseIsAnError) {
  TestStore store;
  store.MustOpen();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "f", &family).ok());
  {
    const TransactionPtr transaction = Begin(&store);
    EXPECT_TRUE(transaction->Prepare().IsInvalidArgument());
    EXPECT_TRUE(transaction->SetName("name").IsNotSupported());
    EXPECT_TRUE(transaction->Put(nullptr, "a", "1", /*assume_tracked=*/true).IsInvalidArgument());
    ASSERT_TRUE(transaction->Put("a", "1").ok());
    EXPECT_TRUE(transaction->Put(nullptr, "a", "2", /*assume_tracked=*/true).ok());
    EXPECT_TRUE(store.db->Close().IsAborted());  // the transaction is open
    ASSERT_TRUE(transaction->Commit().ok());
    EXPECT_EQ(transaction->GetState(), Transaction::COMMITTED);
    std::string value;
    EXPECT_TRUE(transaction->Commit().IsInvalidArgument());
    EXPECT_TRUE(transaction->Rollback().IsInvalidArgument());
    EXPECT_TRUE(transaction->Put("a", "3").IsInvalidArgument());
    EXPECT_TRUE(transaction->Get({}, "a", &value).IsInvalidArgument());
    EXPECT_EQ(store.Get("a"), "2");
  }
  {
    const TransactionPtr transaction = Begin(&store);
    ASSERT_TRUE(transaction->Put(family, "a", "1", false).ok());
    ASSERT_TRUE(store.db->DropColumnFamily(family).ok());
    EXPECT_TRUE(transaction->Commit().IsColumnFamilyDropped());
  }
  {
    TestStore other;
    other.MustOpen();
    const TransactionPtr transaction = Begin(&other);
    EXPECT_TRUE(transaction->Put(family, "a", "1", false).IsInvalidArgument());
  }
  ASSERT_TRUE(store.db->DestroyColumnFamilyHandle(family).ok());
  EXPECT_EQ(BeginOptimisticTransaction(nullptr, {}), nullptr);
  store.MustClose();
  std::unique_ptr<DB> reader;
  ASSERT_TRUE(DB::OpenForReadOnly(store.options, kStorePath, &reader).ok());
  EXPECT_EQ(BeginOptimisticTransaction(reader.get(), {}), nullptr);
}

TEST(OptimisticTransactionTest, ADatabaseForTransactionsOpensAndReusesTransactions) {
  TestStore store;
  std::unique_ptr<OptimisticTransactionDB> db;
  ASSERT_TRUE(OptimisticTransactionDB::Open(store.options, kStorePath, &db).ok());
  TransactionPtr transaction(db->BeginTransaction({}));
  ASSERT_TRUE(transaction->Put("a", "1").ok());
  ASSERT_TRUE(transaction->Commit().ok());
  Transaction* const before = transaction.get();
  Transaction* const again = db->BeginTransaction({}, {}, transaction.get());
  ASSERT_EQ(again, before);
  ASSERT_TRUE(again->Put("a", "2").ok());
  ASSERT_TRUE(again->Commit().ok());
  transaction.reset();
  std::string value;
  ASSERT_TRUE(db->Get({}, "a", &value).ok());
  EXPECT_EQ(value, "2");
  ASSERT_TRUE(db->Close().ok());
}

TEST(OptimisticTransactionTest, ARebuiltTransactionHasTheOperationsOfTheBatch) {
  TestStore store;
  store.MustOpen();
  store.Put("b", "1");
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Delete("b").ok());
  const TransactionPtr transaction = Begin(&store);
  ASSERT_TRUE(transaction->RebuildFromWriteBatch(&batch).ok());
  EXPECT_EQ(Get(transaction.get(), "a"), "1");
  EXPECT_EQ(Get(transaction.get(), "b"), "NotFound");
  EXPECT_EQ(transaction->GetNumKeys(), 2u);
  ASSERT_TRUE(batch.DeleteRange("a", "b").ok());
  ASSERT_TRUE(transaction->Put("c", "1").ok());
  ASSERT_TRUE(transaction->RebuildFromWriteBatch(&batch).ok());
  EXPECT_EQ(Get(transaction.get(), "a"), "NotFound");
  store.Put("aa", "1");  // in the range
  EXPECT_TRUE(transaction->Commit().IsBusy());
}

// A model with the whole history: which number each write had. Several transactions, writes outside of them and upkeep
// take turns; each commit must end as the model says, and each read return what the model has at its moment.
//
// `is_short`: the database keeps no flushed memtable for transactions, so that all that was flushed is beyond its history.
// It keeps versions. Then a transaction without a snapshot may get TryAgain because of a key that does not exist, and a
// key that did not exist at the snapshot and does not exist now counts as not written.
class History {
 public:
  explicit History(std::uint64_t seed, bool is_short) : prng_(seed), is_short_(is_short) {
    if (is_short) {
      store_.options.write_buffer_size = 4u << 10;
      store_.options.max_write_buffer_number = 2;
    }
    store_.MustOpen();
    if (is_short) KeepVersions(&store_);
  }

  void Run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) Step();
    for (Open& open : open_) open.transaction.reset();
  }
  [[nodiscard]] int commits() const { return commits_; }
  [[nodiscard]] int conflicts() const { return conflicts_; }
  [[nodiscard]] int unsure() const { return unsure_; }

 private:
  static constexpr int kKeys = 12;
  struct Version {
    int number;  // of the write
    std::optional<std::string> value;
  };
  struct Open {
    TransactionPtr transaction;
    int snapshot = 0;  // writes up to this one are seen; -1: the newest
    std::map<std::string, int> tracked;
    std::map<std::string, std::optional<std::string>> writes;
  };

  std::string Key() { return "k" + std::to_string(10 + prng_.Uniform(kKeys)); }
  std::string Value() { return std::to_string(++values_) + std::string(prng_.OneIn(2) ? 100 : 3, 'v'); }
  void Write(const std::string& key, const std::optional<std::string>& value) {
    versions_[key].push_back({++writes_, value});
  }
  std::optional<std::string> At(const std::string& key, int moment) {
    std::optional<std::string> value;
    for (const Version& version : versions_[key]) {
      if (moment < 0 || version.number <= moment) value = version.value;
    }
    return value;
  }
  bool WasWrittenAfter(const std::string& key, int moment) {
    return !versions_[key].empty() && versions_[key].back().number > moment;
  }

  void Step() {
    switch (prng_.Uniform(12)) {
      case 0:
        return WriteOutside();
      case 1:
        return prng_.OneIn(3) ? store_.Flush() : prng_.OneIn(2) ? store_.Compact() : store_.RunUntilIdle();
      case 2:
        if (is_short_ && prng_.OneIn(2)) return ForgetHistory();
        return Commit(&open_[prng_.Uniform(open_.size())]);
      default:
        return Use(&open_[prng_.Uniform(open_.size())]);
    }
  }

  // Exceeds what is kept for transactions; at times, other values than before become inline.
  void ForgetHistory() {
    if (prng_.OneIn(3)) {
      EXPECT_TRUE(store_.db->SetOptions({{"min_blob_size", prng_.OneIn(2) ? "64" : "120"}}).ok());
    }
    for (int i = 0; i < 120; ++i) store_.Put("other" + std::to_string(i), std::string(60, 'o'));
    store_.Flush();
  }

  void WriteOutside() {
    const std::string key = Key();
    const std::uint64_t kind = prng_.Uniform(5);
    if (kind == 0) {
      EXPECT_TRUE(store_.db->Delete({}, key).ok());
      return Write(key, std::nullopt);
    }
    if (kind == 1) {
      const std::string end = Key();
      if (key >= end) return;
      EXPECT_TRUE(store_.db->DeleteRange({}, key, end).ok());
      for (int i = 0; i < kKeys; ++i) {
        const std::string each = "k" + std::to_string(10 + i);
        if (each >= key && each < end) Write(each, std::nullopt);
      }
      return;
    }
    const std::string value = Value();
    store_.Put(key, value);
    Write(key, value);
  }

  void Use(Open* open) {
    if (open->transaction == nullptr) {
      const bool with_snapshot = prng_.OneIn(2);
      open->transaction = Begin(&store_, {.set_snapshot = with_snapshot});
      open->snapshot = with_snapshot ? writes_ : -1;
    }
    const std::string key = Key();
    const int since = open->snapshot >= 0 ? open->snapshot : writes_;
    const std::uint64_t kind = prng_.Uniform(5);
    if (kind == 0) {
      const std::string value = Value();
      EXPECT_TRUE(open->transaction->Put(key, value).ok());
      open->writes[key] = value;
    } else if (kind == 1) {
      EXPECT_TRUE(open->transaction->Delete(key).ok());
      open->writes[key] = std::nullopt;
    } else {
      std::string value;
      const Status s =
          kind == 2 ? open->transaction->GetForUpdate({}, key, &value) : open->transaction->Get({}, key, &value);
      const auto written = open->writes.find(key);
      const std::optional<std::string> expected =
          written != open->writes.end() ? written->second : At(key, open->snapshot);
      EXPECT_EQ(s.ok() ? value : s.ToString(), expected.value_or(Status::NotFound().ToString())) << key;
      if (kind != 2) return;
    }
    open->tracked.try_emplace(key, since);
  }

  void Commit(Open* open) {
    if (open->transaction == nullptr) return;
    bool conflicts = false;
    bool is_sure = true;
    for (const auto& [key, since] : open->tracked) {
      const bool is_absent = !At(key, -1).has_value();
      if (is_short_ && is_absent && (open->snapshot < 0 || !At(key, since).has_value())) {
        is_sure = is_sure && !WasWrittenAfter(key, since) && open->snapshot >= 0;
      } else {
        conflicts = conflicts || WasWrittenAfter(key, since);
      }
    }
    const Status s = open->transaction->Commit();
    if (is_sure) {
      EXPECT_EQ(s.IsBusy(), conflicts) << s.ToString();
      EXPECT_EQ(s.ok(), !conflicts) << s.ToString();
    } else {
      EXPECT_TRUE(s.IsBusy() || s.IsTryAgain() || (s.ok() && !conflicts)) << s.ToString();
      ++unsure_;
    }
    ++(conflicts ? conflicts_ : commits_);
    if (s.ok()) {
      for (const auto& [key, value] : open->writes) Write(key, value);
    }
    *open = {};
  }

  Prng prng_;
  const bool is_short_;
  TestStore store_;
  std::array<Open, 4> open_;
  std::map<std::string, std::vector<Version>> versions_;
  int writes_ = 0;
  int values_ = 0;
  int commits_ = 0;
  int conflicts_ = 0;
  int unsure_ = 0;
};

TEST(OptimisticTransactionTest, CommitsAndReadsAgreeWithAModelOfTheWholeHistory) {
  const std::uint64_t seed = SeedFromEnvironment(77);
  for (const bool is_short : {false, true}) {
    int commits = 0;
    int conflicts = 0;
    int unsure = 0;
    const std::uint64_t rounds = ScaledCount(20);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed + round) + (is_short ? ", with a short history" : ""));
      History history(seed + round, is_short);
      history.Run(400);
      commits += history.commits();
      conflicts += history.conflicts();
      unsure += history.unsure();
      if (HasFailure()) return;
    }
    EXPECT_GT(commits, static_cast<int>(rounds * 5 / 2));
    EXPECT_GT(conflicts, static_cast<int>(rounds * 5 / 2));
    EXPECT_EQ(unsure > 0, is_short);
  }
}

}  // namespace
}  // namespace cambium::testing::optimistic_transaction_test
