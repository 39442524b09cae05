// Puts leave space free on a disk that is nearly full. The tests check how much they leave, and how many keys must be
// deleted before puts are accepted again.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gc/reserve.h"
#include "testing/index_mode.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "upkeep/space/full_disk.h"

namespace cambium::testing::full_disk_room_test {
namespace {

constexpr Kind kThousand = {"1000 B", 1000, 1001, 24 * kMiB};
constexpr Kind kLargerDisk = {"1000 B", 1000, 1001, 64 * kMiB};

std::uint64_t ImmutableTables(const Disk& disk) {
  std::uint64_t count = 0;
  EXPECT_TRUE(disk.store->db->GetIntProperty("cambium.num-immutable-mem-table", &count));
  return count;
}

// The keys as written, or in random order.
std::vector<std::string> KeysOf(const Disk& disk, Prng* prng) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : disk.model) keys.push_back(key);
  for (std::size_t i = keys.size(); prng != nullptr && i > 1; --i) std::swap(keys[i - 1], keys[prng->Uniform(i)]);
  return keys;
}

// Memtables are larger than the disk, so all keys are in memtables unless something flushes them.
void UseLargeTables(Disk* disk) { disk->store->options.write_buffer_size = 64 * kMiB; }

// Fills the disk, deletes a share of the keys, and puts them again. Returns "" or what went wrong.
std::string DeleteAndWriteAgain(const Kind& kind, std::size_t percent, bool by_ranges, bool large_tables,
                                std::uint64_t seed) {
  Disk disk(kind, false, seed);
  if (large_tables) UseLargeTables(&disk);
  disk.store->MustOpen();
  disk.Fill();
  if (!disk.IsFull()) return "it is not full";
  Prng prng(seed);
  std::vector<std::string> keys = KeysOf(disk, by_ranges ? nullptr : &prng);
  keys.resize(std::max<std::size_t>(1, keys.size() * percent / 100));
  if (by_ranges) {
    const std::size_t in_range = keys.size() / 4;
    for (std::size_t i = 0; i + in_range < keys.size(); i += in_range) {
      const Status s = disk.store->db->DeleteRange({}, disk.store->db->DefaultColumnFamily(), keys[i], keys[i + in_range]);
      if (!s.ok()) return "a range: " + s.ToString();
      disk.model.erase(disk.model.find(keys[i]), disk.model.find(keys[i + in_range]));
    }
  } else {
    for (const std::string& key : keys) {
      const Status s = disk.store->db->Delete({}, key);
      if (!s.ok()) return s.ToString() + "\n" + disk.Space();
      disk.model.erase(key);
      disk.RunOneMaybe();
    }
  }
  disk.LetItRun();
  if (std::string wrong = disk.Check() + disk.store->Verify(); !wrong.empty()) return wrong;
  if (disk.IsFull()) return "the disk stays full\n" + disk.Space();
  // The reserve and the index keep a part of the space that a few per cent of the keys free.
  const std::uint64_t least = percent < 10 ? 16 * kKiB : kind.quota * percent / 400;
  if (disk.Fill() < least) return "few bytes could be put again\n" + disk.Space();
  disk.LetItRun();
  disk.store->Reopen();
  return disk.Check() + disk.store->Verify();
}

// Percent, whether by ranges, whether memtables are large.
class ShareTest : public ::testing::TestWithParam<std::tuple<int, bool, bool>> {};

TEST_P(ShareTest, PutsAreAcceptedAgainAfterDeletes) {
  const auto [percent, by_ranges, large_tables] = GetParam();
  const std::uint64_t first = SeedFromEnvironment(31);
  for (std::uint64_t seed = first; seed < first + ScaleFromEnvironment(); ++seed) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
    EXPECT_EQ(DeleteAndWriteAgain(kThousand, static_cast<std::size_t>(percent), by_ranges, large_tables, seed), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Ranges, ShareTest,
                         ::testing::Combine(::testing::Values(1, 10, 50, 100), ::testing::Values(true),
                                            ::testing::Bool()));
// 3 % is the documented limit.
INSTANTIATE_TEST_SUITE_P(SingleKeys, ShareTest,
                         ::testing::Combine(::testing::Values(3, 10, 50, 100), ::testing::Values(false),
                                            ::testing::Bool()));

// The larger the database, the smaller a share suffices: 2 % is the documented limit.
TEST(FullDiskRoomTest, PutsAreAcceptedAfterTwoPercentInALargerDatabase) {
  const std::uint64_t first = SeedFromEnvironment(31);
  for (std::uint64_t seed = first; seed < first + ScaleFromEnvironment(); ++seed) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
    EXPECT_EQ(DeleteAndWriteAgain(kLargerDisk, 2, false, false, seed), "");
  }
}

