// Column families: separate maps over one log.
#include <gtest/gtest.h>

#include <algorithm>

#include "testing/family_store.h"
#include "testing/mutant_scope.h"
#include "testing/seed.h"
#include "testing/test_comparators.h"
#include "util/fault_point.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

TEST(ColumnFamiliesTest, FamiliesAreSeparateMapsAfterReopen) {
  FamilyStore store;
  store.MustOpen();
  ColumnFamilyHandle* const one = store.Create("one");
  ColumnFamilyHandle* const two = store.Create("two");
  EXPECT_NE(one->GetID(), two->GetID());
  EXPECT_EQ(one->GetName(), "one");
  store.Put("key", "default");
  store.PutIn(one, "key", "in one");
  store.PutIn(two, "key", std::string(500, '2'));
  ASSERT_TRUE(store.db->Delete({}, one, "key2").ok());
  const auto check = [&](ColumnFamilyHandle* first, ColumnFamilyHandle* second) {
    EXPECT_EQ(store.Get("key"), "default");
    EXPECT_EQ(store.GetFrom(first, "key"), "in one");
    EXPECT_EQ(store.GetFrom(second, "key"), std::string(500, '2'));
    EXPECT_EQ(store.GetFrom(first, "other"), "NotFound");
    EXPECT_EQ(store.Verify(), "");
  };
  check(one, two);
  store.FlushOf(two);
  check(one, two);
  store.Close();
  store.MustOpenWith({"two", "one"});
  ASSERT_EQ(store.handles.size(), 3u);
  EXPECT_EQ(store.handles[1]->GetName(), "two");
  check(store.handles[2], store.handles[1]);
  ASSERT_TRUE(store.db->CompactRange({}, store.handles[2], nullptr, nullptr).ok());
  check(store.handles[2], store.handles[1]);
  store.Close();
  store.MustOpenWith({"one", "two"});
  check(store.handles[1], store.handles[2]);
}

TEST(ColumnFamiliesTest, OpenMustNameExactlyTheExistingFamilies) {
  FamilyStore store;
  store.MustOpen();
  store.Create("one");
  store.Close();

  Status s = store.Open();
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("\"one\""), std::string::npos) << s.ToString();
  s = store.OpenWith({"one", "two"});
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("\"two\""), std::string::npos) << s.ToString();
  s = store.OpenWith({"one", "one"});
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  s = DB::Open(store.options, kStorePath, {{"one", store.options}}, &store.handles, &store.db);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();

  std::vector<std::string> names;
  ASSERT_TRUE(DB::ListColumnFamilies(store.options, kStorePath, &names).ok());
  EXPECT_EQ(names, (std::vector<std::string>{"default", "one"}));
  EXPECT_TRUE(DB::ListColumnFamilies(store.options, "/nowhere", &names).IsInvalidArgument());

  store.options.create_missing_column_families = true;
  store.MustOpenWith({"two", "one"});
  store.PutIn(store.handles[1], "k", "two");
  EXPECT_EQ(store.GetFrom(store.handles[2], "k"), "NotFound");
  ASSERT_TRUE(DB::ListColumnFamilies(store.options, kStorePath, &names).ok()) << "also while it is open";
  EXPECT_EQ(names, (std::vector<std::string>{"default", "one", "two"}));
  store.Close();

  // A read-only Open need not name all families.
  ASSERT_TRUE(DB::OpenForReadOnly(store.options, kStorePath, &store.db).ok());
  EXPECT_EQ(store.Get("k"), "NotFound");
  store.MustClose();
  ASSERT_TRUE(DB::OpenForReadOnly(store.options, kStorePath,
                                  {{kDefaultColumnFamilyName, store.options}, {"two", store.options}}, &store.handles,
                                  &store.db)
                  .ok());
  EXPECT_EQ(store.GetFrom(store.handles[1], "k"), "two");
  ColumnFamilyHandle* made = nullptr;
  EXPECT_TRUE(store.db->CreateColumnFamily(store.options, "three", &made).IsNotSupported());
  EXPECT_TRUE(store.db->DropColumnFamily(store.handles[1]).IsNotSupported());
}

// The names of `count` families.
std::vector<std::string> ManyNames(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back("family" + std::to_string(i));
  return names;
}

