// Runs of few keys have small pages and take one block of the disk.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cambium/listener.h"
#include "cambium/repair.h"
#include "io/file_block.h"
#include "testing/family_store.h"
#include "testing/hook_scope.h"
#include "testing/index_mode.h"
#include "testing/mutant_scope.h"
#include "upkeep/first_entries.h"
#include "upkeep/log_gc/garbage_store.h"
#include "util/prng.h"

namespace cambium::testing::small_runs_test {
namespace {

// Each flush makes a run, and no compaction is due.
struct RunStore : FamilyStore {
  RunStore() {
    UseIndexOfTest(&options);
    options.page_size = 4096;
    options.min_blob_size = 400;
    options.write_buffer_size = 1u << 20;
    options.level0_file_num_compaction_trigger = 100;
    options.level0_slowdown_writes_trigger = 200;
    options.level0_stop_writes_trigger = 300;
    options.sweep_ratio = 1;
    options.max_total_wal_size = 1u << 30;
    options.create_missing_column_families = true;
  }
  // The first flush into an empty tree makes a tree, and later ones rewrite it if it has few pages.
  void OpenWithBase(const std::vector<std::string>& names = {}) {
    MustOpenWith(names);
    for (ColumnFamilyHandle* const handle : handles) {
      for (int i = 0; i < kBaseKeys; ++i) PutIn(handle, BaseKey(i), BaseValue());
      ASSERT_TRUE(db->Flush({}, handle).ok());
    }
    before = FilesOf(".run").size();
  }
  static constexpr int kBaseKeys = 1000;  // in about 20 leaves
  static std::string BaseKey(int i) { return "base" + NumberedKey(i); }
  static std::string BaseValue() { return std::string(60, 'b'); }
  // The sizes of the runs that were flushed since OpenWithBase.
  [[nodiscard]] std::vector<std::uint64_t> NewRuns() const {
    std::vector<std::uint64_t> sizes;
    for (const std::string& path : FilesOf(".run")) sizes.push_back(Files().at(path).size());
    sizes.erase(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(before));
    return sizes;
  }
  // Flushes these keys and values, and returns the size of the run.
  std::uint64_t SizeOfRunWith(const std::map<std::string, std::string>& pairs) {
    OpenWithBase();
    for (const auto& [key, value] : pairs) Put(key, value);
    Flush();
    const std::vector<std::uint64_t> sizes = NewRuns();
    // A tree takes the keys of one or two leaves itself.
    if (pairs.size() > 2 || TestsUseLsm()) {
      EXPECT_EQ(sizes.size(), 1u);
    }
    for (int opened = 0; opened < 2; ++opened) {
      for (const auto& [key, value] : pairs) EXPECT_EQ(Get(key), value) << key;
      EXPECT_EQ(Get("no such key"), "NotFound");
      EXPECT_EQ(Verify(), "");
      Close();
      MustOpenWith({});
    }
    return sizes.empty() ? 0 : sizes[0];
  }
  // A figure of the last look at the space, in bytes.
  [[nodiscard]] std::uint64_t Figure(const std::string& name) const {
    std::map<std::string, std::string> space;
    EXPECT_TRUE(db->GetMapProperty("cambium.space", &space));
    return std::stoull(space.at(name));
  }
  // Writes 20 values into each family.
  void FillFamilies(std::size_t value_size) {
    for (ColumnFamilyHandle* const handle : handles) {
      for (int i = 0; i < 20; ++i) PutIn(handle, NumberedKey(i), std::string(value_size, 'v'));
    }
  }
  std::size_t before = 0;
};

// Keys of the whole range of the base.
std::map<std::string, std::string> Pairs(int count, std::size_t key_size, std::size_t value_size) {
  std::map<std::string, std::string> pairs;
  for (int i = 0; i < count; ++i) {
    std::string key = RunStore::BaseKey(i * RunStore::kBaseKeys / count);
    key.resize(std::max(key.size(), key_size), '.');
    pairs[key] = std::string(value_size, static_cast<char>('a' + i % 26));
  }
  return pairs;
}

std::uint64_t RunSize(const std::map<std::string, std::string>& pairs) { return RunStore().SizeOfRunWith(pairs); }

TEST(SmallRunsTest, RunsOfFewKeysTakeOneBlock) {
  EXPECT_LE(RunSize(Pairs(1, 1, 1)), kFileBlock);
  EXPECT_LE(RunSize(Pairs(1, 1, 1000)), kFileBlock);
  EXPECT_LE(RunSize(Pairs(10, 1, 1000)), kFileBlock) << "the values are in the log";
  EXPECT_LE(RunSize(Pairs(10, 1, 100)), kFileBlock);
  EXPECT_LE(RunSize(Pairs(1, 250, 1000)), kFileBlock) << "a long key";
  EXPECT_LE(RunSize({{"", "the empty key"}}), kFileBlock);
  const MutantScope mutant(Mutant::kSmallRunsHaveLargePages);
  EXPECT_GT(RunSize(Pairs(10, 1, 1)), 2 * kFileBlock);
}

TEST(SmallRunsTest, LargerRunsHavePagesOfTheFamily) {
  EXPECT_GT(RunSize(Pairs(100, 1, 1000)), 2 * kFileBlock);
  EXPECT_GT(RunSize(Pairs(8, 1, 129)), 2 * kFileBlock) << "inline values that no small page may have";
  EXPECT_GT(RunSize(Pairs(8, 300, 1000)), 2 * kFileBlock) << "long keys";
}

// Tries numbers of keys below and around the limit of small runs.
TEST(SmallRunsTest, EachSizeIsReadBack) {
  for (int count = 1; count < 120; count += count < 40 ? 5 : 1) {
    const std::uint64_t size = RunSize(Pairs(count, 20, 1000));
    EXPECT_TRUE(size <= kFileBlock || count * 36 + 80 > static_cast<int>(kSmallRunBytes)) << count << " keys: " << size;
  }
}

TEST(SmallRunsTest, TombstonesAndRangesAreReadBack) {
  RunStore store;
  store.OpenWithBase();
  store.Put("a", std::string(500, 'a'));
  store.Flush();
  ASSERT_TRUE(store.db->Delete({}, "a").ok());
  ASSERT_TRUE(store.db->DeleteRange({}, RunStore::BaseKey(0), RunStore::BaseKey(500)).ok());
  store.Flush();
  ASSERT_TRUE(store.db->DeleteRange({}, "x", "z").ok());
  store.Flush();
  for (const std::uint64_t size : store.NewRuns()) EXPECT_LE(size, kFileBlock);
  if (TestsUseLsm()) {
    EXPECT_EQ(store.NewRuns().size(), 3u);
  }
  for (int opened = 0; opened < 2; ++opened) {
    EXPECT_EQ(store.Get("a"), "NotFound");
    EXPECT_EQ(store.Get(RunStore::BaseKey(7)), "NotFound");
    EXPECT_EQ(store.Verify(), "");
    store.Close();
    store.MustOpenWith({});
  }
}

// Compactions, and lookups after them, read small runs, whatever the options of the family are.
TEST(SmallRunsTest, CompactionsReadSmallRuns) {
  const auto write_and_compact = [](const std::function<void(Options*)>& set) {
    RunStore store;
    set(&store.options);
    store.OpenWithBase();
    std::map<std::string, std::string> all{{RunStore::BaseKey(7), RunStore::BaseValue()}};
    Prng prng(91);
    for (int i = 0; i < 30; ++i) {
      for (int n = 0; n < 8; ++n) {
        const std::string key = RunStore::BaseKey(static_cast<int>(8 + prng.Uniform(900)));
        store.Put(key, all[key] = prng.Bytes(prng.OneIn(2) ? 50 : 700));
      }
      store.Flush();
    }
    EXPECT_GT(store.NewRuns().size(), 5u);
    for (int step = 0; step < 3; ++step) {
      if (step == 1) store.Compact();
      if (step == 2) {
        store.Close();
        store.MustOpenWith({});
      }
      for (const auto& [key, value] : all) EXPECT_EQ(store.Get(key), value) << step;
      EXPECT_EQ(store.Verify(), "") << step;
    }
  };
  for (const std::size_t page_size : {512, 1024, 4096, 16384}) {
    write_and_compact([page_size](Options* options) { options->page_size = page_size; });
  }
  write_and_compact([](Options* options) { options->compression = CompressionType::kZSTD; });
  write_and_compact([](Options* options) { options->comparator = ReverseBytewiseComparator(); });
  write_and_compact([](Options* options) { options->filter_bits_per_key = 0; });
}

// A compaction may move a small run into a level as it is.
TEST(SmallRunsTest, SmallRunsMoveIntoLevels) {
  if (!TestsUseLsm()) GTEST_SKIP() << "a tree has no levels";
  RunStore store;
  store.options.level0_file_num_compaction_trigger = 1;
  store.MustOpenWith({});
  store.Put("key", "value");
  store.Flush();
  store.RunUntilIdle();
  std::string in_level0;
  ASSERT_TRUE(store.db->GetProperty("cambium.num-files-at-level0", &in_level0));
  EXPECT_EQ(in_level0, "0");
  ASSERT_EQ(store.FilesOf(".run").size(), 1u);
  EXPECT_LE(store.Files().at(store.FilesOf(".run")[0]).size(), kFileBlock) << "moved, not written anew";
  for (int opened = 0; opened < 2; ++opened) {
    EXPECT_EQ(store.Get("key"), "value");
    EXPECT_EQ(store.Verify(), "");
    store.Close();
    store.MustOpenWith({});
  }
}

struct GcRunListener : EventListener {
  void OnTableFileCreated(const TableFileCreationInfo& info) override {
    if (info.reason != TableFileCreationReason::kLogGc || !info.status.ok()) return;
    ++runs;
    most = std::max(most, info.file_size);
  }
  int runs = 0;
  std::uint64_t most = 0;
};

// Log GC writes a run for each family of which it moves values.
TEST(SmallRunsTest, LogGcWritesSmallRuns) {
  static constexpr int kFamilies = 30;
  const auto most_of_a_step = [] {
    RunStore store;
    const auto listener = std::make_shared<GcRunListener>();
    store.options.listeners.push_back(listener);
    store.options.blob_file_size = 64u << 10;
    store.options.enable_blob_garbage_collection = false;
    store.OpenWithBase(FamilyNames(kFamilies));
    for (int round = 0; round < 2; ++round) {
      for (int key = 0; key < 20; key += 1 + round) {
        for (ColumnFamilyHandle* const handle : store.handles) {
          store.PutIn(handle, NumberedKey(key), std::string(1000, static_cast<char>('a' + round)));
        }
      }
      for (ColumnFamilyHandle* const handle : store.handles) EXPECT_TRUE(store.db->Flush({}, handle).ok());
    }
    Collect(&store);
    EXPECT_FALSE(store.FilesOf(".gc").empty());
    EXPECT_GE(listener->runs, kFamilies) << "log GC has moved values";
    for (ColumnFamilyHandle* const handle : store.handles) {
      for (int key = 0; key < 20; ++key) {
        std::string value;
        EXPECT_TRUE(store.db->Get({}, handle, NumberedKey(key), &value).ok());
        EXPECT_EQ(value, std::string(1000, key % 2 == 0 ? 'b' : 'a'));
      }
    }
    EXPECT_EQ(store.Verify(), "");
    return listener->most;
  };
  EXPECT_LE(most_of_a_step(), kFileBlock);
  const MutantScope mutant(Mutant::kSmallRunsHaveLargePages);
  EXPECT_GT(most_of_a_step(), 2 * kFileBlock);
}

// Salvage reads small runs, and pages of small runs whose header or footer is damaged.
TEST(SmallRunsTest, SalvageReadsSmallRuns) {
  RunStore store;
  store.OpenWithBase();
  std::map<std::string, std::string> all{{RunStore::BaseKey(7), RunStore::BaseValue()}};
  for (int run = 0; run < 5; ++run) {
    for (int i = 0; i < 10; ++i) {
      const std::string key = RunStore::BaseKey(run * 10 + i * 90 + 10);
      store.Put(key, all[key] = "inline " + std::to_string(i));
    }
    store.Flush();
  }
  const std::vector<std::uint64_t> sizes = store.NewRuns();
  ASSERT_EQ(sizes.size(), 5u);
  store.Close();
  for (const std::uint64_t damaged : {~std::uint64_t{0}, std::uint64_t{40}, sizes.back() - 20}) {
    auto copy = std::make_shared<SimFileSystem>(store.fs->Snapshot());
    const std::string path = store.FilesOf(".run").back();
    if (damaged != ~std::uint64_t{0}) {
      ASSERT_TRUE(copy->tampering().FlipBit(path, damaged, 3).ok());
    }
    Options options = store.options;
    options.file_system = copy;
    RepairReport report;
    const Status s = RepairDB(kStorePath, "/out", options, {{kDefaultColumnFamilyName, options}}, {}, &report);
    ASSERT_TRUE(s.ok() || s.IsCorruption()) << s.ToString();
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, "/out", &db).ok());
    for (const auto& [key, value] : all) {
      std::string got;
      EXPECT_TRUE(db->Get({}, key, &got).ok()) << key << ", damaged at " << damaged;
      EXPECT_EQ(got, value);
    }
  }
}

