// The cut: on a full disk whose segments all hold too many live values to be moved, deletes go on and give space back.
// No live value is lost, and no reader that may need a value finds a hole.
#include <algorithm>
#include <functional>

#include "cambium/backup_engine.h"
#include "cambium/checkpoint.h"
#include "manifest/manifest_reader.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "upkeep/space/full_disk.h"
#include "util/fault_point.h"

namespace cambium::testing::cut_test {
namespace {

constexpr Kind kThousand = {"1000 B", 1000, 1001, 8 * kMiB};
constexpr Kind kMixed = {"1-64 KiB", kKiB, 64 * kKiB, 10 * kMiB};
constexpr Kind kHundredThousand = {"100 KiB", 100 * kKiB, 100 * kKiB + 1, 16 * kMiB};

enum class Pattern { kInOrder, kEverySecond, kShuffled };

std::vector<std::string> Doomed(const Disk& disk, Pattern pattern, std::size_t percent, Prng* prng) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : disk.model) keys.push_back(key);
  std::ranges::sort(keys, {}, [](const std::string& key) { return std::stoull(key.substr(3)); });  // as written
  const std::size_t count = std::max<std::size_t>(1, keys.size() * percent / 100);
  if (pattern == Pattern::kEverySecond) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < keys.size(); i += 2) keys[kept++] = keys[i];
    keys.resize(kept);
  }
  if (pattern == Pattern::kShuffled) {
    for (std::size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[prng->Uniform(i)]);
  }
  keys.resize(std::min(keys.size(), count));
  return keys;
}

// Deletes the keys. Returns "" or the first error.
std::string Delete(Disk* disk, const std::vector<std::string>& keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Status s = disk->store->db->Delete({}, keys[i]);
    if (!s.ok()) return "delete " + std::to_string(i) + " of " + std::to_string(keys.size()) + ": " + s.ToString() + "\n" + disk->Space();
    disk->model.erase(keys[i]);
    disk->RunOneMaybe();
  }
  return "";
}

// Segments that the MANIFEST says are cut.
std::size_t CutSegments(const Disk& disk) {
  SimFileSystem copy(disk.store->fs->Snapshot());
  const auto manifest = ReadManifest(copy, kStorePath);
  EXPECT_TRUE(manifest.ok());
  std::size_t count = 0;
  for (const auto& [number, info] : manifest->state.segments) count += info.cut != 0 ? 1 : 0;
  return count;
}

std::string FillAndDelete(const Kind& kind, Pattern pattern, std::size_t percent, bool reopens, std::uint64_t seed) {
  Disk disk(kind, false, seed);
  disk.store->MustOpen();
  disk.Fill();
  if (!disk.IsFull()) return "it is not full";
  Prng prng(seed);
  if (reopens) disk.store->Reopen();
  std::vector<std::string> keys = Doomed(disk, pattern, percent, &prng);
  const std::vector<std::string> rest(keys.begin() + static_cast<std::ptrdiff_t>(keys.size() / 2), keys.end());
  keys.resize(keys.size() / 2);
  if (std::string wrong = Delete(&disk, keys); !wrong.empty()) return wrong;
  if (reopens) disk.store->Reopen();
  if (std::string wrong = Delete(&disk, rest); !wrong.empty()) return wrong;
  disk.LetItRun();
  if (std::string wrong = disk.Check(); !wrong.empty()) return wrong;
  if (std::string wrong = disk.store->Verify(); !wrong.empty()) return wrong;
  // If garbage is spread thinly, moving the live values in between takes more space than it frees, until more is
  // deleted.
  const std::size_t enough = 10;
  if (percent >= enough && disk.IsFull()) return "the disk stays full\n" + disk.Space();
  if (percent >= enough && disk.Fill() < kind.quota * percent / 400) {
    return "few bytes could be put again\n" + disk.Space();
  }
  disk.LetItRun();
  disk.store->Reopen();
  return disk.Check() + disk.store->Verify();
}

class UpkeepCutRoundsTest : public ::testing::TestWithParam<std::tuple<Kind, Pattern, int, bool>> {};

TEST_P(UpkeepCutRoundsTest, DeletesSucceedAndPutsAreAcceptedAgain) {
  const auto [kind, pattern, percent, reopens] = GetParam();
  const std::uint64_t seed = SeedFromEnvironment(21);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  EXPECT_EQ(FillAndDelete(kind, pattern, static_cast<std::size_t>(percent), reopens, seed), "");
}

