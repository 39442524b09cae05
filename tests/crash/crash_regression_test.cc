// Bugs that random crashes found, each as the smallest story that shows it.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "io/sim/sim_file_system.h"
#include "testing/index_mode.h"
#include "testing/test_database.h"

namespace cambium::testing {
namespace {

std::shared_ptr<SimFileSystem> NewFs() { return std::make_shared<SimFileSystem>(); }

// The image in which of everything unsynced only sizes and names have survived: files are as long as they were, and
// full of zeros.
SimImage OnlySizes(const SimImage& image) {
  std::vector<bool> kept;
  for (const SimUnit& unit : image.Units()) kept.push_back(unit.kind != SimUnit::Kind::kSector);
  return image.CutKeeping(kept);
}

// A cut left a segment with its size and without its first record. Recovery took no record of it, rightly, but left it
// in the MANIFEST; the next recovery met it again, below records that were durable by then, and called it Corruption.
TEST(CrashRegressionTest, ASegmentWithoutItsFirstRecordIsForgotten) {
  const auto fs = NewFs();
  TestDatabase first({}, fs, 1);
  ASSERT_TRUE(first.Open().ok());
  ASSERT_TRUE(first->Put({}, "a", "1").ok());
  const auto after = std::make_shared<SimFileSystem>(OnlySizes(fs->Snapshot()));

  TestDatabase second({}, after, 2);
  ASSERT_TRUE(second.Open().ok());
  WriteOptions sync;
  sync.sync = true;
  ASSERT_TRUE(second->Put(sync, "b", "2").ok());
  ASSERT_TRUE(second.Close().ok());
  const Status opened = second.Open();
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  std::string value;
  EXPECT_TRUE(second->Get({}, "a", &value).IsNotFound());
  EXPECT_TRUE(second->Get({}, "b", &value).ok());
  EXPECT_EQ(second.Verify(), "");
}

// A segment was dropped by a durable MANIFEST record, and the power went before the file was unlinked. Recovery took the
// file for one that the MANIFEST had forgotten, and refused to open.
TEST(CrashRegressionTest, ADroppedSegmentMayStillBeThere) {
  const auto fs = NewFs();
  Config config;
  config.blob_file_size = 16u << 10;
  config.enable_blob_files = false;
  std::vector<SimImage> images;
  TestDatabase first(config, fs, 1);
  ASSERT_TRUE(first.Open().ok());
  fs->AddHook([&](const SimOp& op) {
    if (op.kind == SimOpKind::kUnlink && op.phase == SimPhase::kBefore) images.push_back(fs->Snapshot());
  });
  for (int i = 0; i < 400; ++i) {
    ASSERT_TRUE(first->Put({}, "key" + std::to_string(i % 10), std::string(100, 'v')).ok());
  }
  ASSERT_TRUE(first->CompactRange({}, nullptr, nullptr).ok());
  first.RunBackground(100);
  ASSERT_FALSE(images.empty());
  for (const SimImage& image : images) {
    TestDatabase second(config, std::make_shared<SimFileSystem>(image), 2);
    const Status opened = second.Open();
    EXPECT_TRUE(opened.ok()) << opened.ToString();
  }
}

// The process was killed between making the directory and syncing its name. The next opening found a directory, made a
// database in it and acknowledged writes; a power cut took the directory with all of it.
TEST(CrashRegressionTest, ADirectoryThatIsThereMayNotBeDurable) {
  const auto fs = NewFs();
  ASSERT_TRUE(fs->CreateDirectory(kSimDatabasePath).ok());
  TestDatabase first({}, fs, 1);
  ASSERT_TRUE(first.Open().ok());
  WriteOptions sync;
  sync.sync = true;
  ASSERT_TRUE(first->Put(sync, "a", "1").ok());
  Prng prng(1);
  TestDatabase second({}, std::make_shared<SimFileSystem>(fs->DrawCrash(prng, DamageMix::Only(SimDamage::kAllLost))), 2);
  ASSERT_TRUE(second.Open().ok());
  std::string value;
  EXPECT_TRUE(second->Get({}, "a", &value).ok());
}

// The sync of the new directory's name failed, Open said so, and was called again: the name could not become durable
// any more, however often it was synced.
TEST(CrashRegressionTest, ADirectoryWhoseSyncFailedIsMadeAnew) {
  const auto fs = NewFs();
  SimFault fault;
  fault.kind = SimOpKind::kSyncDirectory;
  fs->AddFault(fault);
  TestDatabase first({}, fs, 1);
  ASSERT_TRUE(first.Open().IsIOError());
  ASSERT_TRUE(first.Open().ok());
  WriteOptions sync;
  sync.sync = true;
  ASSERT_TRUE(first->Put(sync, "a", "1").ok());
  Prng prng(1);
  TestDatabase second({}, std::make_shared<SimFileSystem>(fs->DrawCrash(prng, DamageMix::Only(SimDamage::kAllLost))), 2);
  ASSERT_TRUE(second.Open().ok());
  std::string value;
  EXPECT_TRUE(second->Get({}, "a", &value).ok());
}

// The sync of what a merge had written failed, and the database went on as after a failed write.
TEST(CrashRegressionTest, AFailedSyncOfTheIndexIsFatal) {
  const auto fs = NewFs();
  TestDatabase database({}, fs, 1);
  ASSERT_TRUE(database.Open().ok());
  ASSERT_TRUE(database->Put({}, "a", "1").ok());
  ASSERT_TRUE(database->Flush({}).ok());
  ASSERT_TRUE(database->Put({}, "b", "2").ok());
  if (TestsUseLsm()) {
    ASSERT_TRUE(database->Flush({}).ok());  // a tree takes the table straight in
  }
  SimFault fault;
  fault.matches = [](SimOpKind kind, const std::string& path) {
    return kind == SimOpKind::kSync && path.ends_with(IndexFileSuffix());
  };
  fs->AddFault(fault);
  const Status compacted = database->CompactRange({}, nullptr, nullptr);
  EXPECT_EQ(compacted.severity(), Status::Severity::kFatal) << compacted.ToString();
  EXPECT_EQ(fs->fault_hits(), 1u);
  EXPECT_EQ(database->Put({}, "c", "3").severity(), Status::Severity::kFatal);
}

}  // namespace
}  // namespace cambium::testing
