// Ranges that optimistic transactions track: a commit succeeds exactly if no other writer has written in one of them.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cambium/optimistic_transaction_db.h"
#include "state/key_intervals.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/test_store.h"
#include "util/fault_point.h"
#include "util/prng.h"

namespace cambium::testing::tracked_range_test {
namespace {

using TransactionPtr = std::unique_ptr<Transaction>;
using Write = std::function<Status(DB*)>;

TransactionPtr Begin(TestStore* store, const OptimisticTransactionOptions& options = {}) {
  return TransactionPtr(BeginOptimisticTransaction(store->db.get(), {}, options));
}

struct Range {
  std::optional<Slice> begin;
  std::optional<Slice> end;
};

Write PutOf(const char* key) {
  return [=](DB* db) { return db->Put({}, key, "x"); };
}
Write DeleteOf(const char* key) {
  return [=](DB* db) { return db->Delete({}, key); };
}
Write DeleteRangeOf(const char* begin, const char* end) {
  return [=](DB* db) { return db->DeleteRange({}, db->DefaultColumnFamily(), begin, end); };
}

// A store with the keys c, e and g.
void Fill(TestStore* store) {
  store->MustOpen();
  for (const char* const key : {"c", "e", "g"}) store->Put(key, "1");
}

// Runs a transaction that tracks the range and writes "~mine"; `intrude` runs before its commit.
Status CommitAround(TestStore* store, const Range& range, bool with_snapshot, const std::function<void()>& intrude) {
  const TransactionPtr transaction = Begin(store, {.set_snapshot = with_snapshot});
  EXPECT_TRUE(transaction->TrackRange(range.begin, range.end).ok());
  EXPECT_TRUE(transaction->Put("~mine", "1").ok());
  intrude();
  return transaction->Commit();
}

struct Case {
  const char* name;
  Range range;
  Write write;
  bool conflicts;
};
std::vector<Case> Cases() {
  return {
      {"a new key", {"d", "f"}, PutOf("dd"), true},
      {"a key that exists", {"d", "f"}, PutOf("e"), true},
      {"the first key", {"c", "f"}, PutOf("c"), true},
      {"the end", {"d", "g"}, PutOf("g"), false},
      {"before", {"d", "f"}, PutOf("c"), false},
      {"a delete", {"d", "f"}, DeleteOf("e"), true},
      {"a delete of nothing", {"d", "f"}, DeleteOf("dd"), true},
      {"a delete outside", {"d", "f"}, DeleteOf("f"), false},
      {"a range delete over it", {"d", "f"}, DeleteRangeOf("a", "z"), true},
      {"a range delete into it", {"d", "f"}, DeleteRangeOf("a", "dd"), true},
      {"a range delete in it", {"d", "f"}, DeleteRangeOf("e", "ee"), true},
      {"a range delete up to it", {"d", "f"}, DeleteRangeOf("a", "d"), false},
      {"a range delete behind it", {"d", "f"}, DeleteRangeOf("f", "z"), false},
      {"everything", {std::nullopt, std::nullopt}, PutOf("zz"), true},
      {"no end", {"d", std::nullopt}, PutOf("zz"), true},
      {"no end, a key before", {"d", std::nullopt}, PutOf("c"), false},
      {"no end, a range delete", {"d", std::nullopt}, DeleteRangeOf("y", "z"), true},
      {"no begin", {std::nullopt, "d"}, PutOf("a"), true},
      {"no begin, a key behind", {std::nullopt, "d"}, PutOf("d"), false},
      {"no begin, a range delete", {std::nullopt, "d"}, DeleteRangeOf("a", "b"), true},
      {"an empty range", {"e", "e"}, PutOf("e"), false},
  };
}
std::vector<std::function<void(TestStore*)>> AllUpkeep() {
  return {
      [](TestStore*) {},
      [](TestStore* store) { store->Flush(); },
      [](TestStore* store) {
        store->Flush();
        store->Put("zzz", "1");  // outside of all ranges with an end
        store->Flush();
        store->Compact();
      },
  };
}

// The cases in which a commit does not end as it must.
std::vector<std::string> WrongCommits() {
  std::vector<std::string> wrong;
  for (const Case& each : Cases()) {
    for (const bool with_snapshot : {true, false}) {
      for (std::size_t upkeep = 0; upkeep < AllUpkeep().size(); ++upkeep) {
        if (upkeep == 2 && !each.range.end) continue;
        TestStore store;
        Fill(&store);
        const Status s = CommitAround(&store, each.range, with_snapshot, [&] {
          EXPECT_TRUE(each.write(store.db.get()).ok());
          AllUpkeep()[upkeep](&store);
        });
        if (each.conflicts ? s.IsBusy() : s.ok()) continue;
        wrong.push_back(std::string(each.name) + ", upkeep " + std::to_string(upkeep) + ": " + s.ToString());
      }
    }
  }
  return wrong;
}

TEST(TrackedRangeTest, ACommitFailsExactlyIfAKeyInTheRangeWasWritten) {
  EXPECT_EQ(WrongCommits(), std::vector<std::string>());
  {
    const MutantScope mutant(Mutant::kRangeDeletesAreNoPhantoms);
    EXPECT_FALSE(WrongCommits().empty());
  }
  const MutantScope mutant(Mutant::kHistoryForgetsFlushed);
  EXPECT_FALSE(WrongCommits().empty());
}

TEST(TrackedRangeTest, TheErrorNamesKeyAndRange) {
  TestStore store;
  Fill(&store);
  const Status s = CommitAround(&store, {"d", "f"}, true, [&] { store.Put("e", "2"); });
  EXPECT_NE(s.ToString().find("key 65 in range [64, 66) of column family \"default\""), std::string::npos)
      << s.ToString();
  const Status ranges = CommitAround(&store, {"d", std::nullopt}, true,
                                     [&] { EXPECT_TRUE(DeleteRangeOf("a", "z")(store.db.get()).ok()); });
  EXPECT_NE(ranges.ToString().find("key 64 in range [64, end)"), std::string::npos) << ranges.ToString();
}

// Another write comes in at each place of a commit. Returns the places at which the commit succeeded all the same.
std::set<std::string> GapsOf(const Write& write) {
  std::set<std::string> gaps;
  for (const char* const place :
       {"OptimisticTransaction:unwatched", "OptimisticTransaction:watched", "OptimisticTransaction:looked"}) {
    TestStore store;
    Fill(&store);
    FaultPoints::Instance().Set([&](const char* name) {
      if (std::string(name) != place) return;
      EXPECT_TRUE(write(store.db.get()).ok());
    });
    const Status s = CommitAround(&store, {"d", "f"}, true, [] {});
    FaultPoints::Instance().Set(nullptr);
    if (s.ok()) gaps.insert(place);
    EXPECT_TRUE(s.ok() || (s.IsBusy() && s.ToString().find("in range [64, 66)") != std::string::npos)) << s.ToString();
  }
  return gaps;
}

TEST(TrackedRangeTest, AWriteIsAConflictAtEachPlaceOfTheCommit) {
  using Gaps = std::set<std::string>;
  EXPECT_EQ(GapsOf(PutOf("dd")), Gaps());
  EXPECT_EQ(GapsOf(DeleteOf("e")), Gaps());
  EXPECT_EQ(GapsOf(DeleteRangeOf("a", "dd")), Gaps());
  EXPECT_EQ(GapsOf(PutOf("f")).size(), 3u);
  {
    const MutantScope mutant(Mutant::kWritersMarkNoWatches);
    EXPECT_EQ(GapsOf(PutOf("dd")), Gaps{"OptimisticTransaction:looked"});
  }
  const MutantScope mutant(Mutant::kCommitWatchesAfterItsLook);
  EXPECT_EQ(GapsOf(PutOf("dd")), Gaps{"OptimisticTransaction:looked"});
}

TEST(TrackedRangeTest, OwnWritesAreNoConflicts) {
  TestStore store;
  Fill(&store);
  const TransactionPtr transaction = Begin(&store);
  ASSERT_TRUE(transaction->TrackRange(std::nullopt, std::nullopt).ok());
  ASSERT_TRUE(transaction->Put("e", "2").ok());
  ASSERT_TRUE(transaction->Put("d", "2").ok());
  EXPECT_TRUE(transaction->Commit().ok());
  EXPECT_EQ(store.Get("d"), "2");
}

// A transaction without writes also fails: its reads have not seen one moment.
TEST(TrackedRangeTest, ATransactionThatOnlyReadsChecksItsRanges) {
  TestStore store;
  Fill(&store);
  const TransactionPtr transaction = Begin(&store, {.set_snapshot = false});
  ASSERT_TRUE(transaction->TrackRange("d", "f").ok());
  store.Put("e", "2");
  EXPECT_TRUE(transaction->Commit().IsBusy());
  const TransactionPtr next = Begin(&store, {.set_snapshot = false});
  ASSERT_TRUE(next->TrackRange("d", "f").ok());
  EXPECT_TRUE(next->Commit().ok());
}

// Returns the result of a commit after a rollback to a save point that was set before the range was tracked.
Status CommitAfterRollback(bool tracks_before) {
  TestStore store;
  Fill(&store);
  const TransactionPtr transaction = Begin(&store);
  if (tracks_before) {
    EXPECT_TRUE(transaction->TrackRange("a", "z").ok());
  }
  transaction->SetSavePoint();
  EXPECT_TRUE(transaction->TrackRange("d", "f").ok());
  transaction->SetSavePoint();
  EXPECT_TRUE(transaction->TrackRange("c", "h").ok());
  EXPECT_TRUE(transaction->PopSavePoint().ok());
  EXPECT_TRUE(transaction->RollbackToSavePoint().ok());
  EXPECT_TRUE(transaction->Put("~mine", "1").ok());
  store.Put("e", "2");
  return transaction->Commit();
}

TEST(TrackedRangeTest, ARollbackToASavePointForgetsTheRangesSince) {
  EXPECT_TRUE(CommitAfterRollback(/*tracks_before=*/false).ok());
  EXPECT_TRUE(CommitAfterRollback(/*tracks_before=*/true).IsBusy());
  const MutantScope mutant(Mutant::kSavePointsKeepRanges);
  EXPECT_TRUE(CommitAfterRollback(/*tracks_before=*/false).IsBusy());
}

TEST(TrackedRangeTest, ARollbackForgetsRanges) {
  TestStore store;
  Fill(&store);
  const TransactionPtr transaction = Begin(&store, {.set_snapshot = false});
  ASSERT_TRUE(transaction->TrackRange("d", "f").ok());
  ASSERT_TRUE(transaction->Rollback().ok());
  store.Put("e", "2");
  ASSERT_TRUE(transaction->Put("~mine", "1").ok());
  EXPECT_TRUE(transaction->Commit().ok());
}

TEST(TrackedRangeTest, BeyondTheHistoryARangeGetsTryAgain) {
  TestStore store;
  Fill(&store);
  const TransactionPtr old = Begin(&store);
  ASSERT_TRUE(old->TrackRange("d", "f").ok());
  ASSERT_TRUE(old->PutUntracked("~mine", "1").ok());
  for (int i = 0; i < 4000; ++i) store.Put(NumberedKey(i), std::string(20, 'v'));
  store.Flush();
  const Status s = old->Commit();
  EXPECT_TRUE(s.IsTryAgain()) << s.ToString();
  EXPECT_NE(s.ToString().find("[64, 66)"), std::string::npos) << s.ToString();
  EXPECT_EQ(store.Get("~mine"), "NotFound");
}

TEST(TrackedRangeTest, MisuseIsRefused) {
  TestStore store;
  Fill(&store);
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "other", &handle).ok());
  const std::unique_ptr<ColumnFamilyHandle> other(handle);
  const TransactionPtr transaction = Begin(&store);
  EXPECT_TRUE(transaction->TrackRange("f", "d").IsInvalidArgument());
  ASSERT_TRUE(transaction->TrackRange(other.get(), "d", "f").ok());
  ASSERT_TRUE(transaction->Put("~mine", "1").ok());
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string(name) != "OptimisticTransaction:looked") return;
    EXPECT_TRUE(store.db->DropColumnFamily(other.get()).ok());
  });
  EXPECT_TRUE(transaction->Commit().IsColumnFamilyDropped());
  FaultPoints::Instance().Set(nullptr);
  EXPECT_TRUE(transaction->Commit().IsColumnFamilyDropped());
  ASSERT_TRUE(transaction->Rollback().ok());
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_TRUE(transaction->TrackRange("d", "f").IsInvalidArgument());  // it has ended
}

