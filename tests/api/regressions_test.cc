// Bugs found by reading the code, each with the smallest test that shows it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/file_header.h"
#include "io/sim/sim_file_system.h"
#include "manifest/file_names.h"
#include "manifest/manifest_reader.h"
#include "testing/hook_scope.h"
#include "testing/index_mode.h"
#include "testing/program/program_database.h"

namespace cambium::testing::regressions_test {
namespace {

std::shared_ptr<SimFileSystem> NewFs() { return std::make_shared<SimFileSystem>(); }

WriteOptions Synced() {
  WriteOptions options;
  options.sync = true;
  return options;
}

std::vector<SimProbe::NamedFile> FilesOf(const SimFileSystem& fs, const std::string& suffix) {
  std::vector<SimProbe::NamedFile> files = fs.probe().ListFiles();
  std::erase_if(files, [&](const auto& file) { return !file.path.ends_with(suffix); });
  return files;
}

SimFault FailingWrite(const std::string& part_of_path) {
  SimFault fault;
  fault.matches = [part_of_path](SimOpKind kind, const std::string& path) {
    return kind == SimOpKind::kWrite && path.find(part_of_path) != std::string::npos;
  };
  fault.status = Status::NoSpace("injected");
  return fault;
}

// The log's file lost its end exactly between two records, below the end that Close had made durable. Nothing in the
// file looks damaged; only the MANIFEST shows it.
TEST(ApiRegressionsTest, LogCutOffBetweenRecordsIsDamage) {
  const auto fs = NewFs();
  ProgramDatabase database({}, fs, 1);
  ASSERT_TRUE(database.Open().ok());
  ASSERT_TRUE(database->Put(Synced(), "a", "1").ok());
  const SimProbe::NamedFile log = FilesOf(*fs, ".log").front();
  ASSERT_TRUE(database->Put(Synced(), "b", "2").ok());
  ASSERT_TRUE(database.Close().ok());
  const SimImage closed = fs->Snapshot();
  for (const std::uint64_t size : {log.size, std::uint64_t{kFileHeaderSize}}) {
    const auto cut = std::make_shared<SimFileSystem>(closed);
    ASSERT_TRUE(cut->tampering().Truncate(log.path, size).ok());
    ProgramDatabase again({}, cut, 2);
    EXPECT_TRUE(again.Open().IsCorruption()) << size;
  }
}

// kPointInTimeRecovery continued after damage in a sealed segment, and did not move its seal. The next Open met the
// damage again, followed by new writes: Corruption, or in the same mode the loss of synced writes.
TEST(ApiRegressionsTest, PointInTimeRecoveryIsPermanent) {
  const auto fs = NewFs();
  Config config;
  config.write_buffer_size = 1u << 20;
  config.max_total_wal_size = 1u << 20;
  config.large_value_size = 16u << 10;
  Options options;
  {
    ProgramDatabase database(config, fs, 1);
    ASSERT_TRUE(database.Open().ok());
    for (int i = 0; i < 60; ++i) {
      ASSERT_TRUE(database->Put(Synced(), "key" + std::to_string(100 + i), std::string(1000, 'v')).ok());
    }
    database.RunBackground(100);
    options = database.options();
    ASSERT_TRUE(database.Close().ok());
  }
  const std::vector<SimProbe::NamedFile> logs = FilesOf(*fs, ".log");
  ASSERT_GT(logs.size(), 3u);
  ASSERT_TRUE(fs->tampering().FlipBit(logs[1].path, logs[1].size / 2, 3).ok());

  std::unique_ptr<DB> db;
  EXPECT_TRUE(DB::Open(options, kSimDatabasePath, &db).IsCorruption());
  options.wal_recovery_mode = WALRecoveryMode::kPointInTimeRecovery;
  ASSERT_TRUE(DB::Open(options, kSimDatabasePath, &db).ok());
  const SequenceNumber point = db->GetLatestSequenceNumber();
  EXPECT_GT(point, 16u);
  EXPECT_LT(point, 32u);
  ASSERT_TRUE(db->Put(Synced(), "new", "1").ok());
  ASSERT_TRUE(db->Close().ok());

  options.wal_recovery_mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
  const Status opened = DB::Open(options, kSimDatabasePath, &db);
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  std::string value;
  EXPECT_TRUE(db->Get({}, "new", &value).ok());
  EXPECT_TRUE(db->Get({}, "key100", &value).ok());
  EXPECT_TRUE(db->Get({}, "key159", &value).IsNotFound());
  EXPECT_EQ(db->GetLatestSequenceNumber(), point + 1);
  EXPECT_EQ(VerifyImage(fs->Snapshot(), options), "");
}

// A failed flush removes its files: on a full disk each attempt would otherwise take more space.
TEST(ApiRegressionsTest, FailedFlushLeavesNoFiles) {
  const auto fs = NewFs();
  ProgramDatabase database({}, fs, 1);
  ASSERT_TRUE(database.Open().ok());
  ASSERT_TRUE(database->Put({}, "a", "1").ok());
  fs->AddFault(FailingWrite(IndexFileSuffix()));
  EXPECT_TRUE(database->Flush({}).IsNoSpace());
  database.RunBackground(100);
  EXPECT_TRUE(FilesOf(*fs, IndexFileSuffix()).empty());
  EXPECT_TRUE(database->Flush({}).ok());
}

// The commit failed, so the MANIFEST may or may not name the files: they are kept until a later commit succeeds.
TEST(ApiRegressionsTest, FilesOfAFailedCommitAreRemovedByTheNext) {
  const auto fs = NewFs();
  ProgramDatabase database({}, fs, 1);
  ASSERT_TRUE(database.Open().ok());
  ASSERT_TRUE(database->Put({}, "a", "1").ok());
  fs->AddFault(FailingWrite("MANIFEST"));
  EXPECT_TRUE(database->Flush({}).IsNoSpace());
  database.RunBackground(100);
  EXPECT_EQ(FilesOf(*fs, IndexFileSuffix()).size(), 1u);
  EXPECT_TRUE(database->Flush({}).ok());
  database.RunBackground(100);
  EXPECT_EQ(FilesOf(*fs, IndexFileSuffix()).size(), 1u);
  EXPECT_EQ(database.Verify(), "");
}

TEST(ApiRegressionsTest, FailedSegmentCreationLeavesNoFile) {
  const auto fs = NewFs();
  ProgramDatabase database({}, fs, 1);
  ASSERT_TRUE(database.Open().ok());
  fs->AddFault(FailingWrite(".log"));
  EXPECT_TRUE(database->Put({}, "a", "1").IsNoSpace());
  EXPECT_TRUE(FilesOf(*fs, ".log").empty());
  EXPECT_TRUE(database->Put({}, "a", "1").ok());
}

// A write failed, but its bytes reached the file. After Close and Open the batch was there, although its write had
// failed.
TEST(ApiRegressionsTest, FailedWriteDoesNotReappearAfterClose) {
  const auto fs = NewFs();
  ProgramDatabase database({}, fs, 1);
  ASSERT_TRUE(database.Open().ok());
  ASSERT_TRUE(database->Put({}, "a", "1").ok());
  SimFault fault = FailingWrite(".log");
  fault.short_bytes = 1u << 20;
  fs->AddFault(fault);
  ASSERT_TRUE(database->Put({}, "b", "2").IsNoSpace());
  ASSERT_TRUE(database.Close().ok());
  ASSERT_TRUE(database.Open().ok());
  std::string value;
  EXPECT_TRUE(database->Get({}, "a", &value).ok());
  EXPECT_TRUE(database->Get({}, "b", &value).IsNotFound());
  EXPECT_TRUE(database->Put({}, "c", "3").ok());
  ASSERT_TRUE(database.Close().ok());
  ASSERT_TRUE(database.Open().ok());
  EXPECT_TRUE(database->Get({}, "c", &value).ok());
  EXPECT_EQ(database.Verify(), "");
}

// A segment was rotated while the seal of the previous one was running. It stayed unsealed until the next rotation.
TEST(ApiRegressionsTest, RotationDuringASealIsSealedToo) {
  const auto fs = NewFs();
  Config config;
  config.write_buffer_size = 1u << 20;
  config.max_total_wal_size = 1u << 20;
  config.large_value_size = 16u << 10;
  ProgramDatabase database(config, fs, 1);
  ASSERT_TRUE(database.Open().ok());
  const auto rotate = [&] {
    const std::size_t before = FilesOf(*fs, ".log").size();
    while (FilesOf(*fs, ".log").size() < before + 1) {
      ASSERT_TRUE(database->Put({}, "key", std::string(4000, 'v')).ok());
    }
  };
  rotate();
  rotate();
  const std::string first = FilesOf(*fs, ".log").front().path;
  bool done = false;
  const HookScope hook(fs, [&](const SimOp& op) {
    if (done || op.kind != SimOpKind::kSync || op.phase != SimPhase::kAfter || !op.path.ends_with(first)) return;
    done = true;
    rotate();
  });
  database.RunBackground(100);
  ASSERT_TRUE(done);
  SimFileSystem copy(fs->Snapshot());
  const auto manifest = ReadManifest(copy, kSimDatabasePath);
  ASSERT_TRUE(manifest.ok());
  int open_with_records = 0;
  for (const auto& [number, info] : manifest->state.segments) {
    FileInfo file;
    ASSERT_TRUE(copy.GetInfo(FilePath(kSimDatabasePath, FileKind::kLog, number), &file).ok());
    open_with_records += !info.sealed && file.size > kFileHeaderSize ? 1 : 0;
  }
  EXPECT_LE(open_with_records, 1);
}

std::string KeyOf(int i) { return "key" + std::to_string(100000 + i); }

// One damaged page of the tree made every flush that needed it fail, until all memtables were full and all writes were
// blocked.
TEST(ApiRegressionsTest, DamagedIndexDoesNotBlockWrites) {
  const auto fs = NewFs();
  Config config;
  config.write_buffer_size = 64u << 10;
  ProgramDatabase database(config, fs, 1);
  ASSERT_TRUE(database.Open().ok());
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(database->Put({}, KeyOf(i), std::string(40, 'v')).ok());
  ASSERT_TRUE(database->Flush({}).ok());
  ASSERT_TRUE(database.Close().ok());
  const SimProbe::NamedFile index = FilesOf(*fs, IndexFileSuffix()).front();
  ASSERT_TRUE(fs->tampering().FlipBit(index.path, index.size / 2, 3).ok());
  ASSERT_TRUE(database.Open().ok());
  std::string value;
  int unreadable = 0;
  for (int i = 0; i < 300; ++i) unreadable += database->Get({}, KeyOf(i), &value).IsCorruption() ? 1 : 0;
  ASSERT_GT(unreadable, 0);
  ASSERT_LT(unreadable, 150);

  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(database->Put({}, KeyOf(i), std::to_string(round)).ok());
    const Status flushed = database->Flush({});
    ASSERT_TRUE(flushed.ok()) << flushed.ToString();
  }
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(database->Get({}, KeyOf(i), &value).ok());
    EXPECT_EQ(value, "4");
  }
  EXPECT_TRUE(database->CompactRange({}, nullptr, nullptr).IsCorruption());  // must read the page
}

