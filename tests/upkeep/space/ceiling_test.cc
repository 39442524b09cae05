// The ceiling: the files never take more than max_space_amplification times the live bytes, plus two segments and a
// step of log GC; and an idle database shrinks by itself. space_rules_test.cc tests the rules that achieve this.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/test_store.h"
#include "testing/units.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

// Keys and values as the log stores them, with the number of live bytes that the test knows.
class Ceiling {
 public:
  explicit Ceiling(double s, std::size_t value_size, std::size_t key_count)
      : s_(s), value_size_(value_size), keys_(key_count) {
    store.options.max_space_amplification = s;
    if (s < 1.25) store.options.min_blob_size = 0;  // such a ceiling is only legal without values in the index
    store.options.write_buffer_size = 64u << 20;
    store.options.max_total_wal_size = 0;
    store.options.blob_file_size = 256u << 20;
    store.options.large_value_size = 16u << 20;
    store.options.page_size = 4096;
    store.options.page_cache_size = 32u << 20;
    UseIndexOfTest(&store.options);
    store.MustOpen();
  }

  void Put(std::size_t i) {
    Prng prng(++puts_);
    store.Put(Key(i), prng.Bytes(value_size_));
    written_ += RecordSize();
  }
  [[nodiscard]] static std::string Key(std::size_t i) { return "key" + std::to_string(1'000'000 + i); }
  [[nodiscard]] std::uint64_t RecordSize() const { return (48 + 10 + value_size_ + 7) / 8 * 8; }
  [[nodiscard]] std::uint64_t live() const { return keys_ * RecordSize(); }
  // S * L + A. A segment is an eighth of the slack, but at least a megabyte.
  [[nodiscard]] std::uint64_t allowed() const {
    const double slack = (s_ - 1) * static_cast<double>(live());
    const double segment = std::max<double>(kMiB, slack / 8);
    return static_cast<std::uint64_t>(s_ * static_cast<double>(live()) + 3 * segment);
  }
  void Load() {
    for (std::size_t i = 0; i < keys_; ++i) Put(i);
    written_ = 0;
  }
  // Overwrites the data `times` times; checks the files every so often.
  void Overwrite(double times) {
    Prng prng(SeedFromEnvironment(3));
    while (static_cast<double>(written_) < times * static_cast<double>(live())) {
      Put(prng.Uniform(keys_));
      if (puts_ % 64 == 0 && store.executor->pending() > 0) store.executor->RunOneInstead();
      if (puts_ % 16 != 0) continue;
      most = std::max(most, store.BytesOnDisk());
      std::string figures;
      EXPECT_TRUE(store.db->GetProperty("cambium.space", &figures));
      ASSERT_LE(store.BytesOnDisk(), allowed()) << "after " << written_ << " bytes of overwrites\n" << figures;
    }
  }

  TestStore store;
  std::uint64_t most = 0;

 private:
  const double s_;
  const std::size_t value_size_;
  const std::size_t keys_;
  std::uint64_t puts_ = 0;
  std::uint64_t written_ = 0;
};

TEST(CeilingTest, IdleDatabaseIsFlushedSealedAndLeftAlone) {
  Ceiling ceiling(1.5, 1000, 100);
  TestStore& store = ceiling.store;
  ceiling.Load();
  store.executor->RunAll();
  store.LetSecondsPass(4);
  EXPECT_GT(store.Property("num-entries-active-mem-table"), 0u) << "four seconds are no rest";
  ceiling.Put(7);
  store.LetSecondsPass(4);
  EXPECT_GT(store.Property("num-entries-active-mem-table"), 0u) << "the memtable has writes";
  store.LetSecondsPass(2);
  EXPECT_EQ(store.Property("num-entries-active-mem-table"), 0u);
  EXPECT_EQ(store.executor->LetTimePass(), 0u) << "no look is scheduled";
  ceiling.Put(8);
  store.LetSecondsPass(6);
  EXPECT_EQ(store.Property("num-entries-active-mem-table"), 0u) << "the next write has woken it up";
  EXPECT_EQ(store.Verify(), "");
}