// The families of one transaction have different orders.
TEST(TrackedRangeTest, RangesHaveTheOrderOfTheirFamily) {
  TestStore store;
  store.MustOpen();
  ColumnFamilyOptions reverse = store.options;
  reverse.comparator = ReverseBytewiseComparator();
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(reverse, "reverse", &handle).ok());
  const std::unique_ptr<ColumnFamilyHandle> other(handle);
  for (const bool conflicts : {true, false}) {
    const TransactionPtr transaction = Begin(&store);
    ASSERT_TRUE(transaction->TrackRange("d", "f").ok());
    EXPECT_TRUE(transaction->TrackRange(other.get(), "d", "f").IsInvalidArgument());
    ASSERT_TRUE(transaction->TrackRange(other.get(), "f", "d").ok());
    ASSERT_TRUE(transaction->Put("~mine", "1").ok());
    ASSERT_TRUE(store.db->Put({}, other.get(), conflicts ? "f" : "d", "1").ok());  // d is the end
    ASSERT_TRUE(store.db->Put({}, "f", "1").ok());
    EXPECT_EQ(transaction->Commit().IsBusy(), conflicts);
  }
}

// Compares joined intervals with the intervals themselves.
TEST(KeyIntervalsTest, JoinedIntervalsHaveTheSameKeys) {
  const std::uint64_t seed = SeedFromEnvironment(17);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  Prng prng(seed);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> keys;
    for (char c = 'a'; c <= 'p'; ++c) keys.emplace_back(1, c);
    std::vector<KeyInterval> intervals;
    for (std::uint64_t i = prng.Uniform(6); i > 0; --i) {
      KeyInterval each;
      if (!prng.OneIn(8)) each.begin = Slice(keys[prng.Uniform(keys.size())]);
      if (!prng.OneIn(8)) each.end = Slice(keys[prng.Uniform(keys.size())]);
      intervals.push_back(each);
    }
    const KeyIntervals joined(BytewiseComparator(), intervals);
    const auto has = [&](const std::string& key) {
      for (const KeyInterval& each : intervals) {
        if ((!each.begin || *each.begin <= Slice(key)) && (!each.end || Slice(key) < *each.end)) return true;
      }
      return false;
    };
    for (const std::string& key : keys) ASSERT_EQ(joined.Has(key), has(key)) << key;
    for (std::size_t from = 0; from < keys.size(); ++from) {
      bool overlaps = false;
      for (std::size_t to = from + 1; to < keys.size(); ++to) {
        overlaps = overlaps || has(keys[to - 1]);
        ASSERT_EQ(joined.Overlaps(keys[from], keys[to]), overlaps) << keys[from] << " " << keys[to];
      }
    }
  }
}