// The MANIFEST record of a flush was durable; only the next record, which drops segments, could not be written. But the
// flush, and the Put that waited for it, returned the error.
TEST(ApiRegressionsTest, FlushSucceedsIfDroppingSegmentsFails) {
  const auto fs = NewFs();
  Config config;
  config.write_buffer_size = 1u << 20;
  config.max_total_wal_size = 1u << 20;
  config.large_value_size = 16u << 10;
  ProgramDatabase database(config, fs, 1);
  ASSERT_TRUE(database.Open().ok());
  while (FilesOf(*fs, ".log").size() < 4) ASSERT_TRUE(database->Put({}, "key", std::string(4000, 'v')).ok());
  database.RunBackground(100);
  SimFault fault = FailingWrite("MANIFEST");
  fault.status = Status::IOError("injected");
  fault.nth = 2;
  fs->AddFault(fault);
  const Status flushed = database->Flush({});
  EXPECT_TRUE(flushed.ok()) << flushed.ToString();
  EXPECT_EQ(fs->fault_hits(), 1u);
  EXPECT_EQ(database.Verify(), "");
  // The next flush drops them.
  ASSERT_TRUE(database->Put({}, "key", "v").ok());
  ASSERT_TRUE(database->Flush({}).ok());
  database.RunBackground(100);
  EXPECT_LE(FilesOf(*fs, ".log").size(), 2u);
  EXPECT_EQ(database.Verify(), "");
}