// The space of a file is counted in blocks, as the file system allocates it.
TEST(SmallRunsTest, SpaceOfRunsCountsInBlocks) {
  const auto index_bytes = [] {
    RunStore store;
    store.options.max_space_amplification = 1.5;
    store.OpenWithBase();
    for (int i = 0; i < 3; ++i) {
      for (const auto& [key, value] : Pairs(100, 1, 100)) store.Put(key, value);
      store.Flush();
    }
    store.RunUntilIdle();
    store.executor->RunAll();
    std::uint64_t blocks = 0;
    for (const auto& [path, bytes] : store.Files()) {
      if (path.ends_with(".run") || path.ends_with(".idx")) blocks += InBlocks(bytes.size());
    }
    return std::pair(store.Figure("index"), blocks);
  };
  const auto [counted, taken] = index_bytes();
  EXPECT_EQ(counted, taken);
  const MutantScope mutant(Mutant::kRunsCountTheirBytes);
  const auto [counted_bytes, taken_bytes] = index_bytes();
  EXPECT_LT(counted_bytes, taken_bytes);
}

// Dropped files count in blocks too, until they are removed.
TEST(SmallRunsTest, DroppedRunsCountInBlocks) {
  RunStore store;
  store.options.max_space_amplification = 1.5;
  store.options.min_space_limit = 0;
  store.OpenWithBase();
  for (int i = 0; i < 6; ++i) {
    for (const auto& [key, value] : Pairs(8, 1, 100)) store.Put(key, value);
    store.Flush();
  }
  const std::size_t runs = store.NewRuns().size();
  EXPECT_GT(runs, 3u);
  std::uint64_t most = 0;
  const HookScope hook(store.fs, [&](const SimOp& op) {
    if (op.kind != SimOpKind::kUnlink || op.phase != SimPhase::kBefore || !op.path.ends_with(".run")) return;
    most = std::max(most, store.Figure("leaving"));
  });
  store.Compact();
  store.RunUntilIdle();
  EXPECT_GE(most, runs * kFileBlock);
}

