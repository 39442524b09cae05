// Files, names and durability of the simulated file system: what a power cut may lose, and what it must keep.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "io/sim/sim_file_system.h"
#include "io/sim_test_util.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium {
namespace {

// Returns the different contents that a file has after 300 cuts of one image.
std::set<std::string> Outcomes(const SimImage& image, const std::string& path, const DamageMix& mix = {}) {
  std::set<std::string> outcomes;
  Prng prng(7);
  for (int i = 0; i < 300; ++i) outcomes.insert(ContentsIn(image.DrawCrash(prng, mix), path));
  return outcomes;
}

TEST(SimDiskTest, SyncedBytesAndNamesSurviveEveryCut) {
  const std::uint64_t seed = testing::SeedFromEnvironment(1);
  Prng prng(seed);
  for (int run = 0; run < 200; ++run) {
    SimFileSystem fs;
    std::string synced = prng.Bytes(1 + prng.Uniform(3000));
    const auto file = MustCreateDurable(&fs, "/a", Slice(synced));
    std::uint64_t end = synced.size();
    for (int i = 0; i < 10; ++i) {
      const std::string more = prng.Bytes(1 + prng.Uniform(2000));
      ASSERT_TRUE(file->Write(end, Slice(more)).ok());
      end += more.size();
    }
    for (int i = 0; i < 20; ++i) {
      CutReport report;
      const SimImage after = fs.DrawCrash(prng, {}, &report);
      const std::string bytes = ContentsIn(after, "/a");
      ASSERT_GE(bytes.size(), synced.size()) << report.ToString();
      ASSERT_EQ(bytes.substr(0, synced.size()), synced) << report.ToString();
      ASSERT_LE(bytes.size(), end);
    }
  }
}

TEST(SimDiskTest, UnsyncedBytesMayBeLostKeptTornOrGarbage) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", Slice(std::string(2048, 'a')));
  ASSERT_TRUE(file->Write(0, Slice(std::string(2048, 'b'))).ok());
  ASSERT_TRUE(file->Write(0, Slice(std::string(2048, 'c'))).ok());
  const std::set<std::string> outcomes = Outcomes(fs.Snapshot(), "/a");
  EXPECT_TRUE(outcomes.contains(std::string(2048, 'a')));
  EXPECT_TRUE(outcomes.contains(std::string(2048, 'c')));
  bool between = false;
  bool holes = false;  // new, then old, then new
  bool torn = false;   // two versions inside a sector
  bool garbage = false;
  for (const std::string& bytes : outcomes) {
    std::string sectors;
    for (std::size_t s = 0; s < 4; ++s) {
      const std::string sector = bytes.substr(s * 512, 512);
      const std::set<char> values(sector.begin(), sector.end());
      sectors += values.size() == 1 ? sector[0] : '?';
      if (values.size() == 2) torn = true;
      if (values.size() > 3) garbage = true;
    }
    holes = holes || sectors.find("cac") != std::string::npos || sectors.find("caac") != std::string::npos;
  }
  DamageMix whole = DamageMix::Only(SimDamage::kUniform);
  whole.torn_per_mille = whole.garbage_per_mille = 0;
  for (const std::string& bytes : Outcomes(fs.Snapshot(), "/a", whole)) {
    between = between || bytes.find('b') != std::string::npos;
  }
  EXPECT_TRUE(between && holes && torn && garbage) << between << holes << torn << garbage;
}

TEST(SimDiskTest, SizeMayGrowWithoutData) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", "x");
  ASSERT_TRUE(file->Write(1, Slice(std::string(5000, 'y'))).ok());
  std::set<std::size_t> sizes;
  bool zeros = false;
  for (const std::string& bytes : Outcomes(fs.Snapshot(), "/a")) {
    sizes.insert(bytes.size());
    zeros = zeros || (bytes.size() == 5001 && bytes.substr(512, 512) == std::string(512, '\0'));
  }
  EXPECT_EQ(sizes, (std::set<std::size_t>{1, 5001}));
  EXPECT_TRUE(zeros);
}