TEST(CeilingTest, DeletedSpaceComesBackWithoutACall) {
  Ceiling ceiling(1.5, 1000, 10'000);
  TestStore& store = ceiling.store;
  ceiling.Load();
  store.LetSecondsPass(7);
  const auto remove = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) ASSERT_TRUE(store.db->Delete({}, Ceiling::Key(i)).ok());
    store.LetSecondsPass(7);
  };
  remove(0, 5'000);
  EXPECT_LE(store.BytesOnDisk(), ceiling.live() / 2 * 3 / 2 + 3 * kMiB);
  for (std::size_t i = 5'000; i < 10'000; i += 100) EXPECT_EQ(store.Get(Ceiling::Key(i)).size(), 1000u);
  remove(5'000, 10'000);
  EXPECT_LE(store.BytesOnDisk(), 256u << 10) << "of 10 MiB";
  EXPECT_EQ(store.Verify(), "");
}

// The bound does not count bytes that only a snapshot pins: writers continue however many these are, and all are freed
// with the snapshot.
TEST(CeilingTest, SnapshotThatPinsEverythingBlocksNoWriter) {
  Ceiling ceiling(1.5, 1000, 2'000);
  TestStore& store = ceiling.store;
  ceiling.Load();
  const Snapshot* const snapshot = store.db->GetSnapshot();
  const std::string before = store.Get(Ceiling::Key(0));
  Prng prng(SeedFromEnvironment(4));
  for (int i = 0; i < 40'000; ++i) ceiling.Put(prng.Uniform(2'000));
  ReadOptions then;
  then.snapshot = snapshot;
  EXPECT_EQ(store.Get(Ceiling::Key(0), then), before);
  store.db->ReleaseSnapshot(snapshot);
  store.LetSecondsPass(7);
  EXPECT_LE(store.BytesOnDisk(), ceiling.allowed());
}