// In a database of 24 MiB, deleting 1 % of the keys may free too little for puts. The deletes succeed all the same, and
// after more of them puts are accepted again.
TEST(FullDiskRoomTest, RepeatedSmallDeletesFreeSpace) {
  Disk disk(kThousand, false, 4);
  disk.store->MustOpen();
  disk.Fill();
  Prng prng(4);
  const std::vector<std::string> keys = KeysOf(disk, &prng);
  std::size_t deleted = 0;
  for (int percent = 1; percent <= 3; ++percent) {
    for (; deleted < keys.size() * static_cast<std::size_t>(percent) / 100; ++deleted) {
      ASSERT_TRUE(disk.store->db->Delete({}, keys[deleted]).ok()) << deleted;
      disk.model.erase(keys[deleted]);
    }
    disk.LetItRun();
    ASSERT_EQ(disk.Check(), "");
  }
  EXPECT_FALSE(disk.IsFull()) << disk.Space();
  EXPECT_GT(disk.Fill(), 16 * kKiB);
  EXPECT_EQ(disk.Check() + disk.store->Verify(), "");
}

// Each of these rules is necessary near the limit.
TEST(FullDiskRoomTest, EachRuleIsNecessaryNearTheLimit) {
  const std::size_t limit = TestsUseLsm() ? 3 : 2;
  ASSERT_EQ(DeleteAndWriteAgain(kThousand, limit, false, true, 1), "");
  {
    const MutantScope mutant(Mutant::kCutCountsMergedRuns);
    EXPECT_NE(DeleteAndWriteAgain(kThousand, limit, false, true, 1), "");
  }
  if (!TestsUseLsm()) {
    const MutantScope mutant(Mutant::kKeepDeadPagesOnFullDisk);
    EXPECT_NE(DeleteAndWriteAgain(kThousand, limit, false, true, 1), "");
  }
  const MutantScope mutant(Mutant::kQuietDiskStaysFull);
  EXPECT_NE(DeleteAndWriteAgain(kThousand, limit, false, true, 1), "");
}

// The flush of the memtables still fits when the first put is refused, although no background task has run before. If
// it does not, deletes of these keys free nothing.
std::string FlushOnFullDisk() {
  Disk disk(kThousand, false, 1);
  UseLargeTables(&disk);
  disk.store->options.max_space_amplification = 0;  // otherwise writers wait for the background at the ceiling
  disk.store->MustOpen();
  const std::string tail(200, 'k');
  Status s;
  for (int i = 0; s.ok(); ++i) {
    s = disk.store->db->Put({}, "key" + std::to_string(i) + tail, std::string(600, 'v'));
    if (i % 1000 == 0 && i < 5000) disk.store->executor->RunAll();  // the size of the database is measured
  }
  if (!s.IsNoSpace() || s.severity() == Status::Severity::kFatal) return s.ToString();
  disk.LetItRun();
  const std::uint64_t frozen = ImmutableTables(disk);
  return frozen == 0 ? "" : std::to_string(frozen) + " memtables are not flushed\n" + disk.Space();
}

TEST(FullDiskRoomTest, PutsLeaveRoomForTheFlush) {
  EXPECT_EQ(FlushOnFullDisk(), "");
  const MutantScope mutant(Mutant::kPutsLeaveNoRoomForFlush);
  EXPECT_NE(FlushOnFullDisk(), "");
}

// If less is free than the flush of the memtables takes, a put waits for it. The disk does not count as full.
TEST(FullDiskRoomTest, PutsWaitForFlushBeforeDiskCountsAsFull) {
  Disk disk(kThousand, false, 1);
  UseLargeTables(&disk);
  disk.store->options.max_space_amplification = 0;
  disk.store->fs->SetQuota(100 * kMiB);
  disk.store->MustOpen();
  for (int i = 0; i < 8000; ++i) disk.store->Put("key" + std::to_string(i), std::string(100, 'v'));
  disk.store->executor->RunAll();
  std::uint64_t in_tables = 0;
  ASSERT_TRUE(disk.store->db->GetIntProperty("cambium.cur-size-active-mem-table", &in_tables));
  ASSERT_GT(in_tables, 1 * kMiB);
  ASSERT_EQ(ImmutableTables(disk), 0u);
  disk.store->fs->SetQuota(disk.store->fs->probe().allocated_bytes() + in_tables);
  WriteOptions at_once;
  at_once.no_slowdown = true;
  Status refused;
  for (int i = 0; i < 10'000 && refused.ok(); ++i) {
    refused = disk.store->db->Put(at_once, "now" + std::to_string(i), std::string(100, 'v'));
  }
  EXPECT_TRUE(refused.IsIncomplete()) << refused.ToString();
  EXPECT_EQ(ImmutableTables(disk), 1u);
  disk.store->Put("then", "v");
  EXPECT_EQ(ImmutableTables(disk), 0u) << "the put has waited";
  EXPECT_FALSE(disk.IsFull()) << disk.Space();
}

}  // namespace
}  // namespace cambium::testing::full_disk_room_test
