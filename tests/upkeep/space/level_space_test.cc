// The ceiling and the levels of an LSM with inline values: entries above the last level are either new or hide older
// ones, and their proportion determines how large the files may be.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "testing/mutant_scope.h"
#include "testing/units.h"
#include "upkeep/space/small_value_store.h"
#include "testing/seed.h"

namespace cambium::testing {
namespace {

constexpr std::size_t kValueBytes = SmallValueStore::kValueBytes;

// Levels of 1 and 10 MiB and memtables of 256 KiB; with CAMBIUM_INDEX=lsm several compressed levels that grow by a
// factor of three.
class LevelSpaceTest : public ::testing::Test {
 protected:
  LevelSpaceTest() {
    store_.options.target_file_size_base = 256u << 10;
    store_.options.max_bytes_for_level_base = kMiB;
    store_.MustOpen();
  }

  void Load(std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i < to; ++i) store_.PutNumber(i);
  }
  std::uint64_t Space(const std::string& figure) { return store_.Space(figure); }
  [[nodiscard]] std::uint64_t MergedBytes() const { return store_.Ticker(FILE_BYTES_MERGE); }

  SmallValueStore store_{IndexKind::kLsm};
};

// Regression: if the levels above the last one had more bytes than it, the surplus counted as garbage. But a last level
// that was just begun is small. So a load waited for a compaction every few kilobytes, and each compaction rewrote
// level 1 for a run of two pages.
TEST_F(LevelSpaceTest, NewKeysAboveTheLastLevelAreLive) {
  constexpr std::uint64_t kUserBytes = 60'000 * (kValueBytes + 16);
  for (std::uint64_t i = 0; i < 60'000; i += 1000) {
    Load(i, i + 1000);
    ASSERT_GE(Space("index_live"), Space("index") * 9 / 10) << "after " << i + 1000 << " keys";
  }
  store_.executor->RunAll();
  EXPECT_GT(Space("live"), kUserBytes * 9 / 10);
  EXPECT_LT(MergedBytes(), 8 * kUserBytes);
  EXPECT_LT(store_.options.statistics->getTickerCount(COMPACTION_KEYS_DROPPED), 60u);
  EXPECT_EQ(store_.Verify(), "");
}

// Loads keys, and overwrites some before compactions have moved much of the load down: tasks run only while a call waits
// for one. Returns the bytes that then count as live, divided by the bytes that are live.
double LiveAfterALoad() {
  constexpr std::uint64_t kKeys = 30'000;
  SmallValueStore store(IndexKind::kLsm);
  store.MustOpen();
  Prng prng(SeedFromEnvironment(7));
  const auto put = [&](std::uint64_t i) { store.Put(SmallValueStore::Key(i), prng.Bytes(kValueBytes)); };
  for (std::uint64_t i = 0; i < kKeys; ++i) put(i);
  store.Flush();
  for (std::uint64_t i = 0; i < kKeys / 20; ++i) put(prng.Uniform(kKeys));
  store.Flush();
  const std::uint64_t live = store.Space("live");
  EXPECT_EQ(store.Verify(), "");
  return static_cast<double>(live) / static_cast<double>(kKeys * (kValueBytes + 16));
}

// Regression: when the first memtable of overwrites was flushed after a load, all that the load had left above the last
// level was taken for garbage. Then writers stopped until compactions had moved it down.
TEST(LevelShareTest, LoadedKeysStayLiveWhenSomeAreOverwritten) {
  const double live = LiveAfterALoad();
  EXPECT_GT(live, 0.9);
  const MutantScope mutant(Mutant::kLastFlushTellsTheShare);
  EXPECT_LT(LiveAfterALoad(), 0.8 * live) << "with the rule " << live;
}

TEST_F(LevelSpaceTest, OverwrittenKeysStayBelowTheCeiling) {
  constexpr std::uint64_t kKeys = 40'000;
  Load(0, kKeys);
  store_.Compact();
  store_.executor->RunAll();
  const std::uint64_t live = Space("index");
  EXPECT_EQ(Space("index_hidden"), 0u) << "all is one sorted sequence";
  Prng prng(SeedFromEnvironment(5));
  std::uint64_t hidden_most = 0;
  for (std::uint64_t i = 0; i < 5 * kKeys; ++i) {
    store_.PutNumber(prng.Uniform(kKeys));
    if (i % 16 != 0) continue;
    hidden_most = std::max(hidden_most, Space("index_hidden"));
    const std::uint64_t allowed = live * 3 / 2 + 3 * kMiB;  // segments are not smaller
    ASSERT_LE(store_.BytesOnDisk(), allowed) << "after " << i << " overwrites\n" << store_.SpaceText();
  }
  EXPECT_GT(hidden_most, live / 20);
  EXPECT_EQ(store_.Verify(), "");
}

// After Open the proportion is not known; it is measured where it matters, and then the load continues.
TEST_F(LevelSpaceTest, LoadContinuesAfterReopen) {
  Load(0, 30'000);
  store_.executor->RunAll();
  store_.Reopen();
  EXPECT_GT(Space("index_hidden"), 0u);
  const std::uint64_t before = MergedBytes();
  Load(30'000, 60'000);
  store_.executor->RunAll();
  EXPECT_LT(MergedBytes() - before, 10 * 30'000 * (kValueBytes + 16));
  EXPECT_GT(Space("live"), 60'000 * (kValueBytes + 16) * 6 / 10);
  EXPECT_EQ(store_.Verify(), "");
}

// A tombstone hides the whole older entry, and is smaller than it.
TEST_F(LevelSpaceTest, DeletedKeysFreeTheirSpace) {
  constexpr std::uint64_t kKeys = 40'000;
  Load(0, kKeys);
  store_.executor->RunAll();
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    if (i % 8 != 0) {
      ASSERT_TRUE(store_.db->Delete({}, SmallValueStore::Key(i)).ok());
    }
    if (i % 64 == 0 && store_.executor->pending() > 0) store_.executor->RunOneInstead();
  }
  store_.executor->RunAll();
  store_.LetSecondsPass(7);
  EXPECT_LT(store_.BytesOnDisk(), kKeys / 8 * (kValueBytes + 16) * 2 + 3 * kMiB);
  EXPECT_EQ(store_.Verify(), "");
}

}  // namespace
}  // namespace cambium::testing
