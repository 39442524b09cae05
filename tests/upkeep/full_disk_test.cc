// A database recovers from a full disk by itself: by deletes alone, or when another program frees space. It also does
// so if it is opened on the full disk, and after a power cut there.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "testing/test_store.h"
#include "gc/reserve.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

constexpr std::uint64_t kKiB = 1u << 10;
constexpr std::uint64_t kMiB = 1u << 20;

// The kinds of values.
struct Kind {
  const char* name;
  std::size_t least;
  std::size_t most;
  std::uint64_t quota;
};
constexpr Kind kInline = {"inline", 100, 400, 6 * kMiB};
constexpr Kind kSeparated = {"1-64 KiB", kKiB, 64 * kKiB, 8 * kMiB};
constexpr Kind kLarge = {"256 KiB and more", 256 * kKiB, 400 * kKiB, 12 * kMiB};

enum class Way { kInOrder, kShuffled, kRange };

class Disk {
 public:
  Disk(const Kind& kind, bool delayed, std::uint64_t seed) : kind_(kind), prng_(seed) {
    SimOptions sim;
    sim.delayed_allocation = delayed;
    sim.quota_bytes = kind.quota;
    store = std::make_unique<TestStore>(sim);
    Options& options = store->options;
    options.write_buffer_size = 1 * kMiB;
    options.page_size = 4096;
    options.max_total_wal_size = 0;
    options.max_space_amplification = 1.5;
    options.min_blob_size = 512;
    options.blob_file_size = 1 * kMiB;
    options.large_value_size = 300 * kKiB;
    UseIndexOfTest(&options);
  }

  // Writes until nothing fits. Returns the bytes of values that were written.
  std::uint64_t Fill() {
    std::uint64_t bytes = 0;
    for (int refused = 0; refused < 3;) {
      const std::string key = "key" + std::to_string(next_++);
      const std::string value = prng_.Bytes(kind_.least + prng_.Uniform(kind_.most - kind_.least));
      const Status s = store->db->Put({}, key, value);
      if (s.ok()) {
        bytes += value.size();
        refused = 0;
        model[key] = value;
      } else {
        EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
        if (s.severity() == Status::Severity::kFatal) ADD_FAILURE() << s.ToString();
        ++refused;
        store->executor->RunAll();  // the background always gets some turns
      }
      RunOneMaybe();
    }
    return bytes;
  }
  // Deletes all keys, one by one or by one range. Returns the first error, or OK.
  Status DeleteAll(Way way) {
    if (way == Way::kRange) {
      const Status s = store->db->DeleteRange({}, store->db->DefaultColumnFamily(), "key", "kez");
      if (s.ok()) model.clear();
      return s;
    }
    std::vector<std::string> keys;
    for (const auto& [key, value] : model) keys.push_back(key);
    if (way == Way::kShuffled) {
      for (std::size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[prng_.Uniform(i)]);
    }
    for (const std::string& key : keys) {
      const Status s = store->db->Delete({}, key);
      if (!s.ok()) return s;
      model.erase(key);
      RunOneMaybe();
    }
    return Status::OK();
  }
  // Runs the background for some seconds without calls.
  void LetItRun() {
    for (int second = 0; second < 20; ++second) {
      store->clock->Advance(1'000'000);
      store->executor->LetTimePass();
      store->executor->RunAll();
    }
  }
  void RunOneMaybe() {
    if (prng_.OneIn(8) && store->executor->pending() > 0) store->executor->RunOneInstead();
  }
  // Returns "" if the data equals the acknowledged writes.
  [[nodiscard]] std::string Check() {
    for (const auto& [key, value] : model) {
      if (store->Get(key) != value) return key + " is wrong";
    }
    const std::unique_ptr<Iterator> it(store->db->NewIterator({}));
    std::size_t count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++count;
    if (!it->status().ok()) return it->status().ToString();
    return count == model.size() ? "" : std::to_string(count) + " keys instead of " + std::to_string(model.size());
  }
  [[nodiscard]] std::string Space() const {
    std::string figures;
    store->db->GetProperty("cambium.space", &figures);
    return figures;
  }
  [[nodiscard]] bool IsFull() const { return Space().find("is_disk_full: 1") != std::string::npos; }

  std::unique_ptr<TestStore> store;
  std::map<std::string, std::string> model;

 private:
  const Kind kind_;
  Prng prng_;
  std::uint64_t next_ = 0;
};

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
  const std::uint64_t seed = SeedFromEnvironment(11);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  EXPECT_EQ(FillAndDelete(kind, delayed, way, kUnderSanitizer ? 5 : 100, seed), "");
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
  for (std::uint64_t seed = 1; seed <= (kUnderSanitizer ? 2 : 8); ++seed) {
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

// Inline values come back only with files of the index, and a sweep or compaction may have to write more than the
// reserve before it frees one. Then deletes fail, nothing waits, nothing is lost, and with some more space everything
// continues.
TEST(FullDiskTest, InlineValuesMayNeedMoreThanTheReserve) {
  for (const Way way : {Way::kInOrder, Way::kShuffled}) {
    Disk disk(kInline, false, 21);
    disk.store->MustOpen();
    disk.Fill();
    ASSERT_EQ(disk.Check(), "");
    const std::size_t filled = disk.model.size();
    const Status s = disk.DeleteAll(way);
    EXPECT_TRUE(s.ok() || s.IsNoSpace()) << s.ToString();
    EXPECT_NE(s.severity(), Status::Severity::kFatal);
    EXPECT_LT(disk.model.size(), filled);
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

// The reserve exists from the first megabyte on, has the documented size, and shrinks with the database. A small
// database has none, and a read-only Open makes none.
TEST(FullDiskTest, DestroyRemovesTheReserve) {
  Disk disk(kSeparated, false, 4);
  disk.store->fs->SetQuota(100 * kMiB);
  disk.store->MustOpen();
  disk.store->Put("a", std::string(1000, 'a'));
  disk.LetItRun();
  EXPECT_TRUE(disk.store->FilesOf(".rsv").empty());
  for (int i = 0; i < 200; ++i) disk.store->Put("key" + std::to_string(i), std::string(60'000, 'v'));
  disk.LetItRun();
  ASSERT_EQ(disk.store->FilesOf(".rsv").size(), 1u);
  FileInfo info;
  ASSERT_TRUE(disk.store->fs->GetInfo(disk.store->FilesOf(".rsv")[0], &info).ok());
  EXPECT_EQ(info.size, ReserveBytes(12 * kMiB));
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
