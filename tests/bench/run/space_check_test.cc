// The space that a run is expected to need, compared with sums worked out by hand.
#include "run/space_check.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "testing/temp_directory.h"

namespace cambium::bench {
namespace {

constexpr double kEntry = 16 + 1000;

BenchFlags FlagsOf(const std::string& engine, const std::vector<std::string>& benchmarks) {
  BenchFlags flags;
  flags.num = 100'000;
  flags.value_size = 1000;
  flags.engines = {engine};
  flags.benchmarks = benchmarks;
  return flags;
}

// Returns the space needed, as a multiple of the bytes of `num` entries.
double Times(const BenchFlags& flags) {
  return static_cast<double>(SpaceNeeded(flags)) / (static_cast<double>(flags.num) * kEntry);
}

TEST(SpaceCheckTest, CollectingEngineNeedsAMultipleOfLiveBytes) {
  BenchFlags flags = FlagsOf("cambium", {"fillrandom", "overwrite"});
  flags.writes = 1'000'000;
  EXPECT_DOUBLE_EQ(Times(flags), 3) << "however often it is overwritten";
  flags.space.max_space_amplification = 4;
  EXPECT_DOUBLE_EQ(Times(flags), 5.5);
  const double buffers = 4 * 64 * (1 << 20) / (100'000 * kEntry);
  EXPECT_DOUBLE_EQ(Times(FlagsOf("rocksdb_leveled", {"fillrandom", "overwrite"})), 5.5 + buffers);
  EXPECT_DOUBLE_EQ(Times(FlagsOf("rocksdb_blob", {"fillrandom", "overwrite"})), 5.5 + buffers);
  EXPECT_DOUBLE_EQ(Times(FlagsOf("lmdb", {"fillrandom", "overwrite"})), 3);
}

// The numbers are MiB that real runs used on disk. An earlier version of the check had expected less.
TEST(SpaceCheckTest, MeasuredSpaceIsWithinTheEstimate) {
  const auto mib = [](BenchFlags flags, const std::string& engine) {
    flags.engines = {engine};
    return SpaceNeeded(flags) >> 20;
  };
  BenchFlags pinned = FlagsOf("", {"filluniquerandom", "overwritewhilepinned", "overwrite"});
  pinned.num = 262'144;
  pinned.value_size = 1024;
  pinned.threads = 2;
  pinned.writes = 655'360;
  EXPECT_GE(mib(pinned, "lmdb"), 9'057u);
  EXPECT_GE(mib(pinned, "rocksdb_blob"), 1'231u);
  BenchFlags quick = FlagsOf("", {"filluniquerandom", "overwrite", "deleterandom"});
  quick.num = 65'536;
  quick.value_size = 1024;
  EXPECT_GE(mib(quick, "wiredtiger"), 546u);
  EXPECT_GE(mib(quick, "rocksdb_universal"), 512u);
  EXPECT_GE(mib(quick, "leveldb"), 232u);
}

// Returns the space needed by a replay of a thousand operations on `keys` keys in turn, with values of 100,000 bytes.
std::uint64_t NeededByReplay(const std::string& operation, int keys) {
  const cambium::testing::TempDirectory directory;
  BenchFlags flags = FlagsOf("cambium", {"traceload", "replay"});
  flags.num = 1;
  flags.trace.file = directory.File("trace");
  std::ofstream text(flags.trace.file);
  text << "# ts op key vlen scanlen\n";
  for (int i = 0; i < 1000; ++i) text << i << " " << operation << " key" << 1000 + i % keys << " 100000 0\n";
  text.close();
  return SpaceNeeded(flags);
}

TEST(SpaceCheckTest, ReplayNeedsBytesThatItsTraceWrites) {
  EXPECT_GE(NeededByReplay("put", 1000), 3u * 1000 * 100'000);
  EXPECT_LE(NeededByReplay("put", 1000), 4u * 1000 * 100'000);
}

// Regression: each lookup counted as if it wrote the value that it finds.
TEST(SpaceCheckTest, RepeatedReadsOfAReplayNeedNoSpace) {
  EXPECT_GE(NeededByReplay("get", 10), 3u * 10 * 100'000);
  EXPECT_LE(NeededByReplay("get", 10), 4u * 10 * 100'000);
}

TEST(SpaceCheckTest, LargeNumbersSaturate) {
  BenchFlags flags = FlagsOf("cambium", {"fillrandom"});
  flags.num = 10'000'000'000;
  flags.value_size = 1'000'000'000'000;
  EXPECT_EQ(SpaceNeeded(flags), ~std::uint64_t{0});
  flags.num = ~std::uint64_t{0};
  EXPECT_EQ(SpaceNeeded(flags), ~std::uint64_t{0});
}

TEST(SpaceCheckTest, KeySetMustFitIntoMemory) {
  BenchFlags flags = FlagsOf("cambium", {"fillrandom"});
  constexpr std::uint64_t kGiB = 1u << 30;
  EXPECT_EQ(ComplainOfMemory(flags, kGiB), "");
  flags.num = 1'000'000'000'000;
  flags.use_existing_db = true;
  EXPECT_NE(ComplainOfMemory(flags, 24 * kGiB).find("a smaller --num"), std::string::npos);
  EXPECT_EQ(ComplainOfMemory(flags, 0), "") << "not known";
  BenchFlags timed = FlagsOf("cambium", {"ycsb_load", "ycsb_d"});
  timed.duration = 10'000;
  EXPECT_NE(ComplainOfMemory(timed, 24 * kGiB), "");
}

TEST(SpaceCheckTest, EngineWithoutGcNeedsAllWrittenBytes) {
  BenchFlags flags = FlagsOf("rocksdb_blob_nogc", {"filluniquerandom", "overwrite"});
  flags.threads = 2;
  flags.writes = 300'000;
  EXPECT_DOUBLE_EQ(Times(flags), 1 + 2 * 3 + 1) << "the load, six times as much, and what is alive once more";
  for (const char* engine : {"cambium", "rocksdb_blob"}) {
    BenchFlags without = flags;
    without.engines = {engine};
    without.space.max_space_amplification = 0;
    without.space.enable_blob_garbage_collection = false;
    EXPECT_DOUBLE_EQ(Times(without), 8) << engine;
  }
  flags.benchmarks = {"filluniquerandom", "overwrite", "filluniquerandom"};
  EXPECT_DOUBLE_EQ(Times(flags), 8) << "what begins anew has removed the database before";
  flags.duration = 100;
  EXPECT_DOUBLE_EQ(static_cast<double>(SpaceNeeded(flags)), 2 * 100'000 * kEntry + 100 * 100e6);
}

TEST(SpaceCheckTest, WorkloadsWithOwnValueSizesCount) {
  BenchFlags flags = FlagsOf("cambium", {"fill100K"});
  flags.value_size = 10;
  EXPECT_EQ(SpaceNeeded(flags), 3u * 100 * 100'016);
  flags = FlagsOf("cambium", {"fillrandom", "appendrandom"});
  EXPECT_DOUBLE_EQ(static_cast<double>(SpaceNeeded(flags)), 3 * 100'000 * (kEntry + 1000)) << "each gets longer once";
  flags = FlagsOf("cambium", {"fillrandom", "mixgraph"});
  flags.value_size = 10;
  flags.mixgraph.mix_put_ratio = 1;
  flags.mixgraph.value_k = 2;
  EXPECT_EQ(SpaceNeeded(flags), 3u * 100'000 * (16 + 1024)) << "without a mean, the largest";
  flags = FlagsOf("cambium", {"ycsb_load", "ycsb_d"});
  flags.ycsb.operation_count = 2'000'000;
  EXPECT_GT(Times(flags), 3 * 2) << "a twentieth of the operations are new records";
  EXPECT_LT(Times(flags), 3 * 2.1);
}

TEST(SpaceCheckTest, KeptDatabasesAddUp) {
  BenchFlags flags = FlagsOf("cambium", {"fillrandom"});
  flags.engines = {"cambium", "lmdb"};
  flags.index = "both";
  EXPECT_DOUBLE_EQ(Times(flags), 3);
  flags.db = "/somewhere";
  EXPECT_DOUBLE_EQ(Times(flags), 3 + 3 + 3);
}

}  // namespace
}  // namespace cambium::bench