// Changes of files that Open makes if it creates this many families.
std::uint64_t ChangesOfOpenThatCreates(int count) {
  FamilyStore store;
  store.options.create_missing_column_families = true;
  const std::uint64_t before = store.fs->operations();
  store.MustOpenWith(ManyNames(count));
  EXPECT_EQ(store.handles.size(), static_cast<std::size_t>(count) + 1);
  EXPECT_EQ(store.handles.back()->GetName(), ManyNames(count).back());
  const std::uint64_t changes = store.fs->operations() - before;
  store.PutIn(store.handles.back(), "k", "v");
  store.Close();
  store.MustOpenWith(ManyNames(count));
  EXPECT_EQ(store.GetFrom(store.handles.back(), "k"), "v");
  return changes;
}

TEST(ColumnFamiliesTest, OpenCreatesMissingFamiliesInOneCommit) {
  constexpr std::uint64_t kLargerFiles = 4;  // a larger MANIFEST may be written by more calls
  EXPECT_LE(ChangesOfOpenThatCreates(100), ChangesOfOpenThatCreates(1) + kLargerFiles);
}

TEST(ColumnFamiliesTest, SeveralFamiliesAreCreatedInOneCommitOrNotAtAll) {
  FamilyStore store;
  store.MustOpen();
  std::vector<ColumnFamilyHandle*> made;
  EXPECT_TRUE(store.db->CreateColumnFamilies(store.options, {"a", "b", "a"}, &made).IsInvalidArgument());
  EXPECT_TRUE(store.db->CreateColumnFamilies(store.options, {"a", "default"}, &made).IsInvalidArgument());
  EXPECT_TRUE(store.db->CreateColumnFamilies(store.options, {"a", ""}, &made).IsInvalidArgument());
  EXPECT_TRUE(made.empty());
  ASSERT_TRUE(store.db->CreateColumnFamilies(store.options, {}, &made).ok());
  EXPECT_TRUE(made.empty());
  const std::uint64_t before = store.fs->operations();
  store.Create("one");
  const std::uint64_t of_one = store.fs->operations() - before;
  ASSERT_TRUE(store.db->CreateColumnFamilies(store.options, ManyNames(50), &made).ok());
  EXPECT_LE(store.fs->operations() - before - of_one, of_one + 4) << "a larger MANIFEST may be written by more calls";
  ASSERT_EQ(made.size(), 50u);
  for (ColumnFamilyHandle* const handle : made) store.handles.push_back(handle);
  std::vector<std::string> names;
  ASSERT_TRUE(DB::ListColumnFamilies(store.options, kStorePath, &names).ok());
  EXPECT_EQ(names.size(), 52u) << "the calls that failed have created nothing";
  store.PutIn(made[7], "k", "v");
  std::vector<std::string> all = ManyNames(50);
  all.push_back("one");
  store.KillAndOpenWith(all);
  EXPECT_EQ(store.GetFrom(store.handles[8], "k"), "v");
}

TEST(ColumnFamiliesTest, BadArgumentsAreNamedInTheError) {
  FamilyStore store;
  store.MustOpen();
  ColumnFamilyHandle* made = nullptr;
  EXPECT_TRUE(store.db->CreateColumnFamily(store.options, "", &made).IsInvalidArgument());
  EXPECT_TRUE(store.db->CreateColumnFamily(store.options, "default", &made).IsInvalidArgument());
  ColumnFamilyOptions other = store.options;
  other.blob_file_size *= 2;
  Status s = store.db->CreateColumnFamily(other, "one", &made);
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("blob_file_size"), std::string::npos) << s.ToString();
  EXPECT_EQ(made, nullptr);
  other = store.options;
  other.index_type = static_cast<IndexKind>(7);
  EXPECT_TRUE(store.db->CreateColumnFamily(other, "one", &made).IsInvalidArgument());

  std::string value;
  EXPECT_TRUE(store.db->Put({}, nullptr, "k", "v").IsInvalidArgument());
  EXPECT_TRUE(store.db->Get({}, nullptr, "k", &value).IsInvalidArgument());
  EXPECT_TRUE(store.db->DropColumnFamily(store.db->DefaultColumnFamily()).IsInvalidArgument());
  EXPECT_TRUE(store.db->DestroyColumnFamilyHandle(store.db->DefaultColumnFamily()).IsInvalidArgument());

  FamilyStore another;
  another.MustOpen();
  ColumnFamilyHandle* const foreign = another.Create("one");
  s = store.db->Put({}, foreign, "k", "v");
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("another database"), std::string::npos) << s.ToString();
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Put(foreign, "b", "2").ok());
  EXPECT_TRUE(store.db->Write({}, &batch).IsInvalidArgument()) << "there is no family 1";
  EXPECT_EQ(store.Get("a"), "NotFound");
}

