// How much room a run is thought to need, by hand-worked sums.
#include "space_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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

// In databases of `num` entries.
double Times(const BenchFlags& flags) {
  return static_cast<double>(SpaceNeeded(flags)) / (static_cast<double>(flags.num) * kEntry);
}

TEST(SpaceCheckTest, WhoCollectsNeedsSomeTimesWhatIsAlive) {
  BenchFlags flags = FlagsOf("cambium", {"fillrandom", "overwrite"});
  flags.writes = 1'000'000;
  EXPECT_DOUBLE_EQ(Times(flags), 3) << "however often it is overwritten";
  flags.space.max_space_amplification = 4;
  EXPECT_DOUBLE_EQ(Times(flags), 5.5);
  EXPECT_DOUBLE_EQ(Times(FlagsOf("rocksdb_leveled", {"fillrandom", "overwrite"})), 3);
  EXPECT_DOUBLE_EQ(Times(FlagsOf("rocksdb_blob", {"fillrandom", "overwrite"})), 4);
}

TEST(SpaceCheckTest, WhoDoesNotNeedsWhatIsWritten) {
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

TEST(SpaceCheckTest, WorkloadsWithValuesOfTheirOwnCount) {
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

TEST(SpaceCheckTest, DatabasesThatStayAddUp) {
  BenchFlags flags = FlagsOf("cambium", {"fillrandom"});
  flags.engines = {"cambium", "lmdb"};
  flags.index = "both";
  EXPECT_DOUBLE_EQ(Times(flags), 3);
  flags.db = "/somewhere";
  EXPECT_DOUBLE_EQ(Times(flags), 9);
}

}  // namespace
}  // namespace cambium::bench
