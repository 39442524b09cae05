// Queues after a flush and after an Open: the first seek passes few tombstones, as a ticker counts, and no entry is
// missed or back.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/queue_key.h"
#include "cambium/compaction_filter.h"
#include "cambium/statistics.h"
#include "testing/family_store.h"
#include "testing/mutant_scope.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

// Keeps all values. A family with a filter has no gaps, and its flushes write runs under both indexes.
class KeepsAll final : public CompactionFilter {
 public:
  [[nodiscard]] const char* Name() const override { return "KeepsAll"; }
  bool Filter(int, const Slice&, const Slice&, std::string*, bool*) const override { return false; }
};

const KeepsAll keeps_all{};  // outlives all stores

struct QueueOpenStore : FamilyStore {
  QueueOpenStore() {
    options.statistics = CreateDBStatistics();
    options.write_buffer_size = 4u << 20;  // flushes come only when a test asks for them
    options.max_total_wal_size = 64u << 20;
  }
  void Delete(Slice key) {
    const Status s = db->Delete({}, key);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void PutKeys(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) Put(QueueKey(i), "v");
  }
  void DeleteKeys(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) Delete(QueueKey(i));
  }
  std::string Front(const ReadOptions& read = {}) { return EndOf(true, read); }
  std::string Back(const ReadOptions& read = {}) { return EndOf(false, read); }
  std::string EndOf(bool is_front, const ReadOptions& read) {
    const std::unique_ptr<Iterator> it(db->NewIterator(read));
    is_front ? it->SeekToFirst() : it->SeekToLast();
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return it->Valid() ? it->key().ToString() : "";
  }
  std::size_t Count(const ReadOptions& read = {}) {
    std::size_t count = 0;
    const std::unique_ptr<Iterator> it(db->NewIterator(read));
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++count;
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return count;
  }
  std::string IndexStat(const std::string& name) {
    std::map<std::string, std::string> figures;
    EXPECT_TRUE(db->GetMapProperty("cambium.index-stats", &figures));
    return figures[name];
  }
  // Since the last call.
  std::uint64_t TakePassed() { return options.statistics->getAndResetTickerCount(NUMBER_ITER_SKIP); }
};

// More than this many tombstones are passed only if neither a range delete nor a gap is there.
constexpr std::uint64_t kFewPassed = 200;

void ExpectFewPassed(QueueOpenStore* store, const std::string& front, const std::string& back) {
  store->TakePassed();
  EXPECT_EQ(store->Front(), front);
  EXPECT_LE(store->TakePassed(), kFewPassed);
  EXPECT_EQ(store->Back(), back);
  EXPECT_LE(store->TakePassed(), kFewPassed);
}

TEST(QueueOpenTest, FirstSeekAfterOpenPassesFewTombstones) {
  QueueOpenStore store;
  store.MustOpen();
  store.PutKeys(0, 5000);
  store.DeleteKeys(0, 4000);
  store.Reopen();
  ExpectFewPassed(&store, QueueKey(4000), QueueKey(4999));
  store.DeleteKeys(4000, 5000);
  store.MustClose();
  ASSERT_TRUE(DB::OpenForReadOnly(store.options, kStorePath, &store.db).ok());
  ExpectFewPassed(&store, "", "");
}

// Some of the keys are in the layers. The tombstones for them are in the log only.
TEST(QueueOpenTest, FirstSeekAfterOpenLooksIntoLayers) {
  QueueOpenStore store;
  store.MustOpen();
  store.PutKeys(0, 3000);
  store.Flush();
  store.PutKeys(3000, 5000);
  store.DeleteKeys(0, 2000);
  store.DeleteKeys(2001, 5000);
  store.Reopen();
  ExpectFewPassed(&store, QueueKey(2000), QueueKey(2000));
  EXPECT_EQ(store.Count(), 1u);
}

TEST(QueueOpenTest, PutAfterOpenIsFound) {
  QueueOpenStore store;
  store.MustOpen();
  store.PutKeys(0, 2000);
  store.DeleteKeys(0, 2000);
  store.Reopen();
  store.Put(QueueKey(700), "again");
  ExpectFewPassed(&store, QueueKey(700), QueueKey(700));
}