TEST(SimDiskTest, TruncationMayBeUndone) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", Slice(std::string(1000, 'a')));
  ASSERT_TRUE(file->Truncate(10).ok());
  ASSERT_TRUE(file->Write(10, Slice("bb")).ok());
  const std::set<std::string> outcomes = Outcomes(fs.Snapshot(), "/a");
  EXPECT_TRUE(outcomes.contains(std::string(1000, 'a')));
  EXPECT_TRUE(outcomes.contains(std::string(10, 'a') + "bb"));
  EXPECT_TRUE(outcomes.contains(std::string(10, 'a') + "bb" + std::string(988, '\0')));
  ASSERT_TRUE(file->SyncData().ok());
  EXPECT_EQ(Outcomes(fs.Snapshot(), "/a"), (std::set<std::string>{std::string(10, 'a') + "bb"}));
}

TEST(SimDiskTest, NewNameNeedsDirectorySync) {
  SimFileSystem fs;
  const auto file = MustOpen(&fs, "/a", OpenMode::kCreateNew);
  ASSERT_TRUE(file->Write(0, "abc").ok());
  ASSERT_TRUE(file->SyncData().ok());
  EXPECT_FALSE(fs.probe().IsNameDurable("/a"));
  EXPECT_TRUE(fs.probe().IsDataDurable("/a", 3));
  Prng prng(1);
  EXPECT_FALSE(ExistsIn(fs.DrawCrash(prng, DamageMix::Only(SimDamage::kAllLost)), "/a"));
  EXPECT_EQ(Outcomes(fs.Snapshot(), "/a").size(), 2u);  // gone, or whole
  ASSERT_TRUE(fs.SyncDirectory("/").ok());
  EXPECT_TRUE(fs.probe().IsFullyDurable("/a", 3));
  EXPECT_EQ(Outcomes(fs.Snapshot(), "/a"), (std::set<std::string>{"abc"}));
}

TEST(SimDiskTest, Ext4FileSyncCommitsTheName) {
  SimOptions options;
  options.names = SimNames::kExt4;
  SimFileSystem fs(options);
  const auto file = MustOpen(&fs, "/a", OpenMode::kCreateNew);
  ASSERT_TRUE(file->Write(0, "abc").ok());
  EXPECT_FALSE(fs.probe().IsNameDurable("/a"));
  ASSERT_TRUE(file->SyncData().ok());
  EXPECT_TRUE(fs.probe().IsNameDurable("/a"));
  EXPECT_EQ(Outcomes(fs.Snapshot(), "/a"), (std::set<std::string>{"abc"}));
}

TEST(SimDiskTest, UnlinkedFileMayReturnUntilDirectorySync) {
  SimFileSystem fs;
  MustCreateDurable(&fs, "/a", "abc").reset();
  ASSERT_TRUE(fs.Unlink("/a").ok());
  EXPECT_EQ(fs.probe().InodeOf("/a"), 0u);
  Prng prng(1);
  EXPECT_EQ(ContentsIn(fs.DrawCrash(prng, DamageMix::Only(SimDamage::kAllLost)), "/a"), "abc");
  EXPECT_FALSE(ExistsIn(fs.DrawCrash(prng, DamageMix::Only(SimDamage::kAllKept)), "/a"));
  ASSERT_TRUE(fs.SyncDirectory("/").ok());
  EXPECT_FALSE(ExistsIn(fs.DrawCrash(prng, DamageMix::Only(SimDamage::kAllLost)), "/a"));
}

TEST(SimDiskTest, RenameIsAtomic) {
  SimFileSystem fs;
  MustCreateDurable(&fs, "/a", "new").reset();
  MustCreateDurable(&fs, "/b", "old").reset();
  ASSERT_TRUE(fs.Rename("/a", "/b").ok());
  std::set<std::pair<bool, std::string>> outcomes;
  Prng prng(1);
  for (int i = 0; i < 100; ++i) {
    const SimImage after = fs.DrawCrash(prng);
    outcomes.emplace(ExistsIn(after, "/a"), ContentsIn(after, "/b"));
  }
  EXPECT_EQ(outcomes, (std::set<std::pair<bool, std::string>>{{true, "old"}, {false, "new"}}));
  ASSERT_TRUE(fs.SyncDirectory("/").ok());
  EXPECT_EQ(ContentsIn(fs.DrawCrash(prng, DamageMix::Only(SimDamage::kAllLost)), "/b"), "new");
}