TEST(ColumnFamiliesTest, DroppedFamilyFailsForHandlesAndStaysReadableForSnapshots) {
  FamilyStore store;
  store.MustOpen();
  ColumnFamilyHandle* const one = store.Create("one");
  for (int i = 0; i < 50; ++i) store.PutIn(one, "key" + std::to_string(i), std::string(300, 'x'));
  store.FlushOf(one);
  store.PutIn(one, "late", "in memory");
  const Snapshot* const snapshot = store.db->GetSnapshot();
  std::unique_ptr<Iterator> it(store.db->NewIterator({}, one));
  ASSERT_TRUE(store.db->DropColumnFamily(one).ok());

  std::string value;
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(one, "k", "v").ok());
  EXPECT_TRUE(store.db->Put({}, one, "k", "v").IsColumnFamilyDropped());
  EXPECT_TRUE(store.db->Delete({}, one, "k").IsColumnFamilyDropped());
  EXPECT_TRUE(store.db->Write({}, &batch).IsColumnFamilyDropped());
  EXPECT_TRUE(store.db->Get({}, one, "k", &value).IsColumnFamilyDropped());
  EXPECT_TRUE(store.db->Flush({}, one).IsColumnFamilyDropped());
  EXPECT_TRUE(store.db->CompactRange({}, one, nullptr, nullptr).IsColumnFamilyDropped());
  EXPECT_TRUE(store.db->DropColumnFamily(one).IsColumnFamilyDropped());
  EXPECT_FALSE(store.db->GetProperty(one, "cambium.num-runs", &value));
  const std::unique_ptr<Iterator> none(store.db->NewIterator({}, one));
  EXPECT_TRUE(none->status().IsColumnFamilyDropped());

  ReadOptions then;
  then.snapshot = snapshot;
  EXPECT_EQ(store.GetFrom(one, "late", then), "in memory");
  store.RunUntilIdle();
  int seen = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    ++seen;
    EXPECT_FALSE(it->value().empty());
  }
  EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  EXPECT_EQ(seen, 51);
  it.reset();
  store.db->ReleaseSnapshot(snapshot);
  store.RunUntilIdle();
  EXPECT_EQ(store.Verify(), "");
  EXPECT_TRUE(store.db->DestroyColumnFamilyHandle(one).ok());
  store.handles.clear();
  store.Reopen();
  EXPECT_EQ(store.Verify(), "");
}

// Regression: a memtable waited for its flush when its family was dropped. The job found nothing to flush, saw that the
// memtable was still there, and repeated itself forever.
TEST(ColumnFamiliesTest, WaitingFlushEndsWhenItsFamilyIsDropped) {
  FamilyStore store;
  store.MustOpen();
  ColumnFamilyHandle* const gone = store.Create("gone");
  store.PutIn(gone, "key", "value");
  FlushOptions later;
  later.wait = false;
  ASSERT_TRUE(store.db->Flush(later, gone).ok());
  ASSERT_TRUE(store.db->DropColumnFamily(gone).ok());
  for (int i = 0; i < 100 && store.executor->pending() > 0; ++i) store.executor->RunOneInstead();
  EXPECT_EQ(store.executor->pending(), 0u);
  EXPECT_EQ(store.Verify(), "");
}

// Regression: while the second drop held its locks, it released the first family, and with this family a file. The job
// that removes files could not be scheduled then, and the call never returned.
TEST(ColumnFamiliesTest, FamiliesCanBeDroppedOneAfterAnother) {
  FamilyStore store;
  store.MustOpen();
  for (int i = 0; i < 3; ++i) {
    ColumnFamilyHandle* const gone = store.Create("gone");
    for (int n = 0; n < 50; ++n) store.PutIn(gone, "key" + std::to_string(n), "value");
    store.FlushOf(gone);
    ASSERT_TRUE(store.db->CompactRange({}, gone, nullptr, nullptr).ok());
    ASSERT_TRUE(store.db->DropColumnFamily(gone).ok());
    store.DestroyHandles();
    store.executor->RunAll();
  }
  EXPECT_EQ(store.FilesOf(".run").size() + store.FilesOf(".idx").size(), 0u);
  EXPECT_EQ(store.Verify(), "");
}