// Regression: bytes that one family added were taken for a replacement of bytes that another family hides. So a
// database in which small values were packed into large values of another family exceeded the ceiling by a third.
TEST(SmallRunsTest, ValuesPackedIntoAnotherFamilyCountOnce) {
  constexpr int kValues = 6'000;
  constexpr int kPack = 100;
  const auto most_live = [] {
    RunStore store;
    store.options.max_space_amplification = 1.5;
    store.options.min_space_limit = 0;
    store.options.write_buffer_size = 64u << 20;
    store.MustOpenWith({"packs"});
    ColumnFamilyHandle* const values = store.handles[0];
    ColumnFamilyHandle* const packs = store.handles[1];
    for (int i = 0; i < kValues; ++i) store.PutIn(values, NumberedKey(i), std::string(1000, 'v'));
    EXPECT_TRUE(store.db->Flush({}, values).ok());
    store.executor->RunAll();
    double most = 0;
    for (int i = 0; i < kValues; i += kPack) {
      WriteBatch batch;
      EXPECT_TRUE(batch.Put(packs, NumberedKey(i), std::string(1000 * kPack, 'p')).ok());
      for (int j = i; j < i + kPack; ++j) EXPECT_TRUE(batch.Delete(values, NumberedKey(j)).ok());
      EXPECT_TRUE(store.db->Write({}, &batch).ok());
      if (store.executor->pending() > 0) store.executor->RunOneInstead();
      most = std::max(most, static_cast<double>(store.Figure("live")));
    }
    return most / (kValues * 1000.0);
  };
  EXPECT_LT(most_live(), 1.3);
  const MutantScope mutant(Mutant::kNewBytesReplaceHidden);
  EXPECT_GT(most_live(), 1.5);
}