TEST(SimDiskTest, RenameAcrossDirectoriesMayLeaveBothNamesButNeverNone) {
  SimFileSystem fs;
  ASSERT_TRUE(fs.CreateDirectory("/d").ok());
  MustCreateDurable(&fs, "/a", "abc").reset();
  ASSERT_TRUE(fs.Rename("/a", "/d/b").ok());
  std::set<std::pair<bool, bool>> outcomes;
  Prng prng(1);
  for (int i = 0; i < 200; ++i) {
    const SimImage after = fs.DrawCrash(prng);
    outcomes.emplace(ExistsIn(after, "/a"), ExistsIn(after, "/d/b"));
  }
  EXPECT_EQ(outcomes, (std::set<std::pair<bool, bool>>{{true, false}, {true, true}, {false, true}}));
}

TEST(SimDiskTest, OrderedNamesKeepAPrefixPosixNamesAnySubset) {
  for (const SimNames rule : {SimNames::kPosix, SimNames::kOrdered, SimNames::kExt4}) {
    SimOptions options;
    options.names = rule;
    SimFileSystem fs(options);
    for (const char* name : {"/1", "/2", "/3"}) MustOpen(&fs, name, OpenMode::kCreateNew).reset();
    std::set<std::string> outcomes;
    Prng prng(3);
    for (int i = 0; i < 400; ++i) {
      const SimImage after = fs.DrawCrash(prng);
      std::string names;
      for (const char* name : {"/1", "/2", "/3"}) names += ExistsIn(after, name) ? name[1] : '-';
      outcomes.insert(names);
    }
    if (rule == SimNames::kPosix) {
      EXPECT_EQ(outcomes.size(), 8u);
    } else {
      EXPECT_EQ(outcomes, (std::set<std::string>{"---", "1--", "12-", "123"}));
    }
  }
}

TEST(SimDiskTest, SyncDoesNotCoverWritesDuringIt) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", "");
  ASSERT_TRUE(file->Write(0, "before").ok());
  const int hook = fs.AddHook([&](const SimOp& op) {
    if (op.kind == SimOpKind::kSync && op.phase == SimPhase::kInside) {
      ASSERT_TRUE(file->Write(6, "during").ok());
    }
  });
  ASSERT_TRUE(file->SyncData().ok());
  fs.RemoveHook(hook);
  EXPECT_TRUE(fs.probe().IsDataDurable("/a", 6));
  EXPECT_FALSE(fs.probe().IsDataDurable("/a", 7));
  Prng prng(1);
  EXPECT_EQ(ContentsIn(fs.DrawCrash(prng, DamageMix::Only(SimDamage::kAllLost)), "/a"), "before");
}

TEST(SimDiskTest, KillKeepsTheCacheThatALaterCutMayLose) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", "abc");
  ASSERT_TRUE(file->Write(3, "def").ok());
  MustOpen(&fs, "/new", OpenMode::kCreateNew).reset();
  Prng prng(1);
  const SimImage killed = fs.KillImage(prng);
  SimFileSystem next(killed);
  std::string bytes;
  ASSERT_TRUE(next.probe().ReadContents("/a", &bytes).ok());
  EXPECT_EQ(bytes, "abcdef");
  EXPECT_NE(next.probe().InodeOf("/new"), 0u);
  EXPECT_TRUE(next.probe().HasUnsyncedData("/a"));
  const SimImage cut = next.DrawCrash(prng, DamageMix::Only(SimDamage::kAllLost));
  EXPECT_EQ(ContentsIn(cut, "/a"), "abc");
  EXPECT_FALSE(ExistsIn(cut, "/new"));
  // The next process can make it durable with its own handle.
  ASSERT_TRUE(MustOpen(&next, "/a", OpenMode::kReadWrite)->SyncData().ok());
  EXPECT_EQ(ContentsIn(next.DrawCrash(prng, DamageMix::Only(SimDamage::kAllLost)), "/a"), "abcdef");
}