// Regression: a handle held a dropped family until Close. Close released the file to which the family's index appended
// only after the last removal of files, so this file stayed until the next Open.
TEST(ColumnFamiliesTest, HeldDroppedFamilyLeavesNoFilesAfterClose) {
  FamilyStore store;
  store.MustOpen();
  ColumnFamilyHandle* const gone = store.Create("gone");
  for (int n = 0; n < 50; ++n) store.PutIn(gone, "key" + std::to_string(n), "value");
  ASSERT_TRUE(store.db->CompactRange({}, gone, nullptr, nullptr).ok());
  ASSERT_TRUE(store.db->DropColumnFamily(gone).ok());
  store.MustClose();
  EXPECT_EQ(store.FilesOf(".run").size() + store.FilesOf(".idx").size(), 0u);
}

TEST(ColumnFamiliesTest, DropFreesTheFamilysBytes) {
  FamilyStore store;
  store.MustOpen();
  store.Put("stays", std::string(300, 's'));
  ColumnFamilyHandle* const one = store.Create("one");
  for (int i = 0; i < 1000; ++i) store.PutIn(one, "key" + std::to_string(i), std::string(300, 'x'));
  store.PutIn(one, "large", std::string(20'000, 'l'));
  store.FlushOf(one);
  store.RunUntilIdle();
  EXPECT_GT(store.BytesOnDisk(), 300'000u);
  ASSERT_TRUE(store.db->DropColumnFamily(one).ok());
  store.RunUntilIdle();
  // Remaining: segments that hold the default family's value, or that still take appends.
  EXPECT_LT(store.BytesOnDisk(), 3 * store.options.blob_file_size);
  EXPECT_LE(store.FilesOf(".run").size(), 1u) << "the default family's";
  EXPECT_EQ(store.Get("stays"), std::string(300, 's'));
  EXPECT_EQ(store.Verify(), "");
}

// The log still has the operations of the first family; the second must not get them.
TEST(ColumnFamiliesTest, RecreatedFamilyIsEmptyAfterCrash) {
  FamilyStore store;
  store.MustOpen();
  ColumnFamilyHandle* const first = store.Create("one");
  store.Put("holds the log", "v");
  store.PutIn(first, "key", "old", true);
  const std::uint32_t id = first->GetID();
  ASSERT_TRUE(store.db->DropColumnFamily(first).ok());
  ColumnFamilyHandle* const second = store.Create("one");
  EXPECT_NE(second->GetID(), id);
  EXPECT_EQ(store.GetFrom(second, "key"), "NotFound");
  store.PutIn(second, "other", "new", true);
  store.KillAndOpenWith({"one"});
  EXPECT_EQ(store.GetFrom(store.handles[1], "key"), "NotFound");
  EXPECT_EQ(store.GetFrom(store.handles[1], "other"), "new");
  EXPECT_EQ(store.Get("holds the log"), "v");
  EXPECT_EQ(store.Verify(), "");
}

TEST(ColumnFamiliesTest, EachFamilyHasItsOwnComparatorAndOptions) {
  FamilyStore store;
  ColumnFamilyOptions reverse = store.options;
  reverse.comparator = ReverseBytewiseComparator();
  reverse.page_size = 4096;
  reverse.min_blob_size = 10;
  store.family_options["reverse"] = reverse;
  store.MustOpen();
  ColumnFamilyHandle* const family = store.Create("reverse");
  for (const char* key : {"b", "a", "c"}) {
    store.Put(key, std::string(20, *key));
    store.PutIn(family, key, std::string(20, *key));
  }
  const auto keys = [&](ColumnFamilyHandle* of) {
    std::string all;
    const std::unique_ptr<Iterator> it(store.db->NewIterator({}, of));
    for (it->SeekToFirst(); it->Valid(); it->Next()) all += it->key().ToString();
    return all;
  };
  EXPECT_EQ(keys(store.db->DefaultColumnFamily()), "abc");
  EXPECT_EQ(keys(family), "cba");
  store.FlushOf(family);
  EXPECT_EQ(keys(family), "cba");
  EXPECT_EQ(store.db->GetOptions(family).page_size, 4096u);
  EXPECT_EQ(store.db->GetOptions().page_size, 512u);
  store.Close();
  store.MustOpenWith({"reverse"});
  EXPECT_EQ(keys(store.handles[1]), "cba");
  EXPECT_EQ(store.Verify(), "");
  store.Close();
  store.family_options.erase("reverse");
  const Status s = store.OpenWith({"reverse"});
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("\"reverse\""), std::string::npos) << s.ToString();
}

TEST(ColumnFamiliesTest, BatchAcrossFamiliesIsAtomic) {
  FamilyStore store;
  store.MustOpen();
  ColumnFamilyHandle* const one = store.Create("one");
  ColumnFamilyHandle* const two = store.Create("two");
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(one, "k", "1").ok());
  ASSERT_TRUE(batch.Put("k", "0").ok());
  ASSERT_TRUE(batch.Put(two, "k", std::string(9000, '2')).ok());  // a large value
  ASSERT_TRUE(batch.Put(one, "k", std::string(100, '3')).ok());   // the later operation wins
  ASSERT_TRUE(batch.Delete(two, "nothing").ok());
  WriteOptions sync;
  sync.sync = true;
  ASSERT_TRUE(store.db->Write(sync, &batch).ok());
  const Snapshot* const snapshot = store.db->GetSnapshot();
  store.PutIn(one, "k", "after");
  ReadOptions then;
  then.snapshot = snapshot;
  EXPECT_EQ(store.GetFrom(one, "k", then), std::string(100, '3'));
  EXPECT_EQ(store.GetFrom(one, "k"), "after");
  store.db->ReleaseSnapshot(snapshot);

  std::vector<std::string> values;
  const std::vector<Status> statuses =
      store.db->MultiGet({}, {two, store.db->DefaultColumnFamily(), one, nullptr}, {"k", "k", "k", "k"}, &values);
  EXPECT_EQ(values[0], std::string(9000, '2'));
  EXPECT_EQ(values[1], "0");
  EXPECT_EQ(values[2], "after");
  EXPECT_TRUE(statuses[3].IsInvalidArgument());

  store.KillAndOpenWith({"one", "two"});
  EXPECT_EQ(store.Get("k"), "0");
  EXPECT_EQ(store.GetFrom(store.handles[1], "k"), "after");
  EXPECT_EQ(store.GetFrom(store.handles[2], "k"), std::string(9000, '2'));
  EXPECT_EQ(store.Verify(), "");
}

TEST(ColumnFamiliesTest, IteratorsAcrossFamiliesShowOneState) {
  FamilyStore store;
  store.MustOpen();
  ColumnFamilyHandle* const one = store.Create("one");
  store.Put("a", "0");
  store.PutIn(one, "a", "1");
  // Each view must have one more key in both families.
  int keys = 0;
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string(name) != "PinView:between") return;
    ++keys;
    store.Put("b" + std::to_string(keys), "0");
    store.PutIn(one, "b" + std::to_string(keys), "1");
  });
  std::vector<Iterator*> iterators;
  const Status made = store.db->NewIterators({}, {store.db->DefaultColumnFamily(), one}, &iterators);
  FaultPoints::Instance().Set(nullptr);
  ASSERT_TRUE(made.ok());
  EXPECT_GT(keys, 0);
  store.PutIn(one, "c", "2");
  ASSERT_EQ(iterators.size(), 2u);
  std::string last[2];
  for (int i = 0; i < 2; ++i) {
    const std::unique_ptr<Iterator> it(iterators[static_cast<std::size_t>(i)]);
    it->SeekToLast();
    ASSERT_TRUE(it->Valid());
    last[i] = it->key().ToString();
    EXPECT_EQ(it->value(), Slice(std::to_string(i)));
  }
  EXPECT_EQ(last[0], last[1]);
  EXPECT_TRUE(store.db->NewIterators({}, {one, nullptr}, &iterators).IsInvalidArgument());
  EXPECT_TRUE(iterators.empty());
}