// Each new run made CompactRange begin again: under steady writes it never ended.
TEST(ApiRegressionsTest, CompactRangeEndsUnderSteadyWrites) {
  const auto fs = NewFs();
  Config config;
  config.write_buffer_size = 256u << 10;
  config.max_write_buffer_number = 4;
  ProgramDatabase database(config, fs, 1);
  ASSERT_TRUE(database.Open().ok());
  for (int i = 0; i < 3000; ++i) ASSERT_TRUE(database->Put({}, KeyOf(i), std::string(40, 'v')).ok());
  ASSERT_TRUE(database->CompactRange({}, nullptr, nullptr).ok());
  FlushOptions later;
  later.wait = false;
  const auto make_run = [&] {
    ASSERT_TRUE(database->Put({}, KeyOf(0), "first").ok());
    ASSERT_TRUE(database->Put({}, KeyOf(2999), "last").ok());
    ASSERT_TRUE(database->Flush(later).ok());
    database.RunBackground(1);  // a flush, even in the middle of a compaction
  };
  make_run();
  std::uint64_t runs = 0;
  ASSERT_TRUE(database->GetIntProperty("cambium.num-runs", &runs));
  ASSERT_EQ(runs, 1u);
  int runs_made = 0;
  bool makes_one = false;  // makes a segment, whose file is synced too
  const HookScope hook(fs, [&](const SimOp& op) {
    if (op.kind != SimOpKind::kSync || op.phase != SimPhase::kAfter || !op.path.ends_with(IndexFileSuffix())) return;
    if (runs_made == 20 || std::exchange(makes_one, true)) return;
    ++runs_made;
    make_run();
    makes_one = false;
  });
  EXPECT_TRUE(database->CompactRange({}, nullptr, nullptr).ok());
  EXPECT_GT(runs_made, 0);
  EXPECT_LT(runs_made, TestsUseLsm() ? 20 : 5) << "a run for each file that it writes, of which an LSM has some";
}