// The memtable of another family is full, so the log is replayed in two steps. A key is put again in the second one.
std::string FrontAfterReplayInSteps() {
  QueueOpenStore store;
  store.MustOpenWith({});
  store.Create("other");
  store.PutKeys(0, 2000);
  store.DeleteKeys(0, 2000);
  const std::uint64_t bytes = store.Property("cur-size-all-mem-tables");
  std::uint64_t others = 0;
  for (std::size_t i = 0; others < 3 * bytes; ++i) {
    store.PutIn(store.handles.back(), QueueKey(i), "v");
    EXPECT_TRUE(store.db->GetIntProperty(store.handles.back(), "cambium.cur-size-all-mem-tables", &others));
  }
  store.PutIn(store.handles.back(), "last", "of the full memtable");
  store.Put(QueueKey(700), "again");
  store.Close();
  store.options.write_buffer_size = 2 * bytes / static_cast<std::size_t>(store.options.max_write_buffer_number);
  store.MustOpenWith({"other"});
  EXPECT_EQ(store.GetFrom(store.handles.back(), "last"), "of the full memtable");
  return store.Front();
}

TEST(QueueOpenTest, OpenFindsNoGapBeforeLastReplayedPut) {
  EXPECT_EQ(FrontAfterReplayInSteps(), QueueKey(700));
  const MutantScope mutant(Mutant::kOpenFindsGapsEarly);
  EXPECT_EQ(FrontAfterReplayInSteps(), "") << "the mutant has no effect";
}

// Keys that older layers have are deleted one by one, and the deletes are flushed into a run.
TEST(QueueOpenTest, FlushedDeletesArePassedAsRange) {
  QueueOpenStore store;
  store.options.compaction_filter = &keeps_all;
  store.MustOpen();
  store.PutKeys(0, 5000);
  store.Flush();
  store.DeleteKeys(0, 4000);
  store.Flush();
  EXPECT_EQ(store.IndexStat("run_range_deletes"), "1");
  EXPECT_EQ(store.IndexStat("run_tombstones"), "1");
  ExpectFewPassed(&store, QueueKey(4000), QueueKey(4999));
  store.Reopen();
  ExpectFewPassed(&store, QueueKey(4000), QueueKey(4999));
  store.DeleteKeys(4000, 5000);
  store.Flush();
  ExpectFewPassed(&store, "", "");
  EXPECT_EQ(store.Verify(), "");
  store.Compact();
  EXPECT_EQ(store.Count(), 0u);
  EXPECT_EQ(store.Verify(), "");
}

// The deletes leave one key that only an older layer has.
std::string FrontOverOlderKey() {
  QueueOpenStore store;
  store.options.compaction_filter = &keeps_all;
  store.MustOpen();
  store.PutKeys(0, 1000);
  store.Flush();
  store.DeleteKeys(0, 500);
  store.DeleteKeys(501, 1000);
  store.Flush();
  return store.Front();
}

TEST(QueueOpenTest, RangeOfFlushHidesNoVisibleKey) {
  EXPECT_EQ(FrontOverOlderKey(), QueueKey(500));
  const MutantScope mutant(Mutant::kStretchHidesOlderKeys);
  EXPECT_EQ(FrontOverOlderKey(), "") << "the mutant has no effect";
}

std::string FrontAfterFlushedDeletes() {
  QueueOpenStore store;
  store.options.compaction_filter = &keeps_all;
  store.MustOpen();
  store.PutKeys(0, 1000);
  store.Flush();
  store.DeleteKeys(0, 1000);
  store.Flush();
  return store.Front();
}

TEST(QueueOpenTest, RangeOfFlushHidesSameKeysAsItsTombstones) {
  EXPECT_EQ(FrontAfterFlushedDeletes(), "");
  const MutantScope mutant(Mutant::kStretchWithoutRange);
  EXPECT_EQ(FrontAfterFlushedDeletes(), QueueKey(0)) << "the mutant has no effect";
}