// Two rules: the replay position is the minimum over families, and flushed operations of a family are not replayed
// again. One family is flushed and the log is rotated; another still needs the start of the log; then the process dies.
std::string UnequalFlushes() {
  FamilyStore store;
  store.MustOpen();
  store.Create("lazy");
  store.Create("busy");
  ColumnFamilyHandle* const lazy = store.handles[0];
  ColumnFamilyHandle* const busy = store.handles[1];
  store.PutIn(lazy, "first", std::string(100, 'f'));
  for (int i = 0; i < 400; ++i) store.PutIn(busy, "key" + std::to_string(i), std::string(200, 'a'));
  store.PutIn(busy, "large", std::string(9000, 'l'));
  store.FlushOf(busy);
  for (int i = 0; i < 400; ++i) store.PutIn(busy, "key" + std::to_string(i), std::string(200, 'b'));
  store.PutIn(busy, "large", "no more");
  store.FlushOf(busy);
  store.PutIn(lazy, "last", std::string(100, 'g'), true);
  EXPECT_TRUE(store.db->CompactRange({}, busy, nullptr, nullptr).ok());
  store.RunUntilIdle();
  store.Kill();
  if (const Status s = store.OpenWith({"lazy", "busy"}); !s.ok()) return s.ToString();
  std::string wrong = store.Verify();
  const auto want = [&](ColumnFamilyHandle* family, const std::string& key, const std::string& value) {
    if (store.GetFrom(family, key) != value) wrong += key + " is " + store.GetFrom(family, key).substr(0, 40) + "\n";
  };
  for (int round = 0; round < 2 && wrong.empty(); ++round) {
    want(store.handles[1], "first", std::string(100, 'f'));
    want(store.handles[1], "last", std::string(100, 'g'));
    want(store.handles[2], "large", "no more");
    for (int i = 0; i < 400; ++i) want(store.handles[2], "key" + std::to_string(i), std::string(200, 'b'));
    std::uint64_t replayed = 0;
    EXPECT_TRUE(store.db->GetIntProperty(store.handles[2], "cambium.num-entries-active-mem-table", &replayed));
    if (replayed != 0) wrong += "what was flushed was replayed again\n";
    store.FlushOf(store.handles[1]);
    if (const Status s = store.db->CompactRange({}, store.handles[2], nullptr, nullptr); !s.ok()) return s.ToString();
    store.RunUntilIdle();
    wrong += store.Verify();
  }
  return wrong;
}

