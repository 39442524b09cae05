// The log's file grows ahead of frequent syncs. Zeros after the end of the log are not a torn tail; any other bytes
// are.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testing/hook_scope.h"
#include "testing/test_store.h"
#include "io/file_header.h"
#include "testing/mutant_scope.h"
#include "vlog/record_format.h"

namespace cambium::testing::log_ahead_test {
namespace {

constexpr int kKeys = 100;
const std::string kValue(1000, 'v');

std::unique_ptr<TestStore> StoreOn(const SimImage& image) {
  auto store = std::make_unique<TestStore>(std::make_shared<SimFileSystem>(image));
  store->options.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
  return store;
}

void PutSynced(TestStore* store, int first, int last) {
  for (int i = first; i < last; ++i) store->Put("k" + std::to_string(i), kValue, true);
}

// Opens the image after a kill: its status, and how many of the first keys are there.
std::string OpenAfterAKill(const SimImage& image, int acknowledged) {
  Prng prng(3);
  const auto after = StoreOn(image.Kill(prng));
  VerifyReport report;
  Options copy = after->options;
  copy.file_system = std::make_shared<SimFileSystem>(after->fs->Snapshot());
  if (const Status s = VerifyDB(kStorePath, copy, {.deep = true}, &report); !s.ok()) return s.ToString();
  if (!report.problems.empty()) return report.problems[0];
  for (const std::string& note : report.notes) {
    if (note.find("torn") != std::string::npos) return note;
  }
  if (const Status s = after->Open(); !s.ok()) return s.ToString();
  for (int i = 0; i < acknowledged; ++i) {
    if (after->Get("k" + std::to_string(i)) != kValue) return "k" + std::to_string(i) + " is gone";
  }
  return "";
}

// Kills before and after each call, also while a segment has grown and its first record is not written.
TEST(LogAheadTest, KillAtAnyCallLeavesNoTornTail) {
  TestStore store;
  store.MustOpen();
  int growths = 0;
  int acknowledged = 0;
  std::vector<std::pair<SimImage, int>> images;
  const HookScope hook(store.fs, [&](const SimOp& op) {
    const bool is_log = op.path.ends_with(".log");
    const bool is_written = op.kind == SimOpKind::kWrite && op.phase == SimPhase::kAfter;
    const bool is_growth = is_written && op.length > 2 * kValue.size();
    if (is_log && is_growth) ++growths;
    // The simulator may write only a part, which is a real torn tail in a record, but not in the zeros ahead.
    if (is_log && (!is_written || is_growth)) images.emplace_back(store.fs->Snapshot(), acknowledged);
  });
  for (; acknowledged < kKeys; ++acknowledged) PutSynced(&store, acknowledged, acknowledged + 1);
  EXPECT_GT(growths, 4);
  for (const auto& [image, keys] : images) ASSERT_EQ(OpenAfterAKill(image, keys), "") << keys << " keys";
  store.RunUntilIdle();
  store.MustClose();
  EXPECT_EQ(store.Verify(), "");
}

// All keys are in one segment, whose file has grown ahead.
struct GrownStore : TestStore {
  GrownStore() {
    options.blob_file_size = 1u << 20;
    MustOpen();
    PutSynced(this, 0, kKeys);
    path = FilesOf(".log").front();
  }
  std::string path;
};

void ExpectAllKeys(TestStore* store) {
  for (int i = 0; i < kKeys; ++i) EXPECT_EQ(store->Get("k" + std::to_string(i)), kValue);
}

TEST(LogAheadTest, CloseReleasesUnusedSpace) {
  GrownStore store;
  const std::string& path = store.path;
  const std::size_t grown = store.Files().at(path).size();
  store.MustClose();
  const std::string closed = store.Files().at(path);
  EXPECT_LT(closed.size(), grown);
  EXPECT_NE(closed.substr(closed.size() - 8), std::string(8, '\0')) << "the end of the last value";
  store.MustOpen();
  ExpectAllKeys(&store);
}

// Bytes after the end that are not all zeros are an incomplete record.
TEST(LogAheadTest, OneByteAfterTheEndIsATornTail) {
  GrownStore store;
  const auto after = StoreOn(store.fs->Snapshot());
  ASSERT_TRUE(after->fs->tampering().FlipBit(store.path, after->Files().at(store.path).size() - 1, 0).ok());
  EXPECT_TRUE(after->Open().IsCorruption());
  after->options.wal_recovery_mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
  after->MustOpen();
  ExpectAllKeys(after.get());
}

// Hazard H30: a segment with a known end cannot end earlier, even where zeros look like an end.
Status OpenWithZerosAtAKnownEnd() {
  SimImage image;
  {
    TestStore store;
    store.MustOpen();
    PutSynced(&store, 0, kKeys);
    store.executor->RunAll();  // all but the last segment are sealed
    image = store.fs->Snapshot();
    store.fs->PowerOff();
    store.db.reset();
  }
  const auto after = StoreOn(image);
  after->options.wal_recovery_mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
  const std::vector<std::string> logs = after->FilesOf(".log");
  EXPECT_GE(logs.size(), 2u);
  const std::string first = after->Files().at(logs.front());
  const std::size_t from = first.rfind(kValue) / 8 * 8 - kRecordHeaderSize;  // offset of the last record
  EXPECT_TRUE(after->fs->tampering().Overwrite(logs.front(), from, std::string(first.size() - from, '\0')).ok());
  return after->Open();
}

TEST(LogAheadTest, ZerosBeforeAKnownEndAreDamage) {
  const Status s = OpenWithZerosAtAKnownEnd();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  const MutantScope mutant(Mutant::kZerosEndAnySegment);
  const Status without = OpenWithZerosAtAKnownEnd();
  EXPECT_TRUE(without.ok()) << without.ToString();
}

}  // namespace
}  // namespace cambium::testing::log_ahead_test