INSTANTIATE_TEST_SUITE_P(Kinds, UpkeepCutRoundsTest,
                         ::testing::Combine(::testing::Values(kThousand, kMixed, kHundredThousand),
                                            ::testing::Values(Pattern::kInOrder, Pattern::kEverySecond,
                                                              Pattern::kShuffled),
                                            ::testing::Values(1, 10, 50, 100), ::testing::Bool()));

// ---- One cut, step by step ----

// A full disk on which every second value dies, so that segments are cut.
class CutDisk : public Disk {
 public:
  explicit CutDisk(std::uint64_t seed = 5) : Disk(kThousand, false, seed) {
    store->MustOpen();
    Fill();
    Prng prng(seed);
    doomed = Doomed(*this, Pattern::kEverySecond, 100, &prng);
  }
  // Deletes until the first commit of a cut.
  void DeleteUntilCut() {
    while (!doomed.empty() && CutSegments(*this) == 0) {
      const std::size_t some = std::min<std::size_t>(doomed.size(), 100);
      ASSERT_EQ(Delete(this, {doomed.begin(), doomed.begin() + static_cast<std::ptrdiff_t>(some)}), "");
      doomed.erase(doomed.begin(), doomed.begin() + static_cast<std::ptrdiff_t>(some));
      store->executor->RunAll();
    }
    ASSERT_GT(CutSegments(*this), 0u);
  }
  std::vector<std::string> doomed;
};

TEST(UpkeepCutTest, SegmentsAreCutAndVerify) {
  CutDisk disk;
  disk.DeleteUntilCut();
  EXPECT_EQ(disk.Check() + disk.store->Verify(), "");
  disk.store->Reopen();
  EXPECT_GT(CutSegments(disk), 0u);
  EXPECT_EQ(disk.Check() + disk.store->Verify(), "");
  ASSERT_EQ(Delete(&disk, disk.doomed), "");
  disk.LetItRun();
  EXPECT_EQ(disk.Check() + disk.store->Verify(), "");
}

TEST(UpkeepCutTest, WithoutCutsTheDiskStaysFull) {
  const auto deletes = [] {
    CutDisk disk;
    Prng prng(5);
    std::string wrong = Delete(&disk, Doomed(disk, Pattern::kShuffled, 10, &prng));
    disk.LetItRun();
    if (wrong.empty() && disk.IsFull()) wrong = "the disk stays full";
    return wrong;
  };
  EXPECT_EQ(deletes(), "");
  const MutantScope mutant(Mutant::kGcNeverCuts);
  EXPECT_NE(deletes(), "");
}

// The live values before the cut must have been copied.
std::string CutOnce() {
  CutDisk disk;
  disk.DeleteUntilCut();
  return disk.Check() + disk.store->Verify();
}

TEST(UpkeepCutTest, EveryLiveValueBeforeTheCutIsCopied) {
  EXPECT_EQ(CutOnce(), "");
  const MutantScope mutant(Mutant::kCutLiveValues);
  EXPECT_NE(CutOnce(), "");
}

// A snapshot reads all that it saw, however much is cut meanwhile; the space comes back when it ends.
std::string ReadThroughASnapshot() {
  CutDisk disk;
  const std::map<std::string, std::string> seen = disk.model;
  const Snapshot* const snapshot = disk.store->db->GetSnapshot();
  std::string wrong;
  for (std::size_t i = 0; i < disk.doomed.size(); ++i) {
    if (!disk.store->db->Delete({}, disk.doomed[i]).ok()) break;  // nothing can be freed while the snapshot lives
    disk.model.erase(disk.doomed[i]);
    disk.RunOneMaybe();
  }
  disk.LetItRun();
  if (CutSegments(disk) == 0) wrong = "nothing was cut";
  ReadOptions read;
  read.snapshot = snapshot;
  for (const auto& [key, value] : seen) {
    std::string found;
    const Status s = disk.store->db->Get(read, key, &found);
    if (!s.ok() || found != value) wrong = key + ": " + s.ToString();
  }
  disk.store->db->ReleaseSnapshot(snapshot);
  if (!wrong.empty()) return wrong;
  disk.LetItRun();
  if (std::string deleted = Delete(&disk, Doomed(disk, Pattern::kInOrder, 30, nullptr)); !deleted.empty()) return deleted;
  disk.LetItRun();
  if (disk.IsFull()) return "the disk stays full\n" + disk.Space();
  return disk.Check() + disk.store->Verify();
}