TEST(ColumnFamiliesTest, UnequalFlushesReplayEachOperationOnce) { EXPECT_EQ(UnequalFlushes(), ""); }

// A family with few writes must not make recovery read the whole log.
TEST(ColumnFamiliesTest, IdleFamilyIsFlushedWhenTheLogGrowsLong) {
  FamilyStore store;
  store.options.max_total_wal_size = 64 << 10;
  store.MustOpen();
  ColumnFamilyHandle* const idle = store.Create("idle");
  store.PutIn(idle, "k", std::string(100, 'i'));
  for (int i = 0; i < 2000; ++i) store.Put("key" + std::to_string(i % 100), std::string(300, 'x'));
  store.RunUntilIdle();
  std::uint64_t entries = 1;
  ASSERT_TRUE(store.db->GetIntProperty(idle, "cambium.num-entries-active-mem-table", &entries));
  EXPECT_EQ(entries, 0u);
  EXPECT_LT(store.FilesOf(".log").size(), 12u) << "of 600 KiB in segments of 32 KiB";
  EXPECT_EQ(store.GetFrom(idle, "k"), std::string(100, 'i'));
  EXPECT_EQ(store.Verify(), "");
}

// Regression: the flush of an idle family failed once and was never retried: the log grew without bound.
TEST(ColumnFamiliesTest, FailedFlushOfIdleFamilyIsRetried) {
  const auto story = [] {
    FamilyStore store;
    store.options.max_total_wal_size = 64 << 10;
    store.MustOpen();
    ColumnFamilyHandle* const idle = store.Create("idle");
    store.PutIn(idle, "k", std::string(100, 'i'));
    SimFault full;
    full.matches = [](SimOpKind kind, const std::string& path) {
      return kind == SimOpKind::kWrite && path.ends_with(IndexFileSuffix());
    };
    full.status = Status::NoSpace("injected");
    store.fs->AddFault(full);
    EXPECT_TRUE(store.db->Flush({}, idle).IsNoSpace());
    for (int i = 0; i < 2000; ++i) store.Put("key" + std::to_string(i % 100), std::string(300, 'x'));
    store.executor->RunAll();
    std::uint64_t frozen = 1;
    EXPECT_TRUE(store.db->GetIntProperty(idle, "cambium.num-immutable-mem-table", &frozen));
    return frozen;
  };
  EXPECT_EQ(story(), 0u);
  MutantScope mutant(Mutant::kForgetIdleFamily);
  EXPECT_EQ(story(), 1u);
}

SimFault LandingFailureOfManifest() {
  SimFault fault;
  fault.matches = [](SimOpKind kind, const std::string& path) {
    return kind == SimOpKind::kWrite && path.find("MANIFEST") != std::string::npos;
  };
  fault.status = Status::NoSpace("injected");
  fault.short_bytes = 1u << 20;  // the whole write
  return fault;
}

