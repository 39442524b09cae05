// ColumnFamilyOptions::value_clustering: values are rewritten in the order of their keys without a call.
#include <cstdio>

#include "upkeep/log_gc/cluster_store.h"
#include "testing/mutant_scope.h"
#include "testing/seed.h"
#include "util/fault_point.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

struct Scanned : ClusterStore {
  explicit Scanned(ValueClustering how, double max_space_amplification = 0) : ClusterStore(max_space_amplification) {
    options.value_clustering = how;
  }
  // The reads of the device that a scan of these keys costs if nothing of the log is in memory.
  std::uint64_t ScanCold(int first = 0, int last = kClusterKeys - 1, bool backward = false) {
    fs->SetResident(false);
    const std::uint64_t before = fs->calls(SimOpKind::kRead);
    const std::unique_ptr<Iterator> it(db->NewIterator({}));
    const auto is_inside = [&] {
      return it->Valid() && (backward ? NumberedKey(first) <= it->key().ToString() : it->key().ToString() <= NumberedKey(last));
    };
    for (backward ? it->SeekForPrev(NumberedKey(last)) : it->Seek(NumberedKey(first)); is_inside();
         backward ? it->Prev() : it->Next()) {
      EXPECT_FALSE(it->value().empty());
    }
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    const std::uint64_t reads = fs->calls(SimOpKind::kRead) - before;  // the index is cached
    fs->SetResident(true);
    return reads;
  }
  std::uint64_t Moved() { return Property("gc-bytes-written"); }
};

TEST(ValueClusteringTest, AutoClustersWhereScansJump) {
  for (const bool backward : {false, true}) {
    SCOPED_TRACE(backward ? "backward" : "forward");
    Scanned store(ValueClustering::kAuto);
    store.Fill();
    const std::uint64_t before = store.ScanCold(0, kClusterKeys - 1, backward);
    EXPECT_EQ(store.Moved(), 0u) << "one scan has not cost as much as a rewrite";
    const auto scan = [&](int times) {
      for (int i = 0; i < times; ++i) {
        store.ScanCold(0, kClusterKeys - 1, backward);
        store.RunUntilIdle();
      }
    };
    scan(30);
    const std::uint64_t moved = store.Moved();
    EXPECT_GT(moved, 400u * 300);
    EXPECT_LE(store.ScanCold(), before / 2) << "what recovery may still read stays scattered";
    store.ExpectAll();
    EXPECT_EQ(store.Verify(), "");
    scan(60);
    EXPECT_LE(store.Moved(), moved * 3 / 2) << "what lies in order stays there";
    store.Reopen();
    store.ExpectAll();
  }
}

TEST(ValueClusteringTest, NothingIsClusteredByDefault) {
  Scanned store(ValueClustering::kOff);
  store.Fill();
  for (int i = 0; i < 50; ++i) store.ScanCold();
  store.RunUntilIdle();
  EXPECT_EQ(store.Moved(), 0u);
  // The option is dynamic.
  ASSERT_TRUE(store.db->SetOptions({{"value_clustering", "auto"}}).ok());
  for (int i = 0; i < 7; ++i) store.ScanCold();
  store.RunUntilIdle();
  EXPECT_GT(store.Moved(), 400u * 300);
}

TEST(ValueClusteringTest, AutoIgnoresValuesInMemory) {
  Scanned store(ValueClustering::kAuto);
  store.Fill();
  for (int i = 0; i < 50; ++i) {
    const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
    for (it->SeekToFirst(); it->Valid(); it->Next()) ASSERT_FALSE(it->value().empty());
  }
  store.RunUntilIdle();
  EXPECT_EQ(store.Moved(), 0u);
}

TEST(ValueClusteringTest, AutoIgnoresKeysWithoutScans) {
  Scanned store(ValueClustering::kAuto);
  store.Fill();
  for (int i = 0; i < 60; ++i) store.ScanCold(100, 199);
  store.RunUntilIdle();
  EXPECT_GT(store.Moved(), 60u * 300);
  EXPECT_LT(store.Moved(), 240u * 400);
  store.ExpectAll();
}