TEST(CeilingTest, NoSlowdownWriteIsIncompleteAtTheCeiling) {
  Ceiling ceiling(1.5, 1000, 2'000);
  TestStore& store = ceiling.store;
  ceiling.Load();
  const std::uint64_t waited = store.Property("space-stall-micros");
  WriteOptions impatient;
  impatient.no_slowdown = true;
  Status s;
  for (int i = 0; i < 20'000 && s.ok(); ++i)
    s = store.db->Put(impatient, Ceiling::Key(static_cast<std::size_t>(i) % 2'000), std::string(1000, 'v'));
  EXPECT_TRUE(s.IsIncomplete()) << s.ToString();
  EXPECT_NE(s.ToString().find("max_space_amplification"), std::string::npos) << s.ToString();
  EXPECT_LE(store.BytesOnDisk(), ceiling.allowed());
  EXPECT_EQ(store.Property("space-stall-micros"), waited);
  ceiling.Put(0);  // a write that may wait succeeds
}

// Regression: the file of a large value was written first, and discarded because there was no room for it.
TEST(CeilingTest, LargeValueIsNotWrittenBeforeThereIsRoom) {
  Ceiling ceiling(1.5, 1000, 2'000);
  TestStore& store = ceiling.store;
  ceiling.Load();
  WriteOptions impatient;
  impatient.no_slowdown = true;
  Status s;
  for (int i = 0; i < 20'000 && s.ok(); ++i) {
    s = store.db->Put(impatient, Ceiling::Key(static_cast<std::size_t>(i) % 2'000), std::string(1000, 'v'));
  }
  ASSERT_TRUE(s.IsIncomplete()) << s.ToString();
  int made = 0;
  const int hook = store.fs->AddHook(
      [&made](const SimOp& op) { made += op.kind == SimOpKind::kCreate && op.path.ends_with(".val") ? 1 : 0; });
  const std::string large(store.options.large_value_size + 1, 'l');
  EXPECT_TRUE(store.db->Put(impatient, "large", large).IsIncomplete());
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("large", large).ok());
  EXPECT_TRUE(store.db->Write(impatient, &batch).IsIncomplete());
  EXPECT_EQ(made, 0);
  ASSERT_TRUE(store.db->Put({}, "large", large).ok());
  EXPECT_GT(made, 0);
  store.fs->RemoveHook(hook);
}

// Overwrites `keys` values of 4 MiB among `tiny` small ones, and compares the bytes on disk with the bound after each
// put. Returns "", or what exceeded it. A value that is being written takes space before the one that it replaces can
// be freed.
std::string OverwriteLargeValues(TestStore* store, std::uint64_t keys, std::uint64_t tiny) {
  constexpr std::uint64_t kSize = 4 * kMiB;
  const double s = store->options.max_space_amplification;
  const auto live = static_cast<double>(keys * kSize + tiny * 600);
  const double segment = std::max<double>(kMiB, (s - 1) * live / 8);
  const auto allowed = static_cast<std::uint64_t>(s * live + 3 * segment) + kSize;
  Prng prng(SeedFromEnvironment(4));
  for (std::uint64_t i = 0; i < tiny; ++i) store->Put("tiny" + std::to_string(i), prng.Bytes(540));
  std::string value = prng.Bytes(kSize);
  for (std::uint64_t i = 0; i < 60; ++i) {
    value[0] = static_cast<char>(i);
    store->Put("large" + std::to_string(i < keys ? i : prng.Uniform(keys)), value);
    for (std::uint64_t j = 0; j < tiny / 20; ++j) {
      store->Put("tiny" + std::to_string(prng.Uniform(tiny)), prng.Bytes(540));
    }
    if (prng.OneIn(4) && store->executor->pending() > 0) store->executor->RunOneInstead();
    if (store->BytesOnDisk() > allowed) {
      return std::to_string(store->BytesOnDisk()) + " bytes after " + std::to_string(i + 1) + " values of 4 MiB over " +
             std::to_string(keys) + " keys";
    }
  }
  return {};
}

// Regression: the bytes of files of large values were in no figure of the tail, so nothing started their flush.
TEST(CeilingTest, OverwrittenLargeValuesAreFreed) {
  const auto exceeded = [](std::uint64_t keys, std::uint64_t tiny) {
    Ceiling ceiling(1.5, 1000, 0);
    TestStore& store = ceiling.store;
    EXPECT_TRUE(store.db->SetOptions({{"large_value_size", std::to_string(kMiB)}}).ok());
    std::string wrong = OverwriteLargeValues(&store, keys, tiny);
    store.options.large_value_size = kMiB;
    store.Reopen();  // replay counts them too
    if (wrong.empty()) wrong = OverwriteLargeValues(&store, keys, tiny);
    EXPECT_EQ(store.Verify(), "");
    return wrong;
  };
  for (const std::uint64_t keys : {1, 3, 10}) {
    for (const std::uint64_t tiny : {0, 2000}) EXPECT_EQ(exceeded(keys, tiny), "");
  }
  const MutantScope mutant(Mutant::kLargeValuesUncounted);
  EXPECT_NE(exceeded(1, 0), "");
}

// Without a ceiling, max_total_wal_size bounds what large values that were overwritten in memtables take.
TEST(CeilingTest, LargeValuesCountAsLog) {
  Ceiling ceiling(0, 1000, 0);
  TestStore& store = ceiling.store;
  ASSERT_TRUE(store.db->SetOptions({{"large_value_size", std::to_string(kMiB)}}).ok());
  ASSERT_TRUE(store.db->SetDBOptions({{"max_total_wal_size", std::to_string(8 * kMiB)}}).ok());
  const std::string value(2 * kMiB, 'v');
  for (int i = 0; i < 40; ++i) {
    store.Put("key", value);
    store.executor->RunAll();
    ASSERT_LE(store.BytesOnDisk(), 13 * kMiB) << "after " << i + 1 << " values of 2 MiB";
  }
}

// Writes without waiting, and repeats each refused write after the jobs that are scheduled. Returns the most refusals
// of one write, up to 100.
int MostRefusals(Ceiling* ceiling) {
  TestStore& store = ceiling->store;
  WriteOptions impatient;
  impatient.no_slowdown = true;
  const std::string value(1000, 'v');
  int most = 0;
  for (std::size_t i = 0; i < 20'000; ++i) {
    Status s = store.db->Put(impatient, Ceiling::Key(i % 2'000), value);
    for (int refused = 1; s.IsIncomplete() && refused <= 100; ++refused) {
      most = std::max(most, refused);
      store.executor->RunAll();
      store.clock->Advance(100);
      s = store.db->Put(impatient, Ceiling::Key(i % 2'000), value);
    }
    if (most == 100) break;
    EXPECT_TRUE(s.ok()) << s.ToString();
  }
  return most;
}

// Regression: a write that may not wait started no look, and was refused until the database was idle for five seconds.
TEST(CeilingTest, NoSlowdownWritesSucceedSoonAfterRefusal) {
  {
    Ceiling ceiling(1.5, 1000, 2'000);
    ceiling.Load();
    const int most = MostRefusals(&ceiling);
    EXPECT_GT(most, 0);
    EXPECT_LT(most, 20);
    EXPECT_LE(ceiling.store.BytesOnDisk(), ceiling.allowed());
  }
  Ceiling ceiling(1.5, 1000, 2'000);
  ASSERT_TRUE(ceiling.store.db->SetOptions({{"enable_blob_garbage_collection", "false"}}).ok());
  ceiling.Load();
  EXPECT_LT(MostRefusals(&ceiling), 20) << "where no job can help";
}

// Log GC is off, so no job can help once the ceiling is lowered below the size of the database. One look at the space
// does not show that yet. Returns whether a write that was refused passes after the tasks that it has started.
bool RefusedWritePassesAfterTheTasks() {
  constexpr std::size_t kKeys = 500;
  Ceiling ceiling(3, 10'000, kKeys);
  TestStore& store = ceiling.store;
  EXPECT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "false"}}).ok());
  ceiling.Load();
  for (std::size_t i = 0; i < kKeys; ++i) {  // each segment keeps a quarter of its values
    if (i % 4 != 0) ceiling.Put(i);
  }
  store.Compact();
  store.RunUntilIdle();
  EXPECT_TRUE(store.db->SetOptions({{"min_blob_size", "0"}}).ok());
  EXPECT_TRUE(store.db->SetDBOptions({{"max_space_amplification", "1.1"}}).ok());
  store.executor->RunAll();
  EXPECT_GT(store.BytesOnDisk(), ceiling.live() * 11 / 10 + kMiB) << "writers must be stopped";
  WriteOptions impatient;
  impatient.no_slowdown = true;
  const std::string value(1000, 'v');
  EXPECT_EQ(store.executor->pending(), 0u);
  const Status refused = store.db->Put(impatient, "key", value);
  EXPECT_TRUE(refused.IsIncomplete()) << refused.ToString();
  store.executor->RunAll();
  const Status again = store.db->Put(impatient, "key", value);
  EXPECT_TRUE(again.ok() || again.IsIncomplete()) << again.ToString();
  return again.ok();
}

TEST(CeilingTest, RefusedWriteStartsWorkThatFreesSpace) {
  EXPECT_TRUE(RefusedWritePassesAfterTheTasks());
  const MutantScope mutant(Mutant::kRefusalStartsNothing);
  EXPECT_FALSE(RefusedWritePassesAfterTheTasks()) << "the mutant has no effect";
}

// The costs of overwriting ten values of 20,000 bytes below a min_space_limit of 16 MiB. The background keeps up with the
// writers.
struct SmallDatabaseCost {
  std::uint64_t stall_micros = 0;
  double relocated = 0;    // bytes that log GC writes, per byte that users write
  std::uint64_t most = 0;  // bytes on disk
};

SmallDatabaseCost OverwriteTenValues() {
  constexpr std::size_t kKeys = 10;
  const std::size_t puts = 3000 * ScaleFromEnvironment();
  Ceiling ceiling(1.5, 20'000, kKeys);
  TestStore& store = ceiling.store;
  EXPECT_TRUE(store.db->SetDBOptions({{"min_space_limit", std::to_string(16 * kMiB)}}).ok());
  store.executor->RunAll();
  Prng prng(SeedFromEnvironment(6));
  SmallDatabaseCost cost;
  for (std::size_t i = 0; i < puts; ++i) {
    ceiling.Put(i < kKeys ? i : prng.Uniform(kKeys));
    store.executor->RunAll();
    cost.most = std::max(cost.most, store.BytesOnDisk());
  }
  cost.stall_micros = store.Property("space-stall-micros");
  cost.relocated =
      static_cast<double>(store.Property("gc-bytes-written")) / static_cast<double>(puts * ceiling.RecordSize());
  std::printf("stalled for %llu us, %.4f bytes relocated per byte written, at most %.1f MiB on disk\n",
              static_cast<unsigned long long>(cost.stall_micros), cost.relocated,
              static_cast<double>(cost.most) / kMiB);
  EXPECT_EQ(store.Verify(), "");
  return cost;
}

// ADR 54. Without min_space_limit, the slack is 100 kB, a tenth of the smallest segment. Writers wait before a segment
// is full, and a segment of 1 MiB may be collected while all 200 kB of live values are in it. With the limit, no write
// waits, and log GC moves less than a tenth of the written bytes.
TEST(CeilingTest, BelowMinSpaceLimitNoWriteWaits) {
  const SmallDatabaseCost cost = OverwriteTenValues();
  EXPECT_EQ(cost.stall_micros, 0u);
  EXPECT_LT(cost.relocated, 0.1);
  EXPECT_LE(cost.most, 16 * kMiB);
  const MutantScope mutant(Mutant::kIgnoreMinSpaceLimit);
  EXPECT_GT(OverwriteTenValues().stall_micros, 0u);
}

// Keys are written in order, and DeleteRange removes the oldest, so that `keys` are live. Returns "", or what exceeded
// the bound.
std::string KeepTheNewest(std::uint64_t keys, std::size_t value_size) {
  constexpr std::uint64_t kStep = 100;
  Ceiling ceiling(1.5, value_size, keys);
  TestStore& store = ceiling.store;
  ceiling.Load();
  for (std::uint64_t newest = keys; newest < 6 * keys; newest += kStep) {
    for (std::uint64_t i = 0; i < kStep; ++i) ceiling.Put(newest + i);
    const std::string begin = Ceiling::Key(newest - keys);
    EXPECT_TRUE(
        store.db->DeleteRange({}, store.db->DefaultColumnFamily(), begin, Ceiling::Key(newest - keys + kStep)).ok());
    if (store.executor->pending() > 0) store.executor->RunOneInstead();
    if (store.BytesOnDisk() <= ceiling.allowed()) continue;
    std::string figures;
    EXPECT_TRUE(store.db->GetProperty("cambium.space", &figures));
    return std::to_string(store.BytesOnDisk()) + " bytes, " + std::to_string(ceiling.allowed()) + " allowed, after " +
           std::to_string(newest - keys) + " more keys\n" + figures;
  }
  EXPECT_EQ(store.Verify(), "");
  return {};
}

// Regression: what range deletes cover counted as live until a compaction had applied them.
TEST(CeilingTest, RangeDeletesOfOldestKeysStayBelowTheCeiling) {
  EXPECT_EQ(KeepTheNewest(10'000, 1000), "");
  if (!TestsUseLsm()) return;  // a tree applies them before they matter
  const MutantScope mutant(Mutant::kCoveredIsLive);
  EXPECT_NE(KeepTheNewest(10'000, 1000), "");
}

// Returns the live bytes of `cambium.space` before and after a DeleteRange of three quarters is flushed, as a ratio.
double LiveAfterRangeDelete(std::size_t value_size) {
  Ceiling ceiling(1.5, value_size, 10'000);
  TestStore& store = ceiling.store;
  ceiling.Load();
  store.Compact();
  const auto live = [&] {
    std::map<std::string, std::string> space;
    EXPECT_TRUE(store.db->GetMapProperty("cambium.space", &space));
    return std::stod(space["live"]);
  };
  const double before = live();
  EXPECT_TRUE(store.db->DeleteRange({}, store.db->DefaultColumnFamily(), Ceiling::Key(0), Ceiling::Key(7'500)).ok());
  ceiling.Put(9'999);
  store.Flush();
  return live() / before;
}

TEST(CeilingTest, RangeDeletedBytesAreNotLive) {
  for (const std::size_t size : {100, 1000}) {
    EXPECT_LT(LiveAfterRangeDelete(size), 0.35) << size;
    EXPECT_GT(LiveAfterRangeDelete(size), 0.2) << size;
  }
  if (!TestsUseLsm()) return;  // a tree has merged the memtable
  const MutantScope mutant(Mutant::kCoveredIsLive);
  for (const std::size_t size : {100, 1000}) EXPECT_GT(LiveAfterRangeDelete(size), 0.9) << size;
}

// While log GC is disabled, no job can help, and writers pass. Then it is enabled, while a job is always scheduled.
// Returns the bytes on disk after more overwrites.
std::uint64_t BytesOnceLogGcIsEnabled(Ceiling* ceiling) {
  constexpr std::uint64_t kKeys = 2'000;
  TestStore& store = ceiling->store;
  Prng prng(SeedFromEnvironment(5));
  const auto overwrite = [&] {
    for (std::uint64_t i = 0; i < 4 * kKeys; ++i) ceiling->Put(prng.Uniform(kKeys));
  };
  ceiling->Load();
  EXPECT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "false"}}).ok());
  overwrite();
  EXPECT_GT(store.BytesOnDisk(), ceiling->allowed() * 3 / 2) << "writers have passed";
  EXPECT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  overwrite();
  return store.BytesOnDisk();
}

// Regression: once no job could help, writers passed until the database was below the ceiling or no job was scheduled.
// With several writers on few keys, jobs were always scheduled: 0.4 MiB of values took 832 MiB.
TEST(CeilingTest, WritersMayWriteASegmentIfNoJobFreesSpace) {
  {
    Ceiling ceiling(1.5, 1000, 2'000);
    EXPECT_LE(BytesOnceLogGcIsEnabled(&ceiling), ceiling.allowed());
    EXPECT_EQ(ceiling.store.Verify(), "");
  }
  const MutantScope mutant(Mutant::kHopelessForGood);
  Ceiling ceiling(1.5, 1000, 2'000);
  EXPECT_GT(BytesOnceLogGcIsEnabled(&ceiling), 2 * ceiling.allowed());
}

TEST(CeilingTest, ChangedCeilingAppliesAtOnce) {
  Ceiling ceiling(3, 1000, 10'000);
  TestStore& store = ceiling.store;
  ceiling.Load();
  // The size goes up and down between GC steps: waits until it is up.
  for (double times = 4; times < 8 && store.BytesOnDisk() <= 2 * ceiling.live(); times += 0.1) ceiling.Overwrite(times);
  EXPECT_GT(store.BytesOnDisk(), 2 * ceiling.live());
  ASSERT_TRUE(store.db->SetDBOptions({{"max_space_amplification", "1.25"}}).ok());
  store.executor->RunAll();
  EXPECT_LE(static_cast<double>(store.BytesOnDisk()), 1.25 * static_cast<double>(ceiling.live()) + 3 * kMiB);
  EXPECT_EQ(store.Verify(), "");
}

// Even without a flush, values of new keys are known to be live, and values overwritten in the same memtable to be
// dead.
TEST(CeilingTest, LoadIntoEmptyDatabaseDoesNotWait) {
  Ceiling ceiling(1.5, 1000, 20'000);
  TestStore& store = ceiling.store;
  for (std::size_t i = 0; i < 20'000; ++i) {
    ceiling.Put(i);
    store.executor->RunAll();  // as with threads: each look at space has ended before the next write
  }
  EXPECT_EQ(store.Property("space-stall-micros"), 0u);
  EXPECT_EQ(store.Property("num-entries-active-mem-table"), 20'000u);
  ceiling.Overwrite(4.0 * static_cast<double>(ScaleFromEnvironment()));
  EXPECT_GT(store.Property("gc-bytes-written"), 0u);
  store.executor->RunAll();
  EXPECT_EQ(store.Verify(), "");
}

// Values in a memtable that waits for its flush may be replaced by much smaller ones, or deleted.
TEST(CeilingTest, ValuesReplacedByNewerMemtablesAreNotLive) {
  for (const bool by_ranges : {false, true}) {
    Ceiling ceiling(1.5, 1000, 10'000);
    TestStore& store = ceiling.store;
    ceiling.Load();
    const auto live = [&store] {
      std::map<std::string, std::string> space;
      EXPECT_TRUE(store.db->GetMapProperty("cambium.space", &space));
      return std::stoull(space.at("live"));
    };
    const double rounding = 0.02 * static_cast<double>(ceiling.live());  // addresses round sizes up
    EXPECT_NEAR(static_cast<double>(live()), static_cast<double>(ceiling.live()), rounding);
    if (by_ranges) {
      ASSERT_TRUE(store.db->DeleteRange({}, Ceiling::Key(0), Ceiling::Key(5'000)).ok());
      EXPECT_EQ(live(), 0u) << "the number of keys that they cover is not known";
    } else {
      for (std::size_t i = 0; i < 5'000; ++i) ASSERT_TRUE(store.db->Delete({}, Ceiling::Key(i)).ok());
      EXPECT_NEAR(static_cast<double>(live()), static_cast<double>(ceiling.live() / 2), rounding);
    }
    ASSERT_TRUE(store.db->Flush({}).ok());
    EXPECT_NEAR(static_cast<double>(live()), static_cast<double>(ceiling.live() / 2), rounding);
    EXPECT_EQ(store.Verify(), "");
  }
}

// A load that overwrites nothing relocates nothing, whatever the ceiling.
TEST(CeilingTest, InsertsRelocateNothing) {
  for (const double s : {1.1, 1.5}) {
    Ceiling ceiling(s, 1000, 20'000);
    ceiling.Load();
    ceiling.store.executor->RunAll();
    ceiling.store.LetSecondsPass(7);
    EXPECT_EQ(ceiling.store.Property("gc-bytes-written"), 0u) << s;
  }
}

}  // namespace
}  // namespace cambium::testing