// Regression: the record that drops a family was written, but the write reported an error. After a crash the drop took
// effect, and removed later acknowledged writes.
Status OpenAfterADropThatFailed(bool fails_twice) {
  FamilyStore store;
  store.MustOpen();
  ColumnFamilyHandle* const one = store.Create("one");
  store.PutIn(one, "before", "value");  // otherwise the next write makes a segment, and commits it to a new MANIFEST
  store.fs->AddFault(LandingFailureOfManifest());
  EXPECT_TRUE(store.db->DropColumnFamily(one).IsNoSpace());
  if (fails_twice) {
    // Until another MANIFEST can be written, no write is acknowledged.
    store.fs->AddFault(LandingFailureOfManifest());
    EXPECT_TRUE(store.db->Put({}, one, "key", "value").IsNoSpace());
  }
  store.PutIn(one, "key", "value", true);
  store.PutIn(one, "another", "value", true);
  auto after = std::make_shared<SimFileSystem>(store.fs->Snapshot());
  store.DestroyHandles();
  store.db.reset();
  store.fs = after;
  store.options.file_system = after;
  const Status opened = store.OpenWith({"one"});
  if (!opened.ok()) return opened;
  EXPECT_EQ(store.GetFrom(store.handles[1], "key"), "value");
  EXPECT_EQ(store.GetFrom(store.handles[1], "another"), "value");
  EXPECT_EQ(store.Verify(), "");
  return opened;
}

TEST(ColumnFamiliesTest, FailedDropLosesNoLaterAcknowledgedWrite) {
  EXPECT_TRUE(OpenAfterADropThatFailed(false).ok());
  EXPECT_TRUE(OpenAfterADropThatFailed(true).ok());
  MutantScope mutant(Mutant::kWriteDespiteDoubtfulDrop);
  EXPECT_TRUE(OpenAfterADropThatFailed(false).IsInvalidArgument()) << "there is no such family";
}

// Regression: recovery to a point in time went back beyond operations that one family had flushed: half of a batch over
// two families was lost.
TEST(ColumnFamiliesTest, PointInTimeRecoveryIsTheSameForAllFamilies) {
  const auto story = [] {
    FamilyStore store;
    store.MustOpen();
    ColumnFamilyHandle* const ahead = store.Create("ahead");
    ColumnFamilyHandle* const behind = store.Create("behind");
    std::vector<std::uint64_t> ends;
    for (int i = 0; i < 20; ++i) {
      WriteBatch batch;
      EXPECT_TRUE(batch.Put(ahead, "key" + std::to_string(i), "value").ok());
      EXPECT_TRUE(batch.Put(behind, "key" + std::to_string(i), "value").ok());
      WriteOptions synced;
      synced.sync = true;
      EXPECT_TRUE(store.db->Write(synced, &batch).ok());
      std::string log;
      EXPECT_TRUE(store.fs->probe().ReadContents(store.FilesOf(".log").back(), &log).ok());
      ends.push_back(log.size());
    }
    store.FlushOf(ahead);
    const std::string log = store.FilesOf(".log").back();
    store.Close();
    EXPECT_TRUE(store.fs->tampering().FlipBit(log, ends[9] + 60, 3).ok());  // in the eleventh batch
    EXPECT_TRUE(store.OpenWith({"ahead", "behind"}).IsCorruption());
    store.options.wal_recovery_mode = WALRecoveryMode::kPointInTimeRecovery;
    const Status opened = store.OpenWith({"ahead", "behind"});
    if (!opened.ok()) {
      EXPECT_TRUE(opened.IsCorruption()) << opened.ToString();
      EXPECT_NE(opened.ToString().find("column family \"ahead\""), std::string::npos) << opened.ToString();
      return std::string("refused");
    }
    return store.GetFrom(store.handles[1], "key15") + " and " + store.GetFrom(store.handles[2], "key15");
  };
  EXPECT_EQ(story(), "refused");
  MutantScope mutant(Mutant::kReplayEndsBeforeFlushed);
  EXPECT_EQ(story(), "value and NotFound");
}