TEST(SimDiskTest, KillTearsAWriteInFlightAtPageBoundaries) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", "");
  SimImage during;
  const int hook = fs.AddHook([&](const SimOp& op) {
    if (op.phase == SimPhase::kBefore) during = fs.Snapshot();
  });
  ASSERT_TRUE(file->Write(1000, Slice(std::string(12000, 'x'))).ok());
  fs.RemoveHook(hook);
  std::set<std::size_t> sizes;
  Prng prng(1);
  for (int i = 0; i < 100; ++i) sizes.insert(ContentsIn(during.Kill(prng), "/a").size());
  EXPECT_EQ(sizes, (std::set<std::size_t>{0, 4096, 8192, 12288, 13000}));
}

TEST(SimDiskTest, SameSeedDrawsTheSameImages) {
  const auto run = [](std::uint64_t seed) {
    SimFileSystem fs;
    Prng prng(seed);
    std::string all;
    const auto file = MustCreateDurable(&fs, "/a", Slice(prng.Bytes(5000)));
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(file->Write(prng.Uniform(9000), Slice(prng.Bytes(1 + prng.Uniform(1000)))).ok());
      all += ContentsIn(fs.DrawCrash(prng), "/a");
    }
    return all;
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

TEST(SimDiskTest, ImagesAreIndependent) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", Slice(std::string(10000, 'a')));
  const SimImage image = fs.Snapshot();
  SimFileSystem first(image);
  SimFileSystem second(image);
  const auto in_first = MustOpen(&first, "/a", OpenMode::kReadWrite);
  ASSERT_TRUE(in_first->Write(100, "1111").ok());
  ASSERT_TRUE(first.Unlink("/a").ok());
  ASSERT_TRUE(first.SyncDirectory("/").ok());
  ASSERT_TRUE(second.tampering().FlipBit("/a", 5, 0).ok());
  ASSERT_TRUE(file->Write(200, "2222").ok());
  EXPECT_EQ(ContentsIn(image, "/a"), std::string(10000, 'a'));
  std::string bytes;
  ASSERT_TRUE(second.probe().ReadContents("/a", &bytes).ok());
  EXPECT_EQ(bytes.substr(0, 8), "aaaaa`aa");
  EXPECT_EQ(bytes.substr(100, 200), std::string(200, 'a'));
  char out[4];
  std::size_t read = 0;
  ASSERT_TRUE(in_first->Read(100, 4, out, &read).ok());
  EXPECT_EQ(std::string(out, read), "1111");
}

// Keeps every subset of the units of a cut, as an exhaustive test would do.
TEST(SimDiskTest, UnitsCanBeKeptAndLostOneByOne) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", Slice(std::string(1024, 'a')));
  ASSERT_TRUE(file->Write(0, Slice(std::string(1536, 'b'))).ok());
  MustOpen(&fs, "/new", OpenMode::kCreateNew).reset();
  const SimImage image = fs.Snapshot();
  const std::vector<SimUnit> units = image.Units();
  ASSERT_EQ(units.size(), 5u);  // three sectors, one size, one name
  std::set<std::string> outcomes;
  for (unsigned mask = 0; mask < 32; ++mask) {
    std::vector<bool> kept;
    for (unsigned u = 0; u < 5; ++u) kept.push_back((mask >> u & 1) != 0);
    const SimImage after = image.CutKeeping(kept);
    outcomes.insert(ContentsIn(after, "/a") + (ExistsIn(after, "/new") ? "+" : "-"));
  }
  EXPECT_EQ(outcomes.size(), 2u * (4 * 2 + 4));  // without the new size the third sector is not visible
}

}  // namespace
}  // namespace cambium
