// Versions of values after power cuts, and in copies of a database: checkpoints, backups, conversions, offline
// compactions. A salvage writes all values again, without versions.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cambium/backup_engine.h"
#include "cambium/checkpoint.h"
#include "cambium/compact_log.h"
#include "cambium/conditional_write.h"
#include "cambium/convert.h"
#include "cambium/repair.h"
#include "io/sim/sim_image.h"
#include "testing/hook_scope.h"
#include "testing/mutant_scope.h"
#include "testing/seed.h"
#include "testing/test_store.h"
#include "util/prng.h"

namespace cambium::testing::versions_copies_test {
namespace {

// "value@version", or the error.
std::string Show(DB* db, Slice key) {
  std::string value;
  SequenceNumber version = 0;
  const Status s = GetWithVersion(db, {}, nullptr, key, &value, &version);
  return s.ok() ? value.substr(0, 8) + "@" + std::to_string(version) : s.ToString();
}
std::string PutIf(DB* db, Slice key, SequenceNumber version, Slice value) {
  bool written = true;
  const Status s = PutIfUnchanged(db, {}, key, version, value, &written);
  if (!s.ok()) return s.IsTryAgain() ? "try again" : s.ToString();
  return written ? "written" : "unmet";
}

// Values of each kind. All are inline or in the log, as their names say; the family keeps versions since operation 2.
void Fill(TestStore* store) {
  store->options.blob_garbage_collection_age_cutoff = 1;
  store->MustOpen();
  store->Put("before", "inline");
  store->Put("log", std::string(100, 's'));
  store->Flush();
  EXPECT_EQ(Show(store->db.get(), "before"), "inline@2");
  store->Put("inline", "inline");
  store->Put("log later", std::string(100, 't'));
  for (int i = 0; i < 200; ++i) store->Put(NumberedKey(i % 10), std::string(300, 'x'));  // garbage
  store->Flush();
  store->Put("inline tail", "inline");
  store->Put("log tail", std::string(100, 'u'), /*sync=*/true);
}
const std::map<std::string, std::pair<std::string, SequenceNumber>>& Expected() {
  static const auto* const expected = new std::map<std::string, std::pair<std::string, SequenceNumber>>{
      {"before", {"inline", 2}},  {"log", {"ssssssss", 2}},         {"inline", {"inline", 3}},
      {"log later", {"tttttttt", 4}}, {"inline tail", {"inline", 205}}, {"log tail", {"uuuuuuuu", 206}}};
  return *expected;
}
// Checks all versions of a copy, and writes with them.
void CheckCopy(const Options& options, const std::string& path) {
  std::unique_ptr<DB> copy;
  const Status opened = DB::Open(options, path, &copy);
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  for (const auto& [key, value] : Expected()) {
    EXPECT_EQ(Show(copy.get(), key), value.first + "@" + std::to_string(value.second)) << path << " " << key;
  }
  ASSERT_TRUE(copy->Flush({}).ok());
  for (const auto& [key, value] : Expected()) {
    EXPECT_EQ(PutIf(copy.get(), key, value.second, "new"), "written") << path << " " << key;
    EXPECT_EQ(PutIf(copy.get(), key, value.second, "newer"), "unmet") << path << " " << key;
  }
  ASSERT_TRUE(copy->Flush({}).ok());
  for (const auto& [key, value] : Expected()) {
    EXPECT_EQ(PutIf(copy.get(), key, value.second, "newer"), "unmet") << path << " " << key;
  }
  ASSERT_TRUE(copy->Close().ok());
  VerifyReport report;
  const Status verified = VerifyDB(path, options, {.deep = true}, &report);
  EXPECT_TRUE(verified.ok()) << verified.ToString();
}

TEST(VersionsCopiesTest, CheckpointsAndBackupsHaveThem) {
  TestStore store;
  Fill(&store);
  std::unique_ptr<Checkpoint> checkpoint;
  ASSERT_TRUE(Checkpoint::Create(store.db.get(), &checkpoint).ok());
  const Status copied = checkpoint->CreateCheckpoint("/checkpoint", std::uint64_t{1} << 40);
  ASSERT_TRUE(copied.ok()) << copied.ToString();
  BackupEngineOptions backups("/backups");
  backups.file_system = store.fs;
  std::unique_ptr<BackupEngine> engine;
  ASSERT_TRUE(BackupEngine::Open(backups, &engine).ok());
  const Status backed_up = engine->CreateNewBackup(store.db.get());
  ASSERT_TRUE(backed_up.ok()) << backed_up.ToString();
  const Status restored = engine->RestoreDBFromLatestBackup("/restored");
  ASSERT_TRUE(restored.ok()) << restored.ToString();
  CheckCopy(store.options, "/checkpoint");
  CheckCopy(store.options, "/restored");
  store.MustClose();
  CheckCopy(store.options, kStorePath);
}

TEST(VersionsCopiesTest, AConversionKeepsThem) {
  TestStore store;
  Fill(&store);
  store.MustClose();
  Options other = store.options;
  const IndexKind to = store.options.index_type == IndexKind::kLsm ? IndexKind::kBTree : IndexKind::kLsm;
  ConvertReport report;
  const Status s = ConvertIndex(store.options, kStorePath, {{kDefaultColumnFamilyName, store.options}}, to, "/converted",
                                {}, &report);
  ASSERT_TRUE(s.ok()) << s.ToString();
  other.index_type = to;
  CheckCopy(other, "/converted");
}

TEST(VersionsCopiesTest, AnOfflineCompactionThatMovesValuesIntoTheIndexKeepsThem) {
  TestStore store;
  store.options.page_size = 1024;
  UseIndexOfTest(&store.options);
  Fill(&store);
  store.MustClose();
  CompactLogOptions how;
  how.min_blob_size = 200;
  CompactLogReport report;
  const Status s = CompactLog(kStorePath, store.options, how, &report);
  ASSERT_TRUE(s.ok()) << s.ToString();
  store.options.min_blob_size = 200;
  CheckCopy(store.options, kStorePath);
}

TEST(VersionsCopiesTest, ASalvageWritesTheValuesWithoutVersions) {
  TestStore store;
  Fill(&store);
  store.MustClose();
  RepairReport report;
  const Status s =
      RepairDB(kStorePath, "/salvaged", store.options, {{kDefaultColumnFamilyName, store.options}}, {}, &report);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(report.lost, 0u);
  std::unique_ptr<DB> salvaged;
  ASSERT_TRUE(DB::Open(store.options, "/salvaged", &salvaged).ok());
  for (const auto& [key, value] : Expected()) {
    std::string found;
    ASSERT_TRUE(salvaged->Get({}, key, &found).ok()) << key;
    EXPECT_EQ(found.substr(0, 8), value.first);
    const std::string shown = Show(salvaged.get(), key);
    const auto version = static_cast<SequenceNumber>(std::stoull(shown.substr(shown.find('@') + 1)));
    EXPECT_EQ(PutIf(salvaged.get(), key, version, "new"), "written");
  }
}

// ---- Power cuts ----

// The disk after a cut. `version`: what GetWithVersion had returned for the value "old"; 0: it had not returned yet.
struct Cut {
  SimImage image;
  SequenceNumber version = 0;
  std::string call;
};

// The family begins to keep versions while it has a flushed and an unflushed value; then the values change.
std::vector<Cut> TakeCuts(Prng* prng) {
  std::vector<Cut> cuts;
  TestStore store;
  store.MustOpen();
  store.Put("k", "old");
  store.Flush();
  store.Put("other", "1", /*sync=*/true);
  SequenceNumber version = 0;
  {
    const HookScope hook(store.fs, [&](const SimOp& op) {
      if (op.phase != SimPhase::kBefore) return;
      const SimImage now = store.fs->Snapshot();
      const std::string call = "before call " + std::to_string(op.index) + " on " + std::string(op.path);
      const std::size_t units = now.Units().size();
      for (const bool keeps : {false, true}) {
        cuts.push_back({now.CutKeeping(std::vector<bool>(units, keeps)), version, call});
      }
      cuts.push_back({now.DrawCrash(*prng), version, call});
    });
    std::string value;
    EXPECT_TRUE(GetWithVersion(store.db.get(), {}, nullptr, "k", &value, &version).ok());
    EXPECT_EQ(version, 1u);
    store.Flush();
    store.Put("k", "new", /*sync=*/true);
    store.Flush();
    store.Compact();
    store.MustClose();
  }
  return cuts;
}

// Opens what a cut has left. Returns what is wrong, or "".
std::string CheckCut(const Cut& cut) {
  TestStore store(std::make_shared<SimFileSystem>(cut.image));
  if (const Status opened = store.Open(); !opened.ok()) return opened.ToString();
  if (std::string wrong = store.Verify(); !wrong.empty()) return wrong;
  const std::string value = store.Get("k");
  const SequenceNumber expected = cut.version == 0 ? 1 : cut.version;
  std::string outcome = PutIf(store.db.get(), "k", expected, "mine");
  if (outcome == "try again" && cut.version == 0) {  // the family does not keep versions
    if (Show(store.db.get(), "k") != value + "@1") return "a version of " + Show(store.db.get(), "k");
    outcome = PutIf(store.db.get(), "k", 1, "mine");
  }
  const std::string wanted = value == "old" ? "written" : "unmet";
  if (outcome != wanted) return outcome + " with value " + value;
  store.Flush();
  store.Reopen();
  return store.Get("k") == (value == "old" ? "mine" : "new") ? "" : "then " + store.Get("k");
}

TEST(VersionsCopiesTest, ACutNeverMakesAnOlderVersionThatOfANewerValue) {
  const std::uint64_t seed = SeedFromEnvironment(3);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  Prng prng(seed);
  const std::vector<Cut> cuts = TakeCuts(&prng);
  EXPECT_GT(cuts.size(), 60u);
  for (const Cut& cut : cuts) {
    EXPECT_EQ(CheckCut(cut), "") << cut.call;
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace cambium::testing::versions_copies_test