TEST(ColumnFamiliesTest, FamilyIsEmptyAtAnOlderSnapshot) {
  FamilyStore store;
  store.MustOpen();
  store.Put("a", "0");
  ColumnFamilyHandle* const gone = store.Create("gone");
  {
    const ManagedSnapshot snapshot(store.db.get());
    ColumnFamilyHandle* const later = store.Create("later");
    store.PutIn(later, "a", "1");
    ReadOptions at;
    at.snapshot = snapshot.snapshot();
    EXPECT_EQ(store.GetFrom(later, "a", at), "NotFound");
    const Slice keys[] = {"a", "a"};
    ColumnFamilyHandle* const both[] = {store.db->DefaultColumnFamily(), later};
    PinnableSlice values[2];
    Status statuses[2];
    store.db->MultiGet(at, 2, both, keys, values, statuses);
    EXPECT_EQ(values[0], Slice("0"));
    EXPECT_TRUE(statuses[1].IsNotFound());
    std::vector<Iterator*> iterators;
    ASSERT_TRUE(store.db->NewIterators(at, {store.db->DefaultColumnFamily(), later}, &iterators).ok());
    const std::unique_ptr<Iterator> of_default(iterators[0]);
    const std::unique_ptr<Iterator> of_later(iterators[1]);
    of_default->SeekToFirst();
    EXPECT_TRUE(of_default->Valid());
    of_later->SeekToFirst();
    EXPECT_FALSE(of_later->Valid());
    EXPECT_TRUE(of_later->status().ok());
    ASSERT_TRUE(store.db->DropColumnFamily(later).ok());
    EXPECT_TRUE(store.db->NewIterators(at, {later}, &iterators).IsColumnFamilyDropped());
  }
  ASSERT_TRUE(store.db->DropColumnFamily(gone).ok());
  EXPECT_NE(store.GetFrom(gone, "a"), "NotFound");
}

TEST(ColumnFamiliesTest, RandomOperationsAcrossFamiliesAgreeWithMaps) {
  const std::uint64_t seed = SeedFromEnvironment(20261120);
  Prng prng(seed);
  FamilyStore store;
  store.MustOpen();
  store.DestroyHandles();
  std::map<std::string, std::map<std::string, std::string>> model;  // of all families but the default one
  const auto names = [&] {
    std::vector<std::string> all;
    for (const auto& [name, map] : model) all.push_back(name);
    return all;
  };
  int made = 0;
  for (int step = 0; step < 3000; ++step) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed) + ", step " + std::to_string(step));
    const std::uint64_t what = prng.Uniform(100);
    if (model.empty() || (what == 0 && model.size() < 5)) {
      const std::string name = "family" + std::to_string(made++);
      model[name];
      store.Create(name);
      continue;
    }
    const std::size_t at = prng.Uniform(store.handles.size());
    ColumnFamilyHandle* const handle = store.handles[at];
    if (handle->GetID() == 0) continue;
    auto& map = model.at(handle->GetName());
    const std::string key = "k" + std::to_string(prng.Uniform(60));
    if (what == 1 && model.size() > 1) {
      ASSERT_TRUE(store.db->DropColumnFamily(handle).ok());
      model.erase(handle->GetName());
      delete handle;
      store.handles.erase(store.handles.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (what < 4) {
      store.FlushOf(handle);
    } else if (what < 6) {
      if (prng.OneIn(2)) {
        store.Close();
        store.MustOpenWith(names());
      } else {
        store.KillAndOpenWith(names());
      }
      ASSERT_EQ(store.Verify(), "");
    } else if (what < 20) {
      ASSERT_TRUE(store.db->Delete({}, handle, key).ok());
      map.erase(key);
    } else if (what < 30) {
      WriteBatch batch;
      for (ColumnFamilyHandle* each : store.handles) {
        if (each->GetID() == 0) continue;
        const std::string value = prng.Bytes(prng.Uniform(300));
        ASSERT_TRUE(batch.Put(each, key, value).ok());
        model.at(each->GetName())[key] = value;
      }
      ASSERT_TRUE(store.db->Write({}, &batch).ok());
    } else if (what < 70) {
      map[key] = prng.Bytes(prng.OneIn(30) ? 9000 : prng.Uniform(400));
      store.PutIn(handle, key, map[key]);
    } else {
      const auto expected = map.find(key);
      ASSERT_EQ(store.GetFrom(handle, key), expected == map.end() ? "NotFound" : expected->second);
    }
  }
}

#ifdef CAMBIUM_TEST_HOOKS
TEST(ColumnFamiliesTest, ReplayPositionThatPassesAFamilyIsCaught) {
  const MutantScope mutant(Mutant::kReplayPassesUnflushed);
  EXPECT_NE(UnequalFlushes(), "");
}
TEST(ColumnFamiliesTest, ReplayOfFlushedOperationsIsCaught) {
  const MutantScope mutant(Mutant::kReplayFlushed);
  EXPECT_NE(UnequalFlushes(), "");
}
#endif

}  // namespace
}  // namespace cambium::testing
