// Bugs that random crashes found, each as the smallest test that shows it.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "io/sim/sim_file_system.h"
#include "testing/hook_scope.h"
#include "testing/index_mode.h"
#include "testing/program/program_database.h"

namespace cambium::testing {
namespace {

std::shared_ptr<SimFileSystem> NewFs() { return std::make_shared<SimFileSystem>(); }

// Returns the image in which only sizes and names of unsynced changes have survived: files have their length, and zeros
// in place of unsynced bytes.
SimImage OnlySizes(const SimImage& image) {
  std::vector<bool> kept;
  for (const SimUnit& unit : image.Units()) kept.push_back(unit.kind != SimUnit::Kind::kSector);
  return image.CutKeeping(kept);
}

// Writes to the open database with a sync, and expects to find it after a power cut that takes all that is not synced.
void ExpectSyncedPutSurvives(ProgramDatabase* database, SimFileSystem* fs) {
  WriteOptions sync;
  sync.sync = true;
  ASSERT_TRUE((*database)->Put(sync, "a", "1").ok());
  Prng prng(1);
  const SimImage image = fs->DrawCrash(prng, DamageMix::Only(SimDamage::kAllLost));
  ProgramDatabase after({}, std::make_shared<SimFileSystem>(image), 2);
  ASSERT_TRUE(after.Open().ok());
  std::string value;
  EXPECT_TRUE(after->Get({}, "a", &value).ok());
}

// A power cut left a segment with its size but without its first record. Recovery rightly replayed nothing from it, but
// left it in the MANIFEST. The next recovery found this segment before records that were durable by then, and returned
// Corruption.
TEST(CrashRegressionTest, SegmentWithoutItsFirstRecordIsDropped) {
  const auto fs = NewFs();
  ProgramDatabase first({}, fs, 1);
  ASSERT_TRUE(first.Open().ok());
  ASSERT_TRUE(first->Put({}, "a", "1").ok());
  const auto after = std::make_shared<SimFileSystem>(OnlySizes(fs->Snapshot()));

  ProgramDatabase second({}, after, 2);
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

// A durable MANIFEST record dropped a segment, and the power was cut before the file was unlinked. Recovery took the
// file for one that the MANIFEST had lost, and Open failed.
TEST(CrashRegressionTest, FileOfADroppedSegmentMayStillExist) {
  const auto fs = NewFs();
  Config config;
  config.blob_file_size = 16u << 10;
  config.enable_blob_files = false;
  std::vector<SimImage> images;
  ProgramDatabase first(config, fs, 1);
  ASSERT_TRUE(first.Open().ok());
  const HookScope hook(fs, [&](const SimOp& op) {
    if (op.kind == SimOpKind::kUnlink && op.phase == SimPhase::kBefore) images.push_back(fs->Snapshot());
  });
  for (int i = 0; i < 400; ++i) {
    ASSERT_TRUE(first->Put({}, "key" + std::to_string(i % 10), std::string(100, 'v')).ok());
  }
  ASSERT_TRUE(first->CompactRange({}, nullptr, nullptr).ok());
  first.RunBackground(100);
  ASSERT_FALSE(images.empty());
  for (const SimImage& image : images) {
    ProgramDatabase second(config, std::make_shared<SimFileSystem>(image), 2);
    const Status opened = second.Open();
    EXPECT_TRUE(opened.ok()) << opened.ToString();
  }
}

// The process was killed between creating the directory and syncing its name. The next Open found the directory,
// created a database in it and acknowledged writes; then a power cut removed the directory.
TEST(CrashRegressionTest, ExistingDirectoryMayNotBeDurable) {
  const auto fs = NewFs();
  ASSERT_TRUE(fs->CreateDirectory(kSimDatabasePath).ok());
  ProgramDatabase first({}, fs, 1);
  ASSERT_TRUE(first.Open().ok());
  ExpectSyncedPutSurvives(&first, fs.get());
}

// The sync of the new directory's name failed, Open returned the error and was called again. No later sync could make
// that name durable.
TEST(CrashRegressionTest, DirectoryWhoseSyncFailedIsCreatedAgain) {
  const auto fs = NewFs();
  SimFault fault;
  fault.kind = SimOpKind::kSyncDirectory;
  fs->AddFault(fault);
  ProgramDatabase first({}, fs, 1);
  ASSERT_TRUE(first.Open().IsIOError());
  ASSERT_TRUE(first.Open().ok());
  ExpectSyncedPutSurvives(&first, fs.get());
}

// The sync of a file that a compaction had written failed, and the database continued as after a failed write.
TEST(CrashRegressionTest, FailedSyncOfTheIndexIsFatal) {
  const auto fs = NewFs();
  ProgramDatabase database({}, fs, 1);
  ASSERT_TRUE(database.Open().ok());
  ASSERT_TRUE(database->Put({}, "a", "1").ok());
  ASSERT_TRUE(database->Flush({}).ok());
  ASSERT_TRUE(database->Put({}, "b", "2").ok());
  if (TestsUseLsm()) {
    ASSERT_TRUE(database->Flush({}).ok());  // a tree needs none: CompactRange flushes the memtable into it
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