TEST(UpkeepCutTest, SnapshotKeepsItsValuesAfterACut) {
  EXPECT_EQ(ReadThroughASnapshot(), "");
  const MutantScope mutant(Mutant::kPunchWhilePinned);
  EXPECT_NE(ReadThroughASnapshot(), "");
}

// A power cut at any call of a cut step leaves all data, and the next Open frees the space.
std::string PowerCuts(std::uint64_t seed) {
  CutDisk disk(seed);
  Prng prng(seed);
  const Status synced = disk.store->db->SyncWAL();
  if (!synced.ok()) return synced.ToString();
  std::vector<SimImage> images;
  const std::size_t images_max = kUnderSanitizer ? 12 : 100;
  bool is_in_step = false;
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string_view(name) == "Gc:copied") is_in_step = true;
  });
  std::size_t calls = 0;
  const int hook = disk.store->fs->AddHook([&](const SimOp& op) {
    if (!is_in_step || op.phase != SimPhase::kBefore) return;
    // The most can be wrong just before the record that commits the step.
    const bool is_commit = op.kind == SimOpKind::kWrite && op.path.find("MANIFEST") != std::string_view::npos;
    if ((++calls % 10 == 0 || is_commit) && images.size() < images_max) {
      images.push_back(disk.store->fs->DrawCrash(prng));
    }
  });
  // Each delete is synced, so no image may lack an acknowledged one.
  std::size_t next = 0;
  WriteOptions sync;
  sync.sync = true;
  const std::map<std::string, std::string> all = disk.model;
  std::vector<std::size_t> deleted;  // for each image, how many deletes had been acknowledged
  while (next < disk.doomed.size() && images.size() < images_max) {
    const std::string key = disk.doomed[next];
    if (const Status s = disk.store->db->Delete(sync, key); !s.ok()) {
      FaultPoints::Instance().Set(nullptr);
      return s.ToString() + "\n" + disk.Space();
    }
    deleted.resize(images.size(), next);
    ++next;
  }
  disk.store->fs->RemoveHook(hook);
  FaultPoints::Instance().Set(nullptr);
  if (images.size() < 10) return "few calls were met: " + std::to_string(images.size());
  std::size_t cut = 0;
  for (std::size_t i = 0; i < images.size(); ++i) {
    Disk after(kThousand, false, seed);
    after.store->fs = std::make_shared<SimFileSystem>(std::move(images[i]), SimOptions());
    after.store->options.file_system = after.store->fs;
    // If the power cut undid holes and removals of files, their bytes take space again.
    after.store->fs->SetQuota(std::max(kThousand.quota, after.store->fs->probe().allocated_bytes()));
    const std::string where = "image " + std::to_string(i) + ": ";
    if (const Status opened = after.store->Open(); !opened.ok()) return where + opened.ToString();
    cut += CutSegments(after) > 0 ? 1 : 0;
    std::map<std::string, std::string> expected = all;
    for (std::size_t key = 0; key < deleted[i]; ++key) {
      expected.erase(disk.doomed[key]);
      if (after.store->Get(disk.doomed[key]) != "NotFound") return where + disk.doomed[key] + " is back";
    }
    // The delete in progress may have taken effect.
    std::size_t missing = 0;
    for (const auto& [key, value] : expected) {
      const std::string found = after.store->Get(key);
      if (found == "NotFound") ++missing;
      else if (found != value) return where + key + " is wrong: " + found.substr(0, 80);
    }
    if (missing > 1) return where + std::to_string(missing) + " keys are lost";
    if (std::string wrong = after.store->Verify(); !wrong.empty()) return where + wrong;
    after.store->MustClose();
  }
  return cut > 0 ? "" : "no image has a cut";
}

TEST(UpkeepCutTest, PowerCutsLeaveEverything) {
  for (std::uint64_t seed = 1; seed <= (kUnderSanitizer ? 1 : 2); ++seed) EXPECT_EQ(PowerCuts(seed), "") << seed;
  if (kUnderSanitizer) return;  // other builds search for the defect
  const MutantScope mutant(Mutant::kPunchBeforeCommit);
  EXPECT_NE(PowerCuts(1), "");
}

}  // namespace
}  // namespace cambium::testing::cut_test