// Threads that each take the first free number, tracking the numbers that they have seen: no number is taken twice.
TEST(TrackedRangeTest, ThreadsSeeNoPhantoms) {
  TestStore store;
  store.MustOpen();
  constexpr int kThreads = 4;
  const int takes = static_cast<int>(ScaledCount(60));
  std::vector<std::thread> threads;
  std::vector<int> taken(kThreads, 0);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < takes; ++i) {
        const TransactionPtr transaction = Begin(&store);
        EXPECT_TRUE(transaction->TrackRange("n", "o").ok());
        int count = 0;
        const std::unique_ptr<Iterator> it(transaction->GetIterator({}));
        for (it->Seek("n"); it->Valid() && it->key() < Slice("o"); it->Next()) ++count;
        // Keys of their own: only the range shows that two transactions have counted the same.
        const std::string key = "n" + std::to_string(t) + "." + std::to_string(i);
        EXPECT_TRUE(transaction->Put(key, std::to_string(count)).ok());
        const Status s = transaction->Commit();
        EXPECT_TRUE(s.ok() || s.IsBusy() || s.IsTryAgain()) << s.ToString();
        if (s.ok()) ++taken[static_cast<std::size_t>(t)];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::string> counts;
  std::size_t all = 0;
  const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  for (it->Seek("n"); it->Valid() && it->key() < Slice("o"); it->Next()) {
    counts.insert(it->value().ToString());
    ++all;
  }
  std::size_t commits = 0;
  for (const int each : taken) commits += static_cast<std::size_t>(each);
  EXPECT_EQ(all, commits);
  EXPECT_EQ(counts.size(), all) << "two transactions have counted the same keys";
  EXPECT_GT(commits, 0u);
}

}  // namespace
}  // namespace cambium::testing::tracked_range_test