// Whether an idle database still has the run of a flush that deletes a row of keys: an eighth of all keys, or keys that
// were never there. The run also has enough other keys, all over the tree, to make its compaction expensive.
bool RunStaysInIdleTime(bool deletes_keys) {
  QueueOpenStore store;
  store.options.compaction_filter = &keeps_all;
  store.options.max_space_amplification = 8;  // far from the ceiling
  store.options.page_size = 4096;
  store.options.min_blob_size = 4096;
  store.MustOpen();
  Prng random(1);
  for (std::size_t i = 0; i < 20'000; ++i) store.Put(QueueKey(i), random.Bytes(100));
  store.Flush();
  store.Compact();
  deletes_keys ? store.DeleteKeys(0, 2500) : store.DeleteKeys(50'000, 52'500);
  for (std::size_t i = 0; i < 250; ++i) store.Put(QueueKey(10'000 + 40 * i), random.Bytes(100));
  store.Flush();
  EXPECT_EQ(store.IndexStat("run_range_deletes"), "1");
  store.LetSecondsPass(8);
  EXPECT_EQ(store.Verify(), "");
  return store.IndexStat("run_range_deletes") == "1";
}

TEST(QueueOpenTest, IdleDatabaseFreesSpaceThatRangesCover) {
  EXPECT_FALSE(RunStaysInIdleTime(/*deletes_keys=*/true));
  if (TestsUseLsm()) return;
  EXPECT_TRUE(RunStaysInIdleTime(/*deletes_keys=*/false)) << "its compaction would free little";
}

// For a row of deletes, a flush writes a range delete and only one tombstone. This tombstone is no sample of other
// keys.
TEST(QueueOpenTest, KeysOutsideRangeAreNotSampled) {
  if (!TestsUseLsm()) return;
  QueueOpenStore store;
  store.MustOpen();
  const auto put_keys = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) store.Put(QueueKey(i), std::string(100, 'v'));
    store.Flush();
  };
  const auto figure = [&](const std::string& name) {
    std::map<std::string, std::string> space;
    EXPECT_TRUE(store.db->GetMapProperty("cambium.space", &space));
    return std::stoull(space.at(name));
  };
  put_keys(0, 10'000);
  store.Compact();
  put_keys(10'000, 14'000);
  EXPECT_LT(figure("index_hidden"), figure("index") / 20) << "all keys are new";
  store.DeleteKeys(0, 1000);
  store.Flush();
  EXPECT_EQ(store.IndexStat("run_range_deletes"), "1");
  EXPECT_LT(figure("index_hidden"), figure("index") / 20) << "the new keys still hide nothing";
}

// Reads snapshots from before, between and after the deletes, while the deletes are flushed and compacted. A key that
// is put after the memtable was frozen lies in the range.
void ExpectSnapshotsSeeTheirKeys(std::size_t count_now) {
  QueueOpenStore store;
  store.options.compaction_filter = &keeps_all;
  store.MustOpen();
  store.PutKeys(0, 1000);
  store.Flush();
  std::vector<const Snapshot*> snapshots = {store.db->GetSnapshot()};
  for (std::size_t i = 0; i < 1000; i += 250) {
    store.DeleteKeys(i, i + 250);
    snapshots.push_back(store.db->GetSnapshot());
  }
  FlushOptions later;
  later.wait = false;
  ASSERT_TRUE(store.db->Flush(later).ok());
  store.Put(QueueKey(600), "new");
  snapshots.push_back(store.db->GetSnapshot());
  store.Flush();
  const std::vector<std::size_t> counts = {1000, 750, 500, 250, 0, 1};
  for (const bool is_compacted : {false, true}) {
    if (is_compacted) store.Compact();
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
      ReadOptions read;
      read.snapshot = snapshots[i];
      EXPECT_EQ(store.Count(read), counts[i]) << i;
      EXPECT_EQ(store.Get(QueueKey(600), read), i < 3 ? "v" : i < 5 ? "NotFound" : "new") << i;
    }
    EXPECT_EQ(store.Count(), count_now);
  }
  for (const Snapshot* snapshot : snapshots) store.db->ReleaseSnapshot(snapshot);
}

TEST(QueueOpenTest, SnapshotsSeeTheirKeysAfterFlush) {
  ExpectSnapshotsSeeTheirKeys(1);
  const MutantScope mutant(Mutant::kStretchWithoutRange);
  ExpectSnapshotsSeeTheirKeys(999);  // only the tombstone of the last key is left, for readers without a snapshot
}

}  // namespace
}  // namespace cambium::testing
