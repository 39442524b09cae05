// A database recovers from a full disk by itself: by deletes alone, or when another program frees space. It also does
// so if it is opened on the full disk, and after a power cut there.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "gc/reserve.h"
#include "upkeep/space/full_disk.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"

namespace cambium::testing {
namespace {

// Returns "" or what went wrong, and in which round.
std::string FillAndDelete(const Kind& kind, bool delayed, Way way, int rounds, std::uint64_t seed) {
  Disk disk(kind, delayed, seed);
  disk.store->MustOpen();
  std::uint64_t first = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::string where = "round " + std::to_string(round) + ": ";
    const std::uint64_t bytes = disk.Fill();
    if (round == 0) first = bytes;
    if (bytes < kind.quota / 4 || bytes < first * 3 / 4) {
      return where + std::to_string(bytes) + " bytes fit, and " + std::to_string(first) + " in the first\n" + disk.Space();
    }
    if (std::string wrong = disk.Check(); !wrong.empty()) return where + wrong;
    if (const Status deleted = disk.DeleteAll(way); !deleted.ok()) {
      return where + "with " + std::to_string(disk.model.size()) + " keys left a delete got " + deleted.ToString() +
             "\n" + disk.Space();
    }
    disk.LetItRun();
    if (disk.IsFull()) return where + "the disk stays full\n" + disk.Space();
    if (disk.store->fs->probe().allocated_bytes() > kind.quota / 4) {
      return where + std::to_string(disk.store->fs->probe().allocated_bytes()) + " bytes are left of nothing\n" +
             disk.Space();
    }
  }
  disk.store->Reopen();
  return disk.Check() + disk.store->Verify();
}

class FullDiskRoundsTest : public ::testing::TestWithParam<std::tuple<Kind, bool, Way>> {};

TEST_P(FullDiskRoundsTest, DeletingEverythingReturnsEverything) {
  const auto [kind, delayed, way] = GetParam();
  const std::uint64_t first = SeedFromEnvironment(11);
  for (std::uint64_t seed = first; seed < first + ScaleFromEnvironment(); ++seed) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
    EXPECT_EQ(FillAndDelete(kind, delayed, way, kUnderSanitizer ? 5 : 100, seed), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Separated, FullDiskRoundsTest,
                         ::testing::Combine(::testing::Values(kSeparated), ::testing::Bool(),
                                            ::testing::Values(Way::kInOrder, Way::kShuffled)));
INSTANTIATE_TEST_SUITE_P(Large, FullDiskRoundsTest,
                         ::testing::Combine(::testing::Values(kLarge), ::testing::Bool(),
                                            ::testing::Values(Way::kInOrder, Way::kShuffled)));

// Each rule of the reserve is necessary: without it deletes fail, or the space does not come back.
TEST(FullDiskTest, DeletesFailWithoutTheReserve) {
  // Small ones, so that all deletes together take more space than is left without the reserve.
  constexpr Kind kSmall = {"1-8 KiB", kKiB, 8 * kKiB, 8 * kMiB};
  const auto some_rounds = [&] { return FillAndDelete(kSmall, false, Way::kShuffled, 6, 5); };
  EXPECT_EQ(some_rounds(), "");
  {
    const MutantScope mutant(Mutant::kKeepReserveOnFullDisk);
    EXPECT_NE(some_rounds(), "");
  }
  const MutantScope mutant(Mutant::kPutsUseReserve);
  EXPECT_NE(some_rounds(), "");
}

// An overwrite fails like any put, and the old value stays.
TEST(FullDiskTest, OverwritesFailUntilDeletesFreeSpace) {
  Disk disk(kSeparated, false, 3);
  disk.store->MustOpen();
  disk.Fill();
  ASSERT_TRUE(disk.IsFull()) << disk.Space();
  int refused = 0;
  for (const auto& [key, value] : std::map<std::string, std::string>(disk.model)) {
    const Status s = disk.store->db->Put({}, key, std::string(20'000, 'o'));
    if (s.ok()) disk.model[key] = std::string(20'000, 'o');
    refused += s.IsNoSpace() ? 1 : 0;
  }
  EXPECT_GT(refused, 100);
  EXPECT_EQ(disk.Check(), "");
  WriteBatch mixed;
  ASSERT_TRUE(mixed.Delete(disk.model.begin()->first).ok());
  ASSERT_TRUE(mixed.Put("new", std::string(1000, 'n')).ok());
  EXPECT_TRUE(disk.store->db->Write({}, &mixed).IsNoSpace()) << "it grows the database";
  int deleted = 0;
  while (disk.model.size() > 10) {
    ASSERT_TRUE(disk.store->db->Delete({}, disk.model.begin()->first).ok());
    disk.model.erase(disk.model.begin());
    ++deleted;
  }
  EXPECT_GT(deleted, 100);
  disk.LetItRun();
  EXPECT_FALSE(disk.IsFull()) << disk.Space();
  for (const auto& [key, value] : std::map<std::string, std::string>(disk.model)) {
    disk.store->Put(key, disk.model[key] = std::string(30'000, 'p'));
  }
  EXPECT_EQ(disk.Check(), "");
  disk.store->Reopen();
  EXPECT_EQ(disk.Check(), "");
}

// The disk has no free block, and another program has taken the space of the released reserve. After a Close or a power
// cut the database opens, can be read, and takes some deletes. Once it has its own space back, it takes all deletes.
std::string OpenOnFullDisk(bool cut, bool delayed) {
  for (std::uint64_t seed = 1; seed <= (kUnderSanitizer ? 2 : 8) * ScaleFromEnvironment(); ++seed) {
    Disk disk(kSeparated, delayed, seed);
    disk.store->MustOpen();
    disk.Fill();
    disk.LetItRun();
    for (std::uint64_t i = 0; i < 40 * (seed - 1); ++i) {  // the state lasts for a while
      if (disk.model.size() < 40) break;
      if (!disk.store->db->Delete({}, disk.model.begin()->first).ok()) return "refused before";
      disk.model.erase(disk.model.begin());
    }
    const Status synced = disk.store->db->SyncWAL();
    if (!synced.ok()) return synced.ToString();
    Disk after(kSeparated, delayed, seed);
    if (cut) {
      Prng prng(seed);
      SimOptions sim;
      sim.delayed_allocation = delayed;
      after.store->fs = std::make_shared<SimFileSystem>(disk.store->fs->DrawCrash(prng), sim);
      after.store->options.file_system = after.store->fs;
      disk.store->fs->PowerOff();
      static_cast<void>(disk.store->db->Close());
      disk.store->db.reset();
    } else {
      static_cast<void>(disk.store->db->Close());
      disk.store->db.reset();
      after.store->fs = disk.store->fs;
      after.store->options.file_system = after.store->fs;
    }
    after.store->fs->SetQuota(after.store->fs->probe().allocated_bytes());  // another program takes the rest
    if (const Status opened = after.store->Open(); !opened.ok()) return "open: " + opened.ToString();
    after.model = disk.model;
    for (int i = 0; i < 20; ++i) {
      if (!after.store->db->Delete({}, after.model.begin()->first).ok()) return "it takes no deletes\n" + after.Space();
      after.model.erase(after.model.begin());
    }
    if (std::string wrong = after.Check(); !wrong.empty()) return wrong;
    after.store->fs->SetQuota(kSeparated.quota);
    if (const Status deleted = after.DeleteAll(Way::kShuffled); !deleted.ok()) {
      return "with " + std::to_string(after.model.size()) + " keys left: " + deleted.ToString() + "\n" + after.Space();
    }
    after.LetItRun();
    if (after.store->fs->probe().allocated_bytes() > kSeparated.quota / 4)
      return "nothing comes back\n" + after.Space();
    if (std::string wrong = after.store->Verify(); !wrong.empty()) return wrong;
    after.store->MustClose();
  }
  return "";
}

TEST(FullDiskTest, OpenSucceedsWithoutAFreeBlock) {
  for (const bool cut : {false, true}) {
    for (const bool delayed : {false, true}) EXPECT_EQ(OpenOnFullDisk(cut, delayed), "") << cut << delayed;
  }
  const MutantScope scope(Mutant::kOpenKeepsReserve);
  EXPECT_NE(OpenOnFullDisk(false, false), "");
}

// All inline values can be deleted on a full disk, and with some more space everything continues.
TEST(FullDiskTest, InlineValuesCanBeDeleted) {
  for (const Way way : {Way::kInOrder, Way::kShuffled}) {
    Disk disk(kInline, false, 21);
    disk.store->MustOpen();
    disk.Fill();
    ASSERT_EQ(disk.Check(), "");
    const Status s = disk.DeleteAll(way);
    EXPECT_TRUE(s.ok()) << s.ToString();
    disk.LetItRun();
    ASSERT_EQ(disk.Check(), "");
    disk.store->fs->SetQuota(3 * kInline.quota);
    disk.LetItRun();
    EXPECT_FALSE(disk.IsFull()) << disk.Space();
    ASSERT_TRUE(disk.DeleteAll(way).ok());
    disk.LetItRun();
    EXPECT_LT(disk.store->fs->probe().allocated_bytes(), kInline.quota / 4) << disk.Space();
    disk.store->Reopen();
    EXPECT_EQ(disk.Check() + disk.store->Verify(), "");
  }
}

// Another program takes the space of the released reserve. Errors report it, nothing waits, and everything continues
// when it frees the space.
TEST(FullDiskTest, WritesResumeWhenAnotherProgramFreesSpace) {
  Disk disk(kSeparated, false, 9);
  disk.store->MustOpen();
  disk.Fill();
  ASSERT_TRUE(disk.IsFull());
  disk.store->fs->SetQuota(disk.store->fs->probe().allocated_bytes());
  Status s;
  const std::map<std::string, std::string> before = disk.model;
  for (const auto& [key, value] : before) {
    s = disk.store->db->Delete({}, key);
    if (!s.ok()) break;
    disk.model.erase(key);
  }
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
  EXPECT_NE(s.severity(), Status::Severity::kFatal);
  EXPECT_TRUE(disk.store->db->Put({}, "new", "n").IsNoSpace());
  disk.LetItRun();
  EXPECT_EQ(disk.Check(), "");
  disk.store->fs->SetQuota(kSeparated.quota + 2 * kMiB);
  disk.LetItRun();
  EXPECT_FALSE(disk.IsFull()) << disk.Space();
  disk.store->Put("new", disk.model["new"] = "n", true);
  EXPECT_TRUE(disk.DeleteAll(Way::kInOrder).ok());
  disk.LetItRun();
  EXPECT_LT(disk.store->fs->probe().allocated_bytes(), kSeparated.quota / 4) << disk.Space();
  disk.store->Reopen();
  EXPECT_EQ(disk.Check(), "");
}

// No file can be created, although there are free blocks. All acknowledged data is there, also in OpenForReadOnly. Once
// files can be created, the database takes writes again.
TEST(FullDiskTest, AFileSystemWithoutAFreeInodeLosesNothing) {
  Disk disk(kSeparated, false, 8);
  disk.store->fs->SetQuota(100 * kMiB);
  disk.store->MustOpen();
  for (int i = 0; i < 200; ++i) disk.store->Put("old" + std::to_string(i), std::string(10'000, 'v'));
  for (int i = 0; i < 200; ++i) disk.model["old" + std::to_string(i)] = std::string(10'000, 'v');
  SimFault none;
  none.kind = SimOpKind::kCreate;
  none.sticky = true;
  none.status = Status::NoSpace("injected: no free inode");
  disk.store->fs->AddFault(none);
  disk.Fill();
  EXPECT_EQ(disk.Check(), "");
  EXPECT_TRUE(disk.store->db->Close().ok());
  EXPECT_TRUE(disk.store->Open().IsNoSpace());
  ASSERT_TRUE(DB::OpenForReadOnly(disk.store->options, kStorePath, &disk.store->db).ok());
  EXPECT_EQ(disk.Check(), "");
  disk.store->db.reset();
  disk.store->fs->ClearFaults();
  disk.store->MustOpen();
  EXPECT_EQ(disk.Check() + disk.store->Verify(), "");
  disk.LetItRun();
  EXPECT_TRUE(disk.store->db->Put({}, "new", "value").ok()) << disk.Space();
}

// A small database has no reserve. A larger one has a reserve of the documented size, keeps it in an Open, and loses it
// when the database is small again.
TEST(FullDiskTest, DestroyRemovesTheReserve) {
  Disk disk(kSeparated, false, 4);
  disk.store->fs->SetQuota(100 * kMiB);
  disk.store->MustOpen();
  disk.store->Put("a", std::string(1000, 'a'));
  disk.LetItRun();
  EXPECT_TRUE(disk.store->FilesOf(".rsv").empty());
  for (int i = 0; i < 380; ++i) disk.store->Put("key" + std::to_string(i), std::string(60'000, 'v'));
  disk.LetItRun();
  ASSERT_EQ(disk.store->FilesOf(".rsv").size(), 1u);
  FileInfo info;
  ASSERT_TRUE(disk.store->fs->GetInfo(disk.store->FilesOf(".rsv")[0], &info).ok());
  ReserveInput database;
  database.on_disk = 22 * kMiB;
  EXPECT_EQ(info.size, ReserveBytes(database));
  EXPECT_GE(info.allocated_bytes, info.size);
  EXPECT_NE(disk.Space().find("reserve: " + std::to_string(info.size)), std::string::npos) << disk.Space();
  const std::string path = disk.store->FilesOf(".rsv")[0];
  disk.store->Reopen();
  disk.LetItRun();
  EXPECT_EQ(disk.store->FilesOf(".rsv"), std::vector<std::string>{path}) << "it is taken over";
  EXPECT_EQ(disk.store->Verify(), "");
  ASSERT_TRUE(disk.store->db->DeleteRange({}, disk.store->db->DefaultColumnFamily(), "key", "kez").ok());
  disk.LetItRun();
  EXPECT_TRUE(disk.store->FilesOf(".rsv").empty()) << disk.Space();
}

}  // namespace
}  // namespace cambium::testing
