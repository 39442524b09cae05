// Values in the log, and an index that is more than a few per cent of the database, because keys are long or values
// short: on a full disk deletes succeed, and then puts are accepted again.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testing/index_mode.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "upkeep/space/full_disk.h"

namespace cambium::testing::full_disk_keys_test {
namespace {

// Deletes `percent` of the keys at a time, in random order, until the disk is no longer full. Returns "" or what went
// wrong.
std::string DeleteUntilPutsPass(const Kind& kind, std::size_t percent, std::size_t most_percent, std::uint64_t seed) {
  Disk disk(kind, false, seed);
  Options& options = disk.store->options;
  options.blob_file_size = Options().blob_file_size;
  options.target_file_size_base = Options().target_file_size_base;
  options.max_bytes_for_level_base = Options().max_bytes_for_level_base;
  options.max_bytes_for_level_multiplier = Options().max_bytes_for_level_multiplier;
  options.level0_file_num_compaction_trigger = Options().level0_file_num_compaction_trigger;
  disk.store->MustOpen();
  disk.Fill();
  if (!disk.IsFull()) return "it is not full\n" + disk.Space();
  Prng prng(seed);
  std::vector<std::string> keys;
  for (const auto& [key, value] : disk.model) keys.push_back(key);
  for (std::size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[prng.Uniform(i)]);
  std::size_t deleted = 0;
  for (std::size_t sum = percent; sum <= most_percent; sum += percent) {
    for (; deleted < keys.size() * sum / 100; ++deleted) {
      const Status s = disk.store->db->Delete({}, keys[deleted]);
      if (!s.ok()) return "delete " + std::to_string(deleted) + ": " + s.ToString() + "\n" + disk.Space();
      disk.model.erase(keys[deleted]);
      disk.RunOneMaybe();
    }
    disk.LetItRun();
    if (std::string wrong = disk.Check(); !wrong.empty()) return wrong;
    if (disk.IsFull()) continue;
    if (disk.Fill() == 0) return "no put\n" + disk.Space();
    disk.store->Reopen();
    return disk.Check() + disk.store->Verify();
  }
  return "the disk stays full after " + std::to_string(deleted) + " deletes\n" + disk.Space();
}

struct Shape {
  Kind kind;
  std::size_t most_percent;
};

class KeysTest : public ::testing::TestWithParam<Shape> {};

TEST_P(KeysTest, PutsAreAcceptedAgainAfterDeletes) {
  const std::uint64_t first = SeedFromEnvironment(3);
  for (std::uint64_t seed = first; seed < first + ScaleFromEnvironment(); ++seed) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
    EXPECT_EQ(DeleteUntilPutsPass(GetParam().kind, 2, GetParam().most_percent, seed), "");
  }
}

INSTANTIATE_TEST_SUITE_P(LongKeys, KeysTest,
                         ::testing::Values(Shape{{"300, 1000", 1000, 1001, 24 * kMiB, 300}, 10},
                                           Shape{{"900, 1000", 1000, 1001, 24 * kMiB, 900}, 10},
                                           Shape{{"4000, 600", 600, 601, 24 * kMiB, 4000}, 10},
                                           Shape{{"4000, 1000", 1000, 1001, 24 * kMiB, 4000}, 10},
                                           Shape{{"8000, 5000", 5000, 5001, 24 * kMiB, 8000}, 10},
                                           Shape{{"20000, 1000", 1000, 1001, 24 * kMiB, 20000}, 10}));
INSTANTIATE_TEST_SUITE_P(ShortValues, KeysTest,
                         ::testing::Values(Shape{{"16, 100", 100, 101, 24 * kMiB, 16, 1}, 10},
                                           Shape{{"16, 200", 200, 201, 24 * kMiB, 16, 1}, 10},
                                           Shape{{"539, 200", 200, 201, 24 * kMiB, 539, 1}, 10},
                                           Shape{{"16, 520", 520, 521, 24 * kMiB, 16}, 10}));

// For one of a few seeds, whether a mutant is caught depends on what the disk holds when it becomes full.
void ExpectCaught(Mutant rule, const Kind& kind) {
  constexpr std::uint64_t kSeeds = 6;
  for (std::uint64_t seed = 3; seed < 3 + kSeeds; ++seed) {
    const MutantScope mutant(rule);
    if (!DeleteUntilPutsPass(kind, 2, 10, seed).empty()) return;
  }
  ADD_FAILURE() << "the mutant was not caught";
}

TEST(FullDiskKeysTest, TheReserveHasRoomForKeys) {
  ExpectCaught(Mutant::kReserveIgnoresKeys, {"900, 1000", 1000, 1001, 24 * kMiB, 900});
}

TEST(FullDiskKeysTest, IndexBelowHalfTheBytesGetsRoomForCompactions) {
  if (TestsUseLsm()) GTEST_SKIP() << "an LSM on this disk mostly accepts puts again without it";
  ExpectCaught(Mutant::kSmallIndexIsHalf, {"16, 100", 100, 101, 24 * kMiB, 16, 1});
}

}  // namespace
}  // namespace cambium::testing::full_disk_keys_test