// Regression: while some families were in layers and others in memtables, the live bytes seemed to be fewer, so the
// ceiling fell. A tree then flushed everything, and writers stopped.
TEST(SmallRunsTest, LiveBytesDoNotFallWhileFamiliesAreFlushed) {
  static constexpr std::size_t kFamilies = 200;
  const auto stays_as_it_is = [] {
    RunStore store;
    store.options.max_space_amplification = 1.5;
    store.options.min_space_limit = 0;
    store.MustOpenWith(FamilyNames(kFamilies));
    store.FillFamilies(2000);
    constexpr std::uint64_t kAll = (kFamilies + 1) * 20 * 2000;
    std::uint64_t least = kAll;
    for (std::size_t i = 0; i < kFamilies / 2; ++i) {
      EXPECT_TRUE(store.db->Flush({}, store.handles[i]).ok());
      store.executor->RunAll();
      least = std::min(least, store.Figure("live"));
    }
    std::uint64_t in_memory = 0;
    EXPECT_TRUE(store.db->GetIntProperty(store.handles.back(), "cambium.num-entries-active-mem-table", &in_memory));
    return least == kAll && in_memory == 20;
  };
  EXPECT_TRUE(stays_as_it_is());
  const MutantScope mutant(Mutant::kEitherTailOrLayersLive);
  EXPECT_FALSE(stays_as_it_is());
}

// Writers leave room for the pages that the flush of each memtable takes.
TEST(SmallRunsTest, WritersLeaveRoomForThePagesOfEachFamily) {
  static constexpr int kFamilies = 100;
  const auto room = [] {
    RunStore store;
    store.options.max_space_amplification = 1.5;
    store.options.min_space_limit = 0;
    store.MustOpenWith(FamilyNames(kFamilies));
    store.FillFamilies(20'000);
    EXPECT_TRUE(store.db->Flush({}, store.handles[0]).ok());  // its end is a look at the space
    store.executor->RunAll();
    return store.Figure("stop_at");
  };
  const std::uint64_t with = room();
  const MutantScope mutant(Mutant::kMemtablesTakeNoPages);
  EXPECT_GE(room(), with + kFamilies * 4096);
}

}  // namespace
}  // namespace cambium::testing::small_runs_test