// The flushed part of the current segment was not verified, so damage in it was not reported. It was reported only
// after the next Open, which sealed the segment.
TEST(ApiRegressionsTest, VerifyReadsUnsealedSegments) {
  const auto fs = NewFs();
  ProgramDatabase database({}, fs, 1);
  ASSERT_TRUE(database.Open().ok());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(database->Put({}, KeyOf(i), "inline and absorbed").ok());
  ASSERT_TRUE(database->Flush({}).ok());
  ASSERT_TRUE(database->Put({}, "tail", "t").ok());
  ASSERT_TRUE(database.Close().ok());
  ASSERT_EQ(database.Verify(), "");
  for (const auto& file : fs->probe().ListFiles()) {
    std::string bytes;
    ASSERT_TRUE(fs->probe().ReadContents(file.path, &bytes).ok());
    if (!file.path.ends_with(".log") || bytes.find("absorbed") == std::string::npos) continue;
    ASSERT_TRUE(fs->tampering().FlipBit(file.path, bytes.find("absorbed"), 1).ok());
  }
  EXPECT_NE(database.Verify().find(".log:"), std::string::npos) << database.Verify();
}

// A first flush with a delete was taken for overwrites of a tree that did not exist: the law predicted 0 bytes.
TEST(ApiRegressionsTest, CostLawCountsAFirstFlushWithDeletes) {
  ProgramDatabase database({}, NewFs(), 1);
  ASSERT_TRUE(database.Open().ok());
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(database->Put({}, KeyOf(i), std::string(20, 'v')).ok());
  ASSERT_TRUE(database->Delete({}, "nobody").ok());
  ASSERT_TRUE(database->Flush({}).ok());
  std::map<std::string, std::string> figures;
  ASSERT_TRUE(database->GetMapProperty("cambium.index-stats", &figures));
  EXPECT_GT(std::stod(figures["law_bytes_per_update"]), 5) << figures["law_bytes_per_update"];
}

}  // namespace
}  // namespace cambium::testing::regressions_test