// Scans of keys only read nothing from the log, and large values cost one read each wherever they are.
TEST(ValueClusteringTest, AutoCountsOnlyAvoidableReads) {
  Scanned store(ValueClustering::kAuto);
  store.options.blob_file_size = 4u << 20;
  store.options.write_buffer_size = 4u << 20;
  store.options.max_total_wal_size = 32u << 20;
  store.MustOpen();
  for (int i = 0; i < 60; ++i) store.Put(NumberedKey(i * 7 % 60), std::string(70'000, 'v'));
  store.Compact();
  store.RunUntilIdle();
  for (int i = 0; i < 30; ++i) store.ScanCold(0, 59);
  store.RunUntilIdle();
  EXPECT_EQ(store.Moved(), 0u);
}

// Rule C6.
TEST(ValueClusteringTest, AutoWaitsForRoom) {
  const auto moved_at = [](double ceiling) {
    Scanned store(ValueClustering::kAuto, ceiling);
    store.options.blob_garbage_collection_age_cutoff = 0;  // log GC runs only if the ceiling demands it
    store.Fill();
    for (int i = 0; i < 60; ++i) store.ScanCold();
    store.RunUntilIdle();
    return store.Moved();
  };
  EXPECT_EQ(moved_at(1.001), 0u) << "with a database that is all slack there would be room";
  const MutantScope mutant(Mutant::kClusterWithoutRoom);
  EXPECT_GT(moved_at(1.001), 0u);
}

// Overwrites in random order, repeatedly. With a ceiling, the pass that is under way when writes stop continues to its
// end; values that are overwritten after the pass has rewritten them stay out of order.
TEST(ValueClusteringTest, FullKeepsAllValuesInOrder) {
  const std::uint64_t first = SeedFromEnvironment(0xc1a5);
  std::uint64_t reads_of_all = 0;
  std::uint64_t scattered_of_all = 0;
  for (int run = 0; run < 18; ++run) {
    const double ceiling = run < 16 ? 2.0 : 0.0;
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(first + static_cast<std::uint64_t>(run)) + " ceiling " + std::to_string(ceiling));
    Scanned store(ValueClustering::kFull, ceiling);
    store.MustOpen();
    Prng prng(first + static_cast<std::uint64_t>(run));
    std::uint64_t user = 0;
    for (int i = 0; i < kClusterKeys; ++i) {
      const int key = i * 7 % kClusterKeys;
      store.Put(NumberedKey(key), ClusterValue(key, 0));
      user += 350;
    }
    for (int round = 0; round < 12; ++round) {
      for (int i = 0; i < kClusterKeys; ++i) {
        const int key = static_cast<int>(prng.Uniform(kClusterKeys));
        store.Put(NumberedKey(key), ClusterValue(key, 0));
        user += 350;
      }
      store.RunUntilIdle();
    }
    Scanned off(ValueClustering::kOff);
    off.Fill();
    const std::uint64_t scattered = off.ScanCold();
    store.LetSecondsPass(10);
    store.RunUntilIdle();
    const std::uint64_t reads = store.ScanCold();
    const double amplification = static_cast<double>(store.Moved()) / static_cast<double>(user);
    std::printf("ceiling %.1f: %.2f bytes moved per byte written, %llu reads of a scan, %llu scattered\n", ceiling,
                amplification, static_cast<unsigned long long>(reads), static_cast<unsigned long long>(scattered));
    if (ceiling != 0) reads_of_all += reads, scattered_of_all += scattered;
    // With the byte that the user writes, this is the price that docs/OPTIONS.md names.
    EXPECT_LE(amplification, ceiling == 0 ? 1 : 2 / (ceiling - 1));
    EXPECT_GT(store.Moved(), kClusterKeys * 300u);
    store.ExpectAll();
    EXPECT_EQ(store.Verify(), "");
    const std::uint64_t moved = store.Moved();
    store.LetSecondsPass(10);
    store.RunUntilIdle();
    EXPECT_EQ(store.Moved(), moved) << "there were no writes since";
  }
  EXPECT_LE(reads_of_all, scattered_of_all / 2);
}

// After each pause in the writes a pass begins if at least a 64th of the live bytes was written. So a written byte may
// cost up to 64 bytes, more than without pauses.
TEST(ValueClusteringTest, FullWritesAtMost64BytesPerByteIfWritesPause) {
  Scanned store(ValueClustering::kFull, 2.0);
  store.MustOpen();
  Prng prng(SeedFromEnvironment(0xc1a6));
  for (int i = 0; i < kClusterKeys; ++i) {
    const int key = i * 7 % kClusterKeys;
    store.Put(NumberedKey(key), ClusterValue(key, 0));
  }
  store.RunUntilIdle();
  store.LetSecondsPass(10);
  store.RunUntilIdle();
  const std::uint64_t before = store.Moved();
  std::uint64_t user = 0;
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < kClusterKeys / 200; ++i) {
      const int key = static_cast<int>(prng.Uniform(kClusterKeys));
      store.Put(NumberedKey(key), ClusterValue(key, 0));
      user += 350;
    }
    store.LetSecondsPass(10);
    store.RunUntilIdle();
  }
  const double amplification = static_cast<double>(store.Moved() - before) / static_cast<double>(user);
  std::printf("%.2f bytes moved per byte written\n", amplification);
  EXPECT_LE(amplification, 64);
  store.ExpectAll();
  EXPECT_EQ(store.Verify(), "");
}

// Keys that are written or deleted during a background step keep their new state.
TEST(ValueClusteringTest, ConcurrentWritesWin) {
  Scanned store(ValueClustering::kAuto);
  store.Fill();
  int times = 0;
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string_view(name) != "Gc:copied" || times++ > 0) return;
    ASSERT_TRUE(store.db->Delete({}, NumberedKey(3)).ok());
    store.Put(NumberedKey(5), "new");
  });
  for (int i = 0; i < 7; ++i) store.ScanCold();
  store.RunUntilIdle();
  FaultPoints::Instance().Set(nullptr);
  EXPECT_GE(times, 1);
  EXPECT_EQ(store.Get(NumberedKey(3)), "NotFound");
  EXPECT_EQ(store.Get(NumberedKey(5)), "new");
  EXPECT_EQ(store.Verify(), "");
}

}  // namespace
}  // namespace cambium::testing
